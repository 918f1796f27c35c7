/**
 * `npm run bench`: what users notice, over the wire.
 *
 *   npm run bench                       this emulator, in memory and on disk
 *   npm run bench -- --compare          beside Google's emulators, where they are installed, one after the other for each
 *                                       workload, so that a disturbance of the machine meets all of them
 *   npm run bench -- --growth           one query over 1,000 to 300,000 entities
 *   npm run bench -- --stalls           how long a lookup waits beside each long call (stalls/stalls.ts)
 *   npm run bench -- --write            the page docs/performance.md
 *
 * The engine's own primitives, without a wire: npm run bench:engine.
 */
import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import yargs from 'yargs'
import { missing } from '../google-emulators.ts'
import { stopAll } from '../server-process.ts'
import {
  commandOf,
  type GrowthResult,
  machine,
  markdown,
  type Results,
  type ServerResult,
  say,
  shortNumber,
  type WireResult,
  writeBetweenMarks,
} from './report.ts'
import { measureStalls, type Stall, stallsMarkdown } from './stalls/stalls.ts'
import { closedLoop } from './wire/closed-loop.ts'
import { HttpConnections } from './wire/connection.ts'
import { type ServerName, startServer } from './wire/servers.ts'
import { hotSize, load, queryWorkload, type Workload, workloads } from './wire/workloads.ts'

const flags = await yargs(process.argv.slice(2))
  .scriptName('npm run bench --')
  .option('compare', { type: 'boolean', default: false, describe: "Beside Google's emulators" })
  .option('growth', { type: 'boolean', default: false, describe: 'One query over more and more entities' })
  .option('stalls', { type: 'boolean', default: false, describe: 'How long a lookup waits beside each long call' })
  .option('verbs', { type: 'string', describe: 'With --stalls: only calls with one of these words, by comma' })
  .option('store', { choices: ['memory', 'disk'] as const, describe: 'With --stalls: only a server of this kind' })
  .option('workloads', {
    type: 'string',
    describe: `Only these, by comma: ${Object.keys(workloads).join(', ')}`,
  })
  .option('time', { type: 'number', default: 4, describe: 'Seconds a measurement' })
  .option('warm', { type: 'number', default: 2, describe: 'Seconds of warm-up before it' })
  .option('sizes', { type: 'string', describe: 'Of the growth run, or of --stalls' })
  .option('both-cores', {
    type: 'boolean',
    default: false,
    describe: 'Do not pin servers to core 0 and the generator to core 1',
  })
  .option('json', { type: 'string', describe: 'Write the results to this file' })
  .option('write', { type: 'boolean', default: false, describe: 'Write the results into docs/performance.md' })
  .example('$0 --compare --workloads lookup,upsert', 'two workloads, three servers')
  .strict()
  .locale('en')
  .parseAsync()

const warmMs = flags.warm * 1000
const timeMs = flags.time * 1000
const canPin = process.platform === 'linux' && cpus().length > 1 && !flags['both-cores']

type Running = Awaited<ReturnType<typeof start>>

const ourOwn: readonly ServerName[] = ['sixtables', 'sixtables on disk']
const storeOf = (name: ServerName): string => (name === 'sixtables' ? 'memory' : 'disk')
const chosen = flags.workloads?.split(',')
const unknown = chosen?.find((name) => !Object.hasOwn(workloads, name))
if (unknown !== undefined) {
  say(`there is no workload "${unknown}"; there is ${Object.keys(workloads).join(', ')}`)
  process.exit(2)
}
const list = Object.entries(workloads).filter(([name]) => chosen?.includes(name) ?? true)

/** Our own two, and Google's as far as they are there. */
function serverNames(): readonly ServerName[] {
  if (!flags.compare) return ourOwn
  const absent = missing(['legacy', 'firestore'])
  if (absent === undefined) return ['sixtables', 'legacy', 'firestore', 'sixtables on disk', 'legacy on disk']
  say(`Google's emulators are left out: ${absent}`)
  return ourOwn
}

async function start(name: ServerName) {
  say(`starting ${name} …`)
  const server = await startServer({ name, core: canPin ? 0 : undefined })
  return { server, connection: await server.connect(), idleMiB: server.memoryMiB() }
}

async function measure(running: Running, name: string, workload: Workload): Promise<WireResult | undefined> {
  const { server, connection } = running
  const { title, streams, http } = workload
  const ofHttp = http && new HttpConnections(connection.port, http)
  const caller = ofHttp ?? connection
  try {
    await workload.check(caller)
  } catch (error) {
    say(`  ${server.name}: ${error instanceof Error ? error.message : error}`)
    ofHttp?.close()
    return undefined
  }
  const before = server.cpuSeconds()
  const operation = (i: number) => workload.operation(caller, i)
  const result = await closedLoop({ streams, operation, warmMs, timeMs })
  ofHttp?.close()
  const cpuMicros = ((server.cpuSeconds() - before) * 1e6) / (result.perSecond * (result.seconds + flags.warm))
  say(
    `  ${server.name}: ${shortNumber(result.perSecond)}/s, p50 ${shortNumber(result.p50Ms)} ms, p99 ${shortNumber(result.p99Ms)} ms`,
  )
  return { ...result, workload: name, title, server: server.name, streams, cpuMicros }
}

async function measureAll(running: readonly Running[]): Promise<readonly WireResult[]> {
  const results: WireResult[] = []
  if (list.some(([, { reads }]) => reads)) {
    for (const { server, connection } of running) {
      say(`loading ${hotSize.toLocaleString('en')} entities into ${server.name} …`)
      await load(connection, hotSize)
    }
  }
  for (const [i, [name, workload]] of list.entries()) {
    say(`${i + 1} of ${list.length}: ${workload.title}, ${workload.streams} at a time`)
    for (const one of running) {
      const result = await measure(one, name, workload)
      if (result !== undefined) results.push(result)
    }
  }
  return results
}

function sizesOf(usual: string): readonly number[] {
  return (flags.sizes ?? usual).split(',').map(Number)
}

async function grow(running: readonly Running[]): Promise<readonly GrowthResult[]> {
  const results: GrowthResult[] = []
  for (const size of sizesOf('1000,10000,100000,300000')) {
    for (const one of running) {
      // A legacy store on disk takes minutes for what the others load in seconds.
      if (one.server.name === 'legacy on disk' && size > hotSize) continue
      say(`loading ${size.toLocaleString('en')} entities into ${one.server.name} …`)
      await load(one.connection, size)
      const query = queryWorkload(size)
      const before = performance.now()
      await query.check(one.connection)
      const firstMs = performance.now() - before
      const operation = (i: number) => query.operation(one.connection, i)
      const { p50Ms, perSecond } = await closedLoop({ operation, streams: 1, warmMs, timeMs })
      say(`  ${one.server.name}: ${shortNumber(p50Ms)} ms, the first ${shortNumber(firstMs)} ms`)
      // The workloads before have queried the kind of their own size already.
      const isFirst = size !== hotSize || list.length === 0
      results.push({ server: one.server.name, size, p50Ms, perSecond, ...(isFirst ? { firstMs } : {}) })
    }
  }
  return results
}

if (flags.stalls) {
  const only = flags.verbs?.split(',')
  const servers = ourOwn.filter((name) => flags.store === undefined || storeOf(name) === flags.store)
  const stalls: Stall[] = []
  for (const size of sizesOf('100000,1000000')) {
    for (const name of servers) stalls.push(...(await measureStalls(name, size, only).finally(stopAll)))
  }
  process.stdout.write(`${stallsMarkdown(stalls)}\n`)
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(stalls, null, 2)}\n`)
  process.exit()
}

const running: Running[] = []
try {
  if (canPin) say('servers run on core 0, this program on the others')
  for (const name of serverNames()) running.push(await start(name))
  const wire = await measureAll(running)
  const growth = flags.growth ? await grow(running) : []
  const servers: ServerResult[] = running.map(({ server, idleMiB }) => ({
    server: server.name,
    startMs: server.startMs,
    idleMiB,
    loadedMiB: server.memoryMiB(),
  }))
  const results: Results = {
    at: new Date().toISOString().slice(0, 10),
    command: commandOf('npm run bench'),
    machine: machine(),
    pinning: canPin ? 'servers on one core, the generator on another' : 'servers and generator on all cores',
    servers,
    wire,
    growth,
  }
  const text = markdown(results)
  process.stdout.write(`${text}\n`)
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify(results, null, 2)}\n`)
  if (flags.write) writeBetweenMarks('performance.md', 'wire', text)
} finally {
  for (const { connection } of running) connection.close()
  stopAll()
}
