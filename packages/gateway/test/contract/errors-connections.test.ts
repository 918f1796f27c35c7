/**
 * What a client can do to a connection while it writes: too much, nonsense, or half of it. Whatever came before is kept,
 * nothing is written by halves, and the server goes on serving the others.
 */
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Gateway, startGateway } from '../../src/emulator/server.ts'
import { rawConnection, sleep, until } from '../support/gateway.ts'
import { framed, GrpcClient } from '../support/grpc-client.ts'
import { encodeRequest, type Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, wireNames } from '../support/wires.ts'

let engine: Engine
let gateway: Gateway

beforeEach(async () => {
  engine = await openEngine()
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0 })
  await send('Commit', upserts('before'))
})

afterEach(async () => {
  await gateway.close()
  await engine.close()
})

const keyOf = (name: string): Plain => ({ path: [{ kind: 'K', name }] })

function upserts(...names: string[]): Plain {
  const mutations = names.map((name) => ({ upsert: { key: keyOf(name) } }))
  return { mode: 'TRANSACTIONAL', singleUseTransaction: {}, mutations }
}

async function send(method: 'Commit' | 'RunQuery', request: Plain, name = wireNames[0] ?? 'gRPC'): Promise<Plain> {
  const wire = await openWire(name, { host: '127.0.0.1', port: gateway.port })
  const answer = await wire.send('p', method, request)
  expect(answer).toMatchObject({ code: 'OK' })
  wire.close()
  return readAnswer(wire, method, answer)
}

/** Each protocol still writes and reads, and the kind has just what it should. */
async function expectServing(...alsoThere: string[]): Promise<void> {
  for (const name of wireNames) await send('Commit', upserts(`by ${name}`), name)
  for (const name of wireNames) {
    const { batch } = await send('RunQuery', { query: { kind: [{ name: 'K' }] } }, name)
    const results = (batch as Plain)['entityResults'] as { entity: { key: { path: { name: string }[] } } }[]
    const there = results.map(({ entity }) => entity.key.path[0]?.name)
    expect(there).toEqual(['before', ...alsoThere, ...wireNames.map((one) => `by ${one}`)].sort())
  }
}

const message = (): Buffer => encodeRequest('Commit', { projectId: 'p', ...upserts('half', 'other half') })

/** A request over HTTP/1.1 whose head announces the whole message. */
const httpHead = (length: number): string =>
  'POST /v1/projects/p:commit HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-protobuf\r\n' +
  `content-length: ${length}\r\n\r\n`

test('a commit that is cut off half-way over HTTP writes nothing', async () => {
  const body = message()
  for (const cut of [0, 1, body.length >> 1, body.length - 1]) {
    const raw = await rawConnection(gateway)
    raw.socket.write(httpHead(body.length))
    raw.socket.write(body.subarray(0, cut))
    await sleep(10)
    raw.socket.destroy()
  }
  await expectServing()
})

test('a commit that is cut off half-way over gRPC writes nothing', async () => {
  const frame = framed(message())
  for (const cut of [1, 4, 5, 6, frame.length >> 1, frame.length - 1]) {
    const client = await GrpcClient.connect(gateway.port)
    const call = client.call('Commit', frame, { chunks: [frame.subarray(0, cut)], keepOpen: true })
    await sleep(10)
    client.close()
    expect((await call).status).toBeUndefined()
  }
  await expectServing()
})

test('a commit whose sender is gone before the answer is whole or not at all', async () => {
  const body = message()
  const raw = await rawConnection(gateway)
  raw.socket.write(Buffer.concat([Buffer.from(httpHead(body.length)), body]))
  raw.socket.end()
  await raw.closed
  await expectServing('half', 'other half')
})

test('20 MiB in one body are refused over each protocol', async () => {
  const huge = Buffer.alloc(20 * 1024 * 1024 + 1, 0x20)
  const client = await GrpcClient.connect(gateway.port)
  expect((await client.call('Commit', huge)).status).toBe(8)
  client.close()
  for (const type of ['application/json', 'application/x-protobuf']) {
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/projects/p:commit`, {
      method: 'POST',
      headers: { 'content-type': type },
      body: huge,
    })
    expect(response.status).toBe(413)
  }
  await expectServing()
})

/** The types of the HTTP/2 frames that were received whole. */
function frameTypes(bytes: Buffer): number[] {
  const types: number[] = []
  const headBytes = 9
  for (let at = 0; at + headBytes <= bytes.length; at += headBytes + bytes.readUIntBE(at, 3)) {
    types.push(bytes.readUInt8(at + 3))
  }
  return types
}

const goAway = 7

test('broken frames end the session of their connection alone', async () => {
  const bystander = await GrpcClient.connect(gateway.port)
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const settings = Buffer.from('000000040000000000', 'hex')
  // A frame longer than any may be, headers that do not unpack, data of a stream that was never opened, a window of nothing.
  const broken = [
    'ffffff0000ffffffff',
    '0000040104000000018888ffff',
    '0000010001000000ff00',
    '00000408000000000000000000',
  ]
  for (const frame of broken) {
    const raw = await rawConnection(gateway)
    raw.socket.write(Buffer.concat([preface, settings, Buffer.from(frame, 'hex')]))
    await until(() => frameTypes(raw.received()).includes(goAway))
    raw.socket.destroy()
  }
  const commit = encodeRequest('Commit', { projectId: 'p', ...upserts('meanwhile') })
  expect((await bystander.call('Commit', commit)).status).toBe(0)
  bystander.close()
  await expectServing('meanwhile')
})
