/**
 * What it costs to know where the heat is: lookups with simulation off, over 64 tablets, against the same without tablets.
 *
 *   engine     lookups by calls in one process: with a ledger that tablets listen to, and with one that only counts
 *   wire       CPU time of a server process for a lookup by gRPC, 32 at a time on one connection
 *
 * Each variant runs in processes of its own, in turns, so that neither is compiled for the other. The figure to watch is
 * what tablets add to a lookup, in percent of a lookup over the wire; it must stay below 3.
 *
 * Run it with `npm run bench:tablets` in packages/bench, after a build.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { connect } from 'node:http2'
import { fileURLToPath } from 'node:url'
import {
  type Engine,
  encodeKey,
  encodeProperties,
  type Key,
  type Ledger,
  openEngine,
  type RequestContext,
  requestContext,
  systemScheduler,
} from '@sixtables/engine'
import { startGateway } from '@sixtables/gateway'

const entities = 6_400
const tabletsOfTable = 64
const rounds = 5
const wireLookups = 40_000
const wireAtOnce = 32

type Variant = 'metered' | 'bare'

/** Counts as the ledger of a request does, and tells nobody. */
class BareLedger implements Ledger {
  rows = 0
  bytes = 0

  charge(_table: string, _operation: string, _rowKey: string, rows: number, bytes: number): void {
    this.rows += rows
    this.bytes += bytes
  }
}

function keyOf(id: number): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'Task', id: BigInt(id) }] }
}

async function openStore(): Promise<Engine> {
  const engine = await openEngine()
  const properties = encodeProperties(new Map([['title', { type: 'string', value: 'a task of some length' }]]))
  for (let id = 1; id <= entities; id += 100) {
    const mutations = Array.from({ length: 100 }, (_, i) => {
      const key = encodeKey(keyOf(id + i))
      return { operation: 'upsert', entity: Buffer.concat([Uint8Array.of(0x0a, key.length), key, properties]) } as const
    })
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  let after: string | undefined
  for (let tablet = 1; tablet < tabletsOfTable; tablet++) {
    const page = await engine.inspector.table('Entities', {
      limit: entities / tabletsOfTable,
      ...(after === undefined ? {} : { after }),
    })
    after = page.next ?? ''
    engine.tablets.split('Entities', Buffer.from(after.replaceAll(' ', ''), 'hex').toString('latin1'))
  }
  return engine
}

/** @returns nanoseconds of CPU a lookup */
async function lookups(variant: Variant): Promise<number> {
  const engine = await openStore()
  const database = engine.database('p')
  const context = (): RequestContext =>
    variant === 'metered' ? engine.context() : requestContext({ clock: systemScheduler, ledger: new BareLedger() })
  const requests = Array.from({ length: entities }, (_, i) => ({ keys: [keyOf(((i * 7_919) % entities) + 1)] }))
  const run = (count: number): void => {
    for (let i = 0; i < count; i++) database.lookup(context(), requests[i % entities] as (typeof requests)[number])
  }
  run(200_000)
  const before = process.cpuUsage()
  const count = 400_000
  run(count)
  const { user, system } = process.cpuUsage(before)
  await engine.close()
  return ((user + system) * 1000) / count
}

/** A server for the parent process; answers 'cpu' with its CPU time. */
async function serve(): Promise<void> {
  const engine = await openStore()
  const gateway = await startGateway({ engine, port: 0 })
  process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
  process.send?.({ port: gateway.port })
}

function lookupMessage(id: number): Buffer {
  const key = encodeKey(keyOf(id))
  const message = Buffer.concat([Uint8Array.of(0x1a, key.length), key, Uint8Array.of(0x42, 1), Buffer.from('p')])
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

/** @returns nanoseconds of the server's CPU a lookup */
async function overTheWire(): Promise<number> {
  const server = child('serve')
  const { port } = await answer<{ port: number }>(server)
  const session = connect(`http://127.0.0.1:${port}`)
  const call = (id: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': '/google.datastore.v1.Datastore/Lookup',
        'content-type': 'application/grpc',
        te: 'trailers',
      })
      let bytes = 0
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      stream.on('end', () => (bytes > 20 ? resolve() : reject(new Error('a lookup was not answered'))))
      stream.on('error', reject)
      stream.end(lookupMessage(id))
    })
  const run = async (count: number): Promise<void> => {
    let next = 0
    const worker = async (): Promise<void> => {
      while (next < count) await call(((next++ * 7_919) % entities) + 1)
    }
    await Promise.all(Array.from({ length: wireAtOnce }, worker))
  }
  const cpu = async (): Promise<number> => {
    server.send('cpu')
    const { cpu: used } = await answer<{ cpu: NodeJS.CpuUsage }>(server)
    return used.user + used.system
  }
  await run(wireLookups / 2)
  const before = await cpu()
  await run(wireLookups)
  const used = (await cpu()) - before
  session.close()
  server.kill()
  return (used * 1000) / wireLookups
}

function child(...args: string[]): ChildProcess {
  return fork(fileURLToPath(import.meta.url), args)
}

function answer<T>(from: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    from.once('message', (message) => resolve(message as T))
    from.once('error', reject)
  })
}

async function inOwnProcess(variant: Variant): Promise<number> {
  const { ns } = await answer<{ ns: number }>(child(variant))
  return ns
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

async function main(): Promise<void> {
  const [metered, bare, added, wire]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let round = 1; round <= rounds; round++) {
    // Who goes first changes, so that a machine that warms up favours neither.
    const order: readonly Variant[] = round % 2 === 0 ? ['metered', 'bare'] : ['bare', 'metered']
    const ns: Record<Variant, number> = { metered: 0, bare: 0 }
    for (const variant of order) ns[variant] = await inOwnProcess(variant)
    metered.push(ns.metered)
    bare.push(ns.bare)
    added.push(ns.metered - ns.bare)
    wire.push(await overTheWire())
    console.log(
      `round ${round}: ${ns.bare.toFixed(0)} ns without tablets, ${ns.metered.toFixed(0)} ns with ${tabletsOfTable}; wire ${wire.at(-1)?.toFixed(0)} ns`,
    )
  }
  const share = (median(added) / median(wire)) * 100
  console.log(
    `\nA lookup in the engine: ${median(bare).toFixed(0)} ns, with ${tabletsOfTable} tablets ${median(metered).toFixed(0)} ns (CPU, medians of ${rounds})`,
  )
  console.log(`A lookup over gRPC: ${median(wire).toFixed(0)} ns of the server's CPU`)
  console.log(
    `Tablets add ${median(added).toFixed(0)} ns: ${share.toFixed(2)} % of a lookup over the wire (limit: 3 %)`,
  )
}

const [role] = process.argv.slice(2)
if (role === undefined) await main()
else if (role === 'serve') await serve()
else {
  const ns = await lookups(role === 'metered' ? 'metered' : 'bare')
  process.send?.({ ns }, undefined, undefined, () => process.exit(0))
}
