/**
 * `sixtables-lab replay calls.jsonl --times 10`: plays a recording of a server's calls at a multiple of its rate, alone or beside a
 * second recording, and draws the load of the tablets.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Argv } from 'yargs'
import type { Lab } from '../lab.ts'
import { isPlayed } from '../replay/played-call.ts'
import { parseRecording, type Recording, RecordingError } from '../replay/read-recording.ts'
import { replay, replaySettings } from '../replay/replay.ts'
import { terminalReport } from '../report/terminal.ts'
import { runLab } from '../runner.ts'
import { askedSettings } from './asked.ts'
import { UsageError, wordsOf } from './errors.ts'
import { type Choose, outputs, seedFlag } from './flags.ts'
import { checkFolders, type Io } from './io.ts'
import { writeResults } from './run.ts'

function replayOptions(y: Argv) {
  return y
    .positional('file', { type: 'string', demandOption: true, describe: 'A recording, as sixtables record writes it' })
    .option('times', { type: 'string', describe: 'Its rate, multiplied (default 100)' })
    .option('minutes', {
      type: 'string',
      describe: 'Time at the full rate; a shorter recording is played in passes (default 20)',
    })
    .option('ramp', { type: 'boolean', describe: 'Before that, from 500 a second, half as much more every 5 minutes' })
    .option('against', { type: 'string', nargs: 1, describe: 'A second recording, drawn beside the first' })
    .option('set', { type: 'string', array: true, describe: 'name=value, as settings prints them' })
    .option('seed', seedFlag('Of all chance; the same seed prints the same'))
    .options(outputs)
    .example('$0 replay calls.jsonl', 'at a hundred times its rate, for 20 minutes of virtual time')
    .example('$0 replay calls.jsonl --times 1000 --ramp', 'ramped up by the book')
    .example('$0 replay before.jsonl --against after.jsonl', 'two recordings in one picture')
}

type ReplayFlags = Awaited<ReturnType<typeof replayOptions>['argv']>

export function replayCommand(y: Argv, io: Io, choose: Choose): Argv {
  const about = "Play a recording of a server's calls at a multiple of its rate"
  return y.command('replay <file>', about, replayOptions, (flags) => choose(() => replayFile(flags, io)))
}

/** @returns 0, because a replay has no expectations */
async function replayFile(flags: ReplayFlags, io: Io): Promise<number> {
  const { file, against, ramp = false, times, minutes, set = [], json, html, seed } = flags
  checkFolders([json, html])
  const files = against === undefined ? [file] : [file, against]
  const lab = labOf(
    namesOf(files).map((name, i) => ({ name, recording: readRecording(files[i] ?? '') })),
    ramp,
  )
  const own = [
    ...(times === undefined ? [] : [`replay.times=${times}`]),
    ...(minutes === undefined ? [] : [`load.minutes=${minutes}`]),
  ]
  const settings = askedSettings([...set, ...own], [lab])
  const onProgress = (arm: string, share: number): void => io.progress(`replay, ${arm}: ${Math.floor(share * 100)} %`)
  const result = await runLab(lab, { seed, settings, onProgress })
  io.progress('')
  const write = io.ink()
  if (json !== '-') for (const line of terminalReport(result)) write(line)
  writeResults(io, { json, html }, [result])
  return 0
}

/** A lab without expectations, with an arm for each recording. */
function labOf(recordings: readonly { readonly name: string; readonly recording: Recording }[], ramp: boolean): Lab {
  return {
    name: 'replay',
    title: recordings.map(({ name }) => name).join(' and '),
    question: 'Where does the load of these calls lie at the rate that was asked for, and what is refused?',
    predict: 'Which key range will be the hottest, and what share of the load will it have?',
    idea: 'The keys of the recorded calls decide where the load lies, at any rate. The lab replay explains it.',
    exercises: [],
    today: '',
    sources: ["The recordings; each setting's own source is printed by `sixtables-lab settings`."],
    settings: replaySettings,
    arms: recordings.map(({ name, recording }) => ({
      name,
      about: `${recording.calls.length} recorded calls`,
      run: (session) => replay(session, recording, ramp),
    })),
    expectations: [],
  }
}

/** File names without folders, or whole paths if two names are equal. */
function namesOf(files: readonly string[]): readonly string[] {
  const names = files.map((file) => basename(file).replace(/\.jsonl$/, ''))
  if (new Set(names).size === names.length) return names
  if (new Set(files).size < files.length)
    throw new UsageError(`--against names the same file, ${files[0]}; name another`)
  return files
}

/** @throws UsageError with the file, and the line of the fault */
function readRecording(file: string): Recording {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${wordsOf(error)}`)
  }
  try {
    const recording = parseRecording(text)
    if (recording.calls.some(isPlayed)) return recording
    throw new RecordingError('no call in it reads or writes entities; record while your program does')
  } catch (error) {
    if (error instanceof RecordingError) throw new UsageError(`${file}: ${error.message}`)
    throw error
  }
}
