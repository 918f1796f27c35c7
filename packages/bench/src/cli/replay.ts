/**
 * `sixtables-lab replay calls.jsonl --times 10`: plays a recording of a server's calls at a multiple of its rate, alone or beside a
 * second recording, and draws the load of the tablets.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { Lab } from '../lab.ts'
import { isPlayed } from '../replay/played-call.ts'
import { parseRecording, type Recording, RecordingError } from '../replay/read-recording.ts'
import { replay, replaySettings } from '../replay/replay.ts'
import { htmlReport } from '../report/html.ts'
import { jsonReport } from '../report/json.ts'
import { terminalReport } from '../report/terminal.ts'
import { runLab } from '../runner.ts'
import { askedSettings } from './asked.ts'
import { UsageError } from './errors.ts'
import type { Io } from './io.ts'
import { checkFolders, writeOrRefuse } from './run.ts'

export interface ReplayFlags {
  readonly file: string
  /** A second recording, to compare. */
  readonly against: string | undefined
  readonly ramp: boolean
  /** `name=value` */
  readonly set: readonly string[]
  readonly times: string | undefined
  readonly minutes: string | undefined
  readonly seed: number
  readonly json: string | undefined
  readonly html: string | undefined
}

/** @returns 0, because a replay has no expectations */
export async function replayFile(flags: ReplayFlags, io: Io): Promise<number> {
  const { file, against, ramp, json, html, seed } = flags
  checkFolders([json, html])
  const files = against === undefined ? [file] : [file, against]
  const lab = labOf(
    namesOf(files).map((name, i) => ({ name, recording: readRecording(files[i] ?? '') })),
    ramp,
  )
  const own = [
    ...(flags.times === undefined ? [] : [`replay.times=${flags.times}`]),
    ...(flags.minutes === undefined ? [] : [`load.minutes=${flags.minutes}`]),
  ]
  const settings = askedSettings([...flags.set, ...own], [lab])
  const onProgress = (arm: string, share: number): void => io.progress(`replay, ${arm}: ${Math.floor(share * 100)} %`)
  const result = await runLab(lab, { seed, settings, onProgress })
  io.progress('')
  if (json === '-') io.outRaw(jsonReport([result]))
  else {
    const write = io.ink()
    for (const line of terminalReport(result)) write(line)
    if (json !== undefined) writeOrRefuse(io, json, jsonReport([result]))
  }
  if (html !== undefined) writeOrRefuse(io, html, htmlReport([result]))
  return 0
}

interface NamedRecording {
  readonly name: string
  readonly recording: Recording
}

/** A lab without expectations, with an arm for each recording. */
function labOf(recordings: readonly NamedRecording[], ramp: boolean): Lab {
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
    throw new UsageError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
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
