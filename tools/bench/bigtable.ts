/**
 * `npm run bigtable:figures`: puts and lookups at 1, 2 and 3 gateways on Google's emulator of Bigtable.
 *
 *   npm run bigtable:figures                                  all rows
 *   npm run bigtable:figures -- --gateways 1,3 --clients 16   some
 *   npm run bigtable:figures -- --calls                       calls to the Bigtable for each request, instead of time
 *   npm run bigtable:figures -- --write                       the table in docs/bigtable.md
 *
 * Each number of gateways has an emulator of its own. All run at once and are measured one after the other in each row, so that a disturbance
 * of the machine meets all. A call goes to the next gateway in turn.
 */
import { loadavg } from 'node:os'
import yargs from 'yargs'
import { entityBytes, integer, text } from '../../packages/bench/src/sim/entities.ts'
import { hasCbtemulator, startCbtemulator } from '../../packages/bigtable/test/support/cbtemulator.ts'
import { commandOf, machine, say, shortNumber, table, writeBetweenMarks } from './report.ts'
import { closedLoop, type LoopResult } from './wire/closed-loop.ts'
import type { Connection } from './wire/connection.ts'
import * as messages from './wire/messages.ts'
import { cpuOf, type Server, startServer } from './wire/servers.ts'
import { must, type Workload } from './wire/workloads.ts'

const flags = await yargs(process.argv.slice(2))
  .scriptName('npm run bigtable:figures --')
  .option('gateways', { type: 'string', default: '1,2,3', describe: 'Numbers of gateways' })
  .option('clients', { type: 'string', default: '1,16,64', describe: 'Numbers of requests at a time' })
  .option('rows', { type: 'string', default: '', describe: 'Only rows with this in their name' })
  .option('time', { type: 'number', default: 4, describe: 'Seconds a measurement' })
  .option('warm', { type: 'number', default: 3, describe: 'Seconds of warm-up before it, for each gateway' })
  .option('calls', {
    type: 'boolean',
    default: false,
    describe: 'Count calls to the Bigtable; times are not told then',
  })
  .option('write', { type: 'boolean', default: false, describe: 'Write the table into docs/bigtable.md' })
  .check(({ write, calls }) => {
    if (write && calls) throw new Error('docs/bigtable.md has times: give --write or --calls, not both')
    return true
  })
  .strict()
  .locale('en')
  .parseAsync()

if (!hasCbtemulator) {
  say('this needs cbtemulator; `npm run bigtable:figures` finds it and starts this program')
  process.exit(2)
}
const numbersOf = (list: string): readonly number[] => list.split(',').map(Number)
const size = 1_000
let written = 0

/** Five indexed properties: eleven index rows. */
function entity(kind: string, name: string | undefined, i: number): messages.Bytes {
  return entityBytes(messages.keyOf(kind, name), {
    category: text(`c${i % messages.categories}`),
    score: integer(Math.imul(i, 0x9e3779b1) >>> 0),
    rank: integer(i),
    text: text(`text of ${messages.nameOf(i)}`),
    isOpen: { type: 'boolean', value: i % 2 === 0 },
  })
}

const rows: readonly Pick<Workload, 'title' | 'operation'>[] = [
  {
    title: 'lookup of 1',
    operation: (caller, i) => caller.ask('Lookup', messages.lookup('Read', [messages.nameOf(i % size)])),
  },
  {
    title: 'put of a new one, by name',
    operation: (caller) =>
      caller.ask('Commit', messages.commit([entity('Written', messages.nameOf(++written), written)])),
  },
  {
    title: 'put of a new one, automatic id',
    operation: (caller, i) => caller.ask('Commit', messages.commit([entity('Written', undefined, i)])),
  },
]

type Setting = Awaited<ReturnType<typeof startSetting>>

/** Starts gateways on an emulator of their own, with the entities that are read. */
async function startSetting(count: number) {
  const emulator = await startCbtemulator()
  const gateways: Server[] = []
  for (let i = 0; i < count; i++) {
    gateways.push(await startServer({ name: 'sixtables on a Bigtable', bigtable: emulator.address }))
  }
  const connections = await Promise.all(gateways.map((gateway) => gateway.connect()))
  const [first] = connections as [Connection]
  for (let from = 0; from < size; from += 100) {
    const batch = Array.from({ length: 100 }, (_, i) => entity('Read', messages.nameOf(from + i), from + i))
    const answer = await first.ask('Commit', messages.commit(batch))
    must(messages.answers.written(answer) === 100, 'a commit of 100 has another number of results')
  }
  for (const connection of connections) {
    const answer = await connection.ask('Lookup', messages.lookup('Read', [messages.nameOf(3)]))
    must(messages.answers.found(answer) === 1, 'a gateway does not find what another one has written')
  }
  let next = 0
  return {
    gateways,
    ask: (...args: Parameters<Connection['ask']>) => (connections[next++ % count] ?? first).ask(...args),
    /** Seconds of CPU of the gateways and of the emulator, and calls to the Bigtable, until now. */
    used: async () => [
      gateways.reduce((sum, { pid = 0 }) => sum + cpuOf(pid), 0),
      cpuOf(emulator.pid),
      flags.calls ? (await Promise.all(gateways.map(bigtableCalls))).reduce((sum, calls) => sum + calls, 0) : 0,
    ],
    async stop() {
      for (const connection of connections) connection.close()
      for (const gateway of gateways) gateway.stop()
      await emulator.close()
    },
  }
}

/** Calls of a gateway to the Bigtable; it counts them from the first time it is asked. */
async function bigtableCalls({ port }: Server): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const counts = metrics.matchAll(/^sixtables_bigtable_calls_total\{.*\} (\d+)$/gm)
  return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0)
}

function cellsOf(
  result: LoopResult,
  [ofGateways = 0, ofEmulator = 0, calls = 0]: readonly number[],
): readonly string[] {
  const requests = result.operations
  if (result.failures > 0) return [`${result.failures} failed`]
  if (flags.calls) return [shortNumber(calls / requests)]
  const micros = (seconds: number): string => `${shortNumber((seconds * 1e6) / requests)} µs`
  return [
    shortNumber(result.perSecond),
    `${shortNumber(result.p50Ms)} ms`,
    `${shortNumber(result.p99Ms)} ms`,
    micros(ofGateways),
    micros(ofEmulator),
  ]
}

const settings: Setting[] = []
try {
  for (const count of numbersOf(flags.gateways)) {
    say(`starting ${count} gateways …`)
    settings.push(await startSetting(count))
  }
  const lines: (readonly string[])[] = []
  const loads: number[] = []
  for (const { title, operation } of rows.filter((row) => row.title.includes(flags.rows))) {
    for (const streams of numbersOf(flags.clients)) {
      for (const setting of settings) {
        const how = { operation: (i: number) => operation(setting, i), streams, warmMs: 0 }
        // Three gateways have a third of the requests each, and slow code until they have had as many as one gateway.
        await closedLoop({ ...how, timeMs: flags.warm * 1000 * setting.gateways.length })
        const before = await setting.used()
        const result = await closedLoop({ ...how, timeMs: flags.time * 1000 })
        const used = (await setting.used()).map((now, i) => now - (before[i] ?? 0))
        loads.push(loadavg()[0] ?? 0)
        lines.push([title, String(streams), String(setting.gateways.length), ...cellsOf(result, used)])
        say(lines.at(-1)?.join(', ') ?? '')
      }
    }
  }
  const measured = flags.calls
    ? ['calls a request']
    : ['requests a second', 'p50', 'p99', 'CPU of the gateways a request', 'CPU of the emulator']
  const load = `load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`
  const text = [
    `\`${commandOf('npm run bigtable:figures')}\`, ${new Date().toISOString().slice(0, 10)}, ${machine()}, ${load}.`,
    '',
    ...table(['', 'at a time', 'gateways', ...measured], lines),
  ].join('\n')
  process.stdout.write(`${text}\n`)
  if (flags.write) writeBetweenMarks('bigtable.md', 'figures', text)
} finally {
  for (const setting of settings) await setting.stop()
}
