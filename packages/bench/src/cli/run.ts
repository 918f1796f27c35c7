/** `sixtables-lab run`: chooses labs, arms and settings, runs the labs one after the other, and prints their results. */
import type { Argv } from 'yargs'
import type { Lab } from '../lab.ts'
import { labs } from '../labs/catalogue.ts'
import { htmlReport } from '../report/html.ts'
import { jsonReport } from '../report/json.ts'
import { terminalHead, terminalReport } from '../report/terminal.ts'
import { type LabResult, runLab } from '../runner.ts'
import { settings as knownSettings, type SettingName, type SettingValues } from '../settings.ts'
import { askedSettings, checkArms } from './asked.ts'
import { driveLabs } from './drive.ts'
import { named, UsageError } from './errors.ts'
import { type Choose, onlyWithEndpoint, outputs, secondsFlag, seedFlag, wholeNumber } from './flags.ts'
import { checkFolders, type Io, writeData, writeOrRefuse } from './io.ts'

function runOptions(y: Argv) {
  return y
    .positional('labs', { type: 'string', array: true, describe: 'Names of labs, from list' })
    .option('all', { type: 'boolean', describe: 'All labs' })
    .option('seed', seedFlag('Seed of all random numbers; the same seed prints the same results'))
    .option('arm', { type: 'string', array: true, describe: 'Arm to run; repeatable' })
    .option('set', { type: 'string', array: true, describe: 'Setting as name=value; the command settings lists them' })
    .options(outputs)
    .option('endpoint', {
      type: 'string',
      describe: 'Address of a running server, host:port, which gets the calls of the clients in real time',
    })
    .option('seconds', secondsFlag('Duration of each arm in seconds, with --endpoint (default 60)'))
    .option(
      'rate',
      wholeNumber('--rate', 100_000, {
        describe: 'Operations a second of arms that do not wait for answers, with --endpoint (default 200)',
      }),
    )
    .example('$0 run sequential-keys', 'all arms of this lab, with plots in the terminal')
    .example('$0 run --all --json results.json --html results.html', 'all labs, as JSON and as a page')
    .example(
      '$0 run sequential-keys --arm sequential-ids --endpoint 127.0.0.1:8081',
      'against a running server; watch it with sixtables top',
    )
    .example('$0 run hot-key --set server.opsPerSecond=500', 'with slower servers')
}

type RunFlags = Awaited<ReturnType<typeof runOptions>['argv']>

export function runCommand(y: Argv, io: Io, choose: Choose): Argv {
  return y.command('run [labs..]', 'Run labs by name, or all of them', runOptions, (flags) =>
    choose(() => runLabs(flags, io)),
  )
}

async function runLabs(flags: RunFlags, io: Io): Promise<number> {
  const { seed, arm: arms, set = [], json, html, endpoint, seconds = 60, rate: opsPerSecond = 200 } = flags
  onlyWithEndpoint(endpoint, { seconds: flags.seconds, rate: flags.rate })
  const chosen = chosenLabs(flags)
  const settings = askedSettings(set, chosen)
  checkArms(arms, chosen)
  checkFolders([json, html])
  if (endpoint !== undefined) {
    if (set.length > 0) {
      throw new UsageError(
        `--endpoint takes no --set: a server has the settings that it was started with; leave out ${set.map((words) => `--set ${words}`).join(' ')}`,
      )
    }
    if (html !== undefined)
      throw new UsageError('--endpoint draws no pages; leave out --html, or run without --endpoint')
    return driveLabs(chosen, { endpoint, seconds, seed, arms, opsPerSecond, json }, io)
  }
  for (const words of slowSettings(settings, chosen)) io.err(`sixtables-lab: ${words}`)
  const results: LabResult[] = []
  const write = io.ink()
  for (const lab of chosen) {
    if (json !== '-') {
      if (results.length > 0) write([])
      for (const line of terminalHead(lab, seed)) write(line)
    }
    const onProgress = (arm: string, share: number): void =>
      io.progress(`${lab.name}, ${arm}: ${Math.floor(share * 100)} %`)
    const result = await runLab(lab, { seed, arms, settings, onProgress }).catch((error: unknown) => {
      // With its own settings a lab does not fail, so the cause is a value of --set.
      if (set.length === 0 || !(error instanceof Error)) throw error
      throw new UsageError(`${lab.name} cannot run with these settings: ${error.message}`)
    })
    io.progress('')
    results.push(result)
    if (json === '-') continue
    for (const line of terminalReport(result)) write(line)
  }
  writeResults(io, { json, html }, results)
  const failed = results.filter(({ passed }) => !passed).map(({ lab }) => lab)
  if (failed.length > 0) io.err(`sixtables-lab: what must be seen was not seen in ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
}

function chosenLabs({ labs: names = [], all }: RunFlags): readonly Lab[] {
  if (all === true) {
    if (names.length > 0) throw new UsageError(`--all runs every lab; leave out ${names.join(', ')} or --all`)
    return labs
  }
  if (names.length === 0) throw new UsageError('name a lab, or give --all; sixtables-lab list shows what there is')
  return names.map((name) => named(labs, 'lab', name))
}

/** A lab takes some seconds with its own settings; one that is this many times larger may take minutes. */
const muchMore = 2

/** Descriptions of the given settings with which a lab may run for minutes. */
export function slowSettings(asked: SettingValues, chosen: readonly Lab[]): readonly string[] {
  return Object.entries(asked).flatMap(([name, value]) => {
    const { longer, unit } = knownSettings[name as SettingName]
    return chosen.flatMap(({ name: lab, settings }) => {
      const own = settings[name as SettingName]
      if (longer === undefined || own === undefined) return []
      const [more, less] = [value / own, own / value]
      const times = longer === 'more' ? more : longer === 'less' ? less : Math.max(more, less)
      const words = `${name}=${value} makes ${lab} longer than its own ${own} ${unit}: the run may take minutes`
      return times >= muchMore ? [words] : []
    })
  })
}

export function writeResults(
  io: Io,
  { json, html }: { readonly json?: string | undefined; readonly html?: string | undefined },
  results: readonly LabResult[],
): void {
  if (json !== undefined) writeData(io, json, jsonReport(results))
  if (html !== undefined) writeOrRefuse(io, html, htmlReport(results))
}
