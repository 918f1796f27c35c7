/**
 * `npm run compare`: sends generated requests to Google's emulators and to ours, and sorts every difference into a class.
 *
 * Exit code 0: every difference has a class, or there is nothing to compare with (it says so); 1: one has none.
 */
import { fileURLToPath } from 'node:url'
import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { emulatorCommand, missing } from '../google-emulators.ts'
import { type ServerOptions, startProcess, stopAll } from '../server-process.ts'
import { type Mode, modes } from './case.ts'
import { compareExports } from './exports.ts'
import { type Area, areasOf } from './generate/index.ts'
import { report, reportJson } from './report.ts'
import { compare, type Outcome } from './run.ts'
import type { Server } from './server.ts'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const binary = process.env['SIXTABLES_BINARY'] ?? here('../../../bin/sixtables.js')

const flags = await yargs(hideBin(process.argv))
  .scriptName('npm run compare --')
  .usage("$0 [flags]\n\nSends generated requests to Google's emulators and to ours, and classifies every difference.")
  .option('seed', {
    type: 'number',
    describe: 'Whole number from which the requests are drawn',
    defaultDescription: 'drawn',
  })
  .option('runs', { type: 'number', default: 400, describe: 'Cases in each mode' })
  .option('mode', {
    choices: ['both', ...modes] as const,
    default: 'both',
    describe: 'Which of our modes, and with it which emulator',
  })
  .option('area', { choices: Object.keys(areasOf('firestore')) as Area[], describe: 'Only cases of this area' })
  .option('exports', { type: 'boolean', default: false, describe: 'Exports and imports, instead of requests' })
  .option('write-fixtures', {
    type: 'boolean',
    default: false,
    describe: 'With --exports, keeps those of the Datastore emulator for tests',
  })
  .option('json', { type: 'boolean', default: false, describe: 'The report as JSON' })
  .option('legacy-emulator', { type: 'string', describe: 'Port of a running Datastore emulator to use' })
  .option('firestore-emulator', {
    type: 'string',
    describe: 'Port of a running Firestore emulator (in Datastore mode) to use',
  })
  .strict()
  .version(false)
  .parse()

const say = (line: string): void => void process.stderr.write(`compare: ${line}\n`)
const chosen = modes.filter((mode) => flags.mode === 'both' || flags.mode === mode)
const ports = { legacy: flags.legacyEmulator, firestore: flags.firestoreEmulator }
const absent = missing(chosen.filter((mode) => ports[mode] === undefined))

function startTheirs(mode: Mode): Promise<Server> {
  const name = mode === 'legacy' ? 'legacy emulator' : 'Firestore emulator'
  const how = mode === 'legacy' ? ['start', '--testing'] : ['--database-mode=datastore-mode']
  return start(name, (port) => emulatorCommand(mode, ...how, '--host=localhost', `--port=${port}`))
}

function startOurs(mode: Mode): Promise<Server> {
  return start(`ours in ${mode} mode`, (port) => [
    ...[process.execPath, binary, 'start', '--testing', '--mode', mode],
    ...['--host', 'localhost', '--port', String(port)],
  ])
}

/** Measured: `GET /` answers Ok once an emulator serves. */
async function start(name: string, command: ServerOptions['command']): Promise<Server> {
  const answers = async (port: number): Promise<boolean> => (await fetch(`http://localhost:${port}/`)).ok
  const { port } = await startProcess({ name, command, answers, env: { JAVA_TOOL_OPTIONS: '-Xmx1g' } })
  return { name, port }
}

async function main(): Promise<number> {
  const seed = flags.seed ?? Math.floor(Math.random() * 2 ** 31)
  say(`--seed ${seed} --runs ${flags.runs}`)
  const outcomes: Outcome[] = []
  let different = 0
  for (const mode of chosen) {
    const port = ports[mode]
    const theirs =
      port === undefined ? startTheirs(mode) : Promise.resolve({ name: `${mode} emulator`, port: Number(port) })
    const pair = { mode, ours: await startOurs(mode), theirs: await theirs }
    say(`${mode}: both servers are up`)
    if (flags.exports) {
      const fixtures = here('../../../../engine/test/fixtures/export-legacy')
      different += await compareExports({ ...pair, fixtures, isWritten: flags.writeFixtures, say })
    } else outcomes.push(await compare(pair, { seed, runs: flags.runs, area: flags.area, say }))
    stopAll()
  }
  if (flags.exports) return different === 0 ? 0 : 1
  process.stdout.write(flags.json ? `${reportJson(outcomes)}\n` : report(outcomes))
  const unexplained = outcomes.reduce((sum, one) => sum + one.unexplained.length, 0)
  say(unexplained === 0 ? 'every difference has a class' : `${unexplained} kinds of differences have no class`)
  return unexplained === 0 ? 0 : 1
}

if (absent !== undefined) {
  say(`skipped: ${absent}`)
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  process.once('exit', stopAll)
  process.exitCode = await main().finally(stopAll)
}
