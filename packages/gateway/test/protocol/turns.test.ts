/** One client asks for much at once, another for little: who waits for whom, over real connections. */
import { type LookupRequest, type LookupResult, openEngine, type QueryBatch, systemScheduler } from '@sixtables/engine'
import { turnScheduler } from '@sixtables/engine/testing'
import { expect, onTestFinished, test } from 'vitest'
import { Call, type Handler } from '../../src/call.ts'
import { handlersOf } from '../../src/handlers/handlers.ts'
import { lookupHandler } from '../../src/handlers/lookup.ts'
import { runQueryHandler } from '../../src/handlers/run-query.ts'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, rawConnection, testGateway, until } from '../support/gateway.ts'
import { decodeAnswer, encodeRequest, type Plain } from '../support/published-protos.ts'
import { openWire, type Wire } from '../support/wires.ts'

const heavyCalls = 200
/** More than a slice, so that one such call is all that runs before the sockets are looked at. */
const heavyMs = 3

const lookup = (name: string): Plain => ({ keys: [{ path: [{ kind: 'K', name }] }] })

/** An engine whose lookups of the name `heavy`, and resets, take their time. */
interface Slow {
  readonly engine: ReturnType<typeof engineDouble>
  /** The names, in the order in which they ran. */
  readonly began: readonly string[]
  /** The first heavy one has come. */
  readonly asked: Promise<void>
}

function slowEngine(): Slow {
  const began: string[] = []
  let isAsked = (): void => {}
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve
  })
  const work = (name: string): void => {
    began.push(name)
    if (name === 'heavy') isAsked()
    const until = performance.now() + (name === 'heavy' ? heavyMs : 0)
    while (performance.now() < until);
  }
  const double = engineDouble({
    lookup(_context, { keys }: LookupRequest): LookupResult {
      work(keys[0]?.path[0]?.name ?? '')
      return { found: [], missing: keys, deferred: [], readTime: 1n }
    },
  })
  const engine = { ...double, reset: async () => work('heavy') }
  return { engine, began, asked }
}

/** All of them in as few writes as the client makes of them. */
async function askMuch(wire: Wire): Promise<void> {
  const answers = await Promise.all(Array.from({ length: heavyCalls }, () => wire.send('p', 'Lookup', lookup('heavy'))))
  for (const answer of answers) expect(answer).toMatchObject({ code: 'OK' })
}

test.each(['gRPC', 'HTTP JSON'] as const)(
  'a call over %s is answered while the many of another connection wait',
  async (name) => {
    const { engine, began, asked } = slowEngine()
    const gateway = await testGateway(engine)
    const many = await openWire('gRPC', gateway)
    const one = await openWire(name, gateway)
    // The first request in JSON loads the codec, which takes many turns.
    await one.send('p', 'Lookup', lookup('light'))
    const all = askMuch(many)
    await asked
    expect(await one.send('p', 'Lookup', lookup('light'))).toMatchObject({ code: 'OK' })
    // Both clients live on the loop of the server: it goes round a few times before the call is there.
    expect(began.length).toBeLessThan(heavyCalls / 2)
    await all
    expect(began).toHaveLength(heavyCalls + 2)
    many.close()
    one.close()
  },
)

test.each(['lookups', 'resets'])('%s that one connection sends ahead over HTTP wait for others too', async (what) => {
  const { engine, began, asked } = slowEngine()
  const gateway = await testGateway(engine)
  const body = what === 'lookups' ? encodeRequest('Lookup', lookup('heavy')) : Buffer.alloc(0)
  const target = what === 'lookups' ? '/v1/projects/p:lookup' : '/reset'
  const type = 'content-type: application/x-protobuf'
  const head = `POST ${target} HTTP/1.1\r\nhost: localhost\r\n${type}\r\ncontent-length: ${body.length}\r\n\r\n`
  const { socket, received } = await rawConnection(gateway)
  const one = await openWire('gRPC', gateway)
  socket.write(Buffer.concat(Array.from({ length: heavyCalls }, () => Buffer.concat([Buffer.from(head), body]))))
  await asked
  expect(await one.send('p', 'Lookup', lookup('light'))).toMatchObject({ code: 'OK' })
  expect(began.length).toBeLessThan(heavyCalls / 2)
  await until(() => received().toString('latin1').split('HTTP/1.1 200').length - 1 === heavyCalls)
  one.close()
})

test('a call that is given up while it waits does not run', async () => {
  const { engine, began, asked } = slowEngine()
  const gateway = await testGateway(engine)
  const many = await openWire('gRPC', gateway)
  const one = await openWire('gRPC', gateway)
  void askMuch(many).catch(() => {})
  await asked
  many.close()
  expect(await one.send('p', 'Lookup', lookup('light'))).toMatchObject({ code: 'OK' })
  await one.send('p', 'Lookup', lookup('light'))
  expect(began.length).toBeLessThan(heavyCalls / 2)
  one.close()
})

test('a call whose time is over while it waits is told so, and does not run', async () => {
  const { engine, began } = slowEngine()
  const gateway = await testGateway(engine)
  const client = await grpcClient(gateway)
  const ask = (name: string, headers: Record<string, string> = {}): ReturnType<typeof client.call> =>
    client.call('Lookup', encodeRequest('Lookup', { projectId: 'p', ...lookup(name) }), { headers })
  const heavy = Array.from({ length: heavyCalls }, () => ask('heavy'))
  expect(await ask('late', { 'grpc-timeout': `${heavyMs * 10}m` })).toMatchObject({ status: 4 })
  await Promise.all(heavy)
  expect(began).not.toContain('late')
})

const image = { version: 1n, createTime: 1n, updateTime: 1n, properties: new Uint8Array(1_000_000) }
const key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'K', id: 1n }] }
const found: LookupResult = { found: [{ key, image }], missing: [], deferred: [], readTime: 1n }
const batch: QueryBatch = {
  resultType: 'full',
  results: [{ key, image, cursor: new Uint8Array() }],
  skipped: 0,
  endCursor: new Uint8Array(),
  moreResults: 'noMoreResults',
  readTime: 1n,
}
const engineOfLarge = engineDouble({ lookup: () => found, runQuery: () => batch })

test.each<[string, Handler, Buffer]>([
  ['lookup', lookupHandler(engineOfLarge), encodeRequest('Lookup', { projectId: 'p', ...lookup('a') })],
  ['query', runQueryHandler(engineOfLarge), encodeRequest('RunQuery', { projectId: 'p', query: {} })],
])('large answers of a %s are written one in a turn, and none for a client that left', async (_, handler, request) => {
  const turns: (() => void)[] = []
  const clock = { ...systemScheduler, defer: (turn: () => void) => turns.push(turn) }
  const calls = Array.from({ length: 3 }, () => new Call({ clock }))
  const ends: string[] = []
  for (const [i, call] of calls.entries()) {
    void Promise.resolve(handler(request, call)).then(
      (answer) => {
        // It was not moved to ever larger buffers while it grew.
        const isTight = answer.buffer.byteLength < 1.01 * answer.length
        ends.push(`${i}: ${answer.length > image.properties.length && isTight}`)
      },
      (error) => ends.push(`${i}: ${error.code}`),
    )
  }
  const next = async (): Promise<readonly string[]> => {
    turns.shift()?.()
    await new Promise(setImmediate)
    return [...ends]
  }
  expect(await next()).toEqual([])
  expect(await next()).toEqual(['0: true'])
  calls[1]?.cancel()
  expect(await next()).toEqual(['0: true', '1: CANCELLED'])
  expect(await next()).toEqual(['0: true', '1: CANCELLED', '2: true'])
  expect(turns).toEqual([])
})

test.each([
  ['AllocateIds', { path: [{ kind: 'K' }] }],
  ['ReserveIds', { path: [{ kind: 'K', id: '7' }] }],
] as const)('the keys of a large %s are read, checked and used in slices', async (method, key) => {
  const count = 50_000
  let turns = 0
  const clock = turnScheduler(() => turns++)
  const engine = await openEngine({ scheduler: clock })
  onTestFinished(() => engine.close())
  const keys = Array.from({ length: count }, () => key)
  const answer = await handlersOf(engine)[method](encodeRequest(method, { projectId: 'p', keys }), new Call({ clock }))
  // It is decoded, checked, used, and written if it has keys: some thousand keys in a turn.
  expect(turns).toBeGreaterThan((3 * count) / 5000)
  if (method === 'ReserveIds') return
  const { keys: completed } = decodeAnswer(method, answer.subarray(5)) as { keys: { path: { id: string }[] }[] }
  expect(new Set(completed.map(({ path }) => path[0]?.id)).size).toBe(count)
})
