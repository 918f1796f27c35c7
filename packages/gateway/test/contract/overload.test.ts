/**
 * Too much of everything, and the server serves on (admission/B1 and admission/B2): many connections, transactions and calls, readers that
 * stall, requests without an end, floods, clients above their share (protocols/fair-queue.ts). `npm run overload` has the sizes of production.
 */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type Engine, openEngine } from '@sixtables/engine'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isDeep } from '../../../../scripts/deep.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../src/emulator/server.ts'
import { rawConnection, sleep, until } from '../support/gateway.ts'
import { framed } from '../support/grpc-client.ts'
import { eventually } from '../support/patience.ts'
import { encodeRequest, type Plain } from '../support/published-protos.ts'
import { openWire, readAnswer, type Wire } from '../support/wires.ts'

const megabyte = 1024 * 1024
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = Buffer.from('000000040000000000', 'hex')
const brokenFrames: readonly (readonly [string, Buffer])[] = [
  ['a frame longer than any may be', Buffer.from('ffffff0000ffffffff', 'hex')],
  ['headers that do not unpack', Buffer.from('0000040104000000018888ffff', 'hex')],
  ['data of a stream that was never opened', Buffer.from('0000010001000000ff00', 'hex')],
]

let engine: Engine
let gateway: Gateway
let wire: Wire
const open: { destroy(): void }[] = []

beforeEach(async () => {
  engine = await openEngine({ openTransactionsMax: isDeep ? 20_000 : 500 })
})

afterEach(async () => {
  for (const one of open.splice(0)) one.destroy()
  wire.close()
  await gateway.close()
  await engine.close()
})

async function start(options: Partial<GatewayOptions> = {}): Promise<void> {
  gateway = await startGateway({ engine, host: '127.0.0.1', port: 0, ...options })
  wire = await openWire('gRPC', gateway)
}

const keyOf = (name: string): Plain => ({ path: [{ kind: 'K', name }] })

async function put(name: string, bytes = 10): Promise<void> {
  const properties = { text: { stringValue: 'x'.repeat(bytes), excludeFromIndexes: true } }
  const mutations = [{ upsert: { key: keyOf(name), properties } }]
  expect(await wire.send('p', 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })).toMatchObject({ code: 'OK' })
}

/** A client that came before all others is still answered, and one that comes now. */
async function expectServing(): Promise<void> {
  await put('served')
  for (const name of ['gRPC', 'HTTP JSON'] as const) {
    const now = await openWire(name, gateway)
    expect(await now.send('p', 'Lookup', { keys: [keyOf('served')] })).toMatchObject({ code: 'OK' })
    now.close()
  }
}

/** As before, once the server has noticed what is gone: it learns that from the network, in its time. */
const expectServingAgain = (): Promise<void> => eventually(expectServing)

function raw(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: gateway.port }, () => resolve(socket))
    socket.on('error', reject)
    open.push(socket)
  })
}

function session(options: Parameters<typeof connectHttp2>[1] = {}): ClientHttp2Session {
  const one = connectHttp2(`http://127.0.0.1:${gateway.port}`, options)
  one.on('error', () => {})
  open.push(one)
  return one
}

const callHeaders = (method: string): Record<string, string> => ({
  ':method': 'POST',
  ':path': `/google.datastore.v1.Datastore/${method}`,
  'content-type': 'application/grpc',
  te: 'trailers',
})

describe('connections', () => {
  const connectionsMax = isDeep ? 1000 : 50

  test('beyond the limit are told so over each protocol, and those below it are served', async () => {
    await start({ load: { connectionsMax } })
    await put('served')
    const idle = await Promise.all(Array.from({ length: connectionsMax - 1 }, raw))
    // One that says nothing is closed after a while.
    for (const socket of idle) socket.write(Buffer.concat([preface, settings]))
    const late = await openWire('gRPC', gateway)
    const refused = { code: 'RESOURCE_EXHAUSTED', message: expect.stringMatching(/connections.*--max-connections/) }
    expect(await late.send('p', 'Lookup', { keys: [keyOf('served')] })).toMatchObject(refused)
    late.close()
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/v1/projects/p:lookup`, { method: 'POST', body: '{}' })
    expect([answer.status, await answer.text()]).toEqual([429, expect.stringMatching(/--max-connections/)])
    expect(await wire.send('p', 'Lookup', { keys: [keyOf('served')] })).toMatchObject({ code: 'OK' })
    for (const socket of idle) socket.destroy()
    await expectServingAgain()
  })

  test.each(brokenFrames)('with %s end, also when their client says nothing more', async (_, frame) => {
    await start()
    const silent = await rawConnection(gateway)
    silent.socket.write(Buffer.concat([preface, settings, frame]))
    const inCall = await rawConnection(gateway)
    inCall.socket.write(Buffer.concat([preface, settings, openedCall(), frame]))
    const afterPing = await rawConnection(gateway)
    afterPing.socket.write(Buffer.concat([preface, settings]))
    await until(() => placesOf(afterPing.received(), pingHead).length === 1)
    afterPing.socket.write(Buffer.concat([pongTo(afterPing.received()), frame]))
    await Promise.all([silent.closed, inCall.closed, afterPing.closed])
    await expectServing()
  })

  test('with broken frames whose clients are gone do not fill the limit', async () => {
    await start({ load: { connectionsMax } })
    const broken = await Promise.all(Array.from({ length: connectionsMax - 1 }, () => rawConnection(gateway)))
    for (const [i, { socket, received }] of broken.entries()) {
      socket.write(Buffer.concat([preface, settings, brokenFrames[i % brokenFrames.length]?.[1] ?? preface]))
      // Its settings, and GOAWAY after them.
      await until(() => received().length > settings.length)
      socket.destroy()
    }
    await expectServingAgain()
  })

  test('of clients that read nothing stay: what they asked for may wait', async () => {
    await start({ load: { unreadBytesMax: 1024 * megabyte } })
    await put('large', megabyte - 1000)
    const middle = await pausableProxy()
    const client = connectHttp2(`http://127.0.0.1:${middle.port}`, { settings: { initialWindowSize: 0x7fff_ffff } })
    open.push(client)
    client.once('connect', () => client.setLocalWindowSize(0x7fff_ffff))
    await new Promise((resolve) => client.once('remoteSettings', resolve))
    middle.pause()
    const request = framed(encodeRequest('Lookup', { projectId: 'p', keys: [keyOf('large')] }))
    const statuses = Promise.all(
      Array.from({ length: 32 }, () => statusOf(client.request(callHeaders('Lookup')), request)),
    )
    // Sessions that are over are found in this time; this one's ping waits behind answers that the socket does not take.
    await sleep(2000)
    middle.resume()
    expect(new Set(await statuses)).toEqual(new Set(['0']))
  })

  test('that fall silent are asked again and again, and one that no longer answers ends', async () => {
    await start({ silenceMs: 300 })
    const { socket, received, closed } = await rawConnection(gateway)
    const pings = (): number => placesOf(received(), pingHead).length
    let answered = 0
    socket.on('data', () => {
      if (pings() <= answered || answered === 3) return
      answered++
      socket.write(pongTo(received()))
    })
    socket.write(Buffer.concat([preface, settings]))
    await closed
    expect(pings()).toBe(4)
  })

  test('stay although the server itself stood still for longer than they have to answer', async () => {
    await start({ silenceMs: 20 })
    const { socket, received } = await rawConnection(gateway)
    let answered = 0
    socket.on('data', () => {
      if (placesOf(received(), pingHead).length <= answered) return
      answered++
      // The event loop is that of the server, too. The answer comes a little later: the server is the first to go on.
      const wakesAt = performance.now() + (answered === 1 ? 500 : 0)
      while (performance.now() < wakesAt);
      setTimeout(() => socket.write(pongTo(received())), 10)
    })
    socket.write(Buffer.concat([preface, settings]))
    await until(() => answered === 3)
  })

  test('that are silent and well stay', async () => {
    await start({ silenceMs: 300 })
    await put('served')
    await sleep(1500)
    expect(await wire.send('p', 'Lookup', { keys: [keyOf('served')] })).toMatchObject({ code: 'OK' })
  })
})

const pingHead = Buffer.from('000008060000000000', 'hex')

/** The answer to the last ping of what was received. */
function pongTo(received: Buffer): Buffer {
  const at = received.lastIndexOf(pingHead) + pingHead.length
  return Buffer.concat([Buffer.from('000008060100000000', 'hex'), received.subarray(at, at + 8)])
}

/** The headers of a lookup on stream 1, without its request: they stand in the static table of HPACK, or are spelled out. */
function openedCall(): Buffer {
  const path = Buffer.from('/google.datastore.v1.Datastore/Lookup')
  const type = Buffer.from('application/grpc')
  const headers = [Buffer.of(0x83, 0x86, 0x04, path.length), path, Buffer.of(0x0f, 0x10, type.length), type]
  const block = Buffer.concat(headers)
  return Buffer.concat([Buffer.of(0, 0, block.length, 1, 4, 0, 0, 0, 1), block])
}

interface Proxy {
  readonly port: number
  /** Nothing more is read of the server. */
  pause(): void
  resume(): void
}

/** Passes on what comes: a client of node:http2 cannot stop reading by itself. */
async function pausableProxy(): Promise<Proxy> {
  let up: Socket | undefined
  const proxy = createServer((down) => {
    up = connect({ host: '127.0.0.1', port: gateway.port })
    up.on('data', (chunk) => down.write(chunk))
    down.on('data', (chunk) => up?.write(chunk))
    open.push(up, down)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  open.push({ destroy: () => void proxy.close() })
  return { port: (proxy.address() as AddressInfo).port, pause: () => up?.pause(), resume: () => up?.resume() }
}

/** Sends a request, reads the answer, and resolves with its gRPC status. */
function statusOf(stream: ClientHttp2Stream, request: Buffer): Promise<unknown> {
  return new Promise((resolve) => {
    let status: unknown
    stream.on('trailers', (trailers) => {
      status = trailers['grpc-status']
    })
    stream.on('error', () => {})
    stream.on('close', () => resolve(status))
    stream.resume()
    stream.end(request)
  })
}

function placesOf(bytes: Buffer, sought: Buffer): number[] {
  const places: number[] = []
  for (let at = bytes.indexOf(sought); at >= 0; at = bytes.indexOf(sought, at + 1)) places.push(at)
  return places
}

describe('transactions', () => {
  const openMax = isDeep ? 20_000 : 500

  test('as many as the limit are open at once, one more is refused, and a rollback makes room', async () => {
    await start()
    await put('served')
    const begin = (): ReturnType<Wire['send']> => wire.send('p', 'BeginTransaction', {})
    const tokens: unknown[] = []
    for (let begun = 0; begun < openMax; begun += 100) {
      for (const answer of await Promise.all(Array.from({ length: 100 }, begin))) {
        expect(answer).toMatchObject({ code: 'OK' })
        tokens.push(readAnswer(wire, 'BeginTransaction', answer)['transaction'])
      }
    }
    const refused = { code: 'RESOURCE_EXHAUSTED', message: expect.stringMatching(/open already.*--max-transactions/) }
    expect(await begin()).toMatchObject(refused)
    expect(await wire.send('p', 'Rollback', { transaction: tokens[0] })).toMatchObject({ code: 'OK' })
    expect(await begin()).toMatchObject({ code: 'OK' })
    await expectServing()
  })
})

describe('calls', () => {
  test('beyond the limit are refused, and come through once others have ended', async () => {
    const callsMax = 100
    await start({ load: { callsMax } })
    const client = session()
    const streams = Array.from({ length: callsMax }, () => client.request(callHeaders('Lookup')))
    for (const stream of streams) stream.on('error', () => {})
    const refused = { code: 'RESOURCE_EXHAUSTED', message: expect.stringMatching(/calls.*--max-calls/) }
    const beyond = async (): Promise<void> =>
      expect(await wire.send('p', 'Lookup', { keys: [keyOf('a')] })).toMatchObject(refused)
    await eventually(beyond)
    client.destroy()
    await expectServingAgain()
  })

  test('whose requests do not end are bounded in bytes', async () => {
    await start({ load: { requestBytesMax: 8 * megabyte } })
    const head = Buffer.alloc(5)
    head.writeUInt32BE(3 * megabyte, 1)
    const half = Buffer.concat([head, Buffer.alloc(2 * megabyte)])
    const client = session()
    const statuses: unknown[] = []
    for (let i = 0; i < 6; i++) {
      const stream = client.request(callHeaders('Commit'))
      stream.on('error', () => {})
      stream.on('response', (headers) => statuses.push([headers['grpc-status'], String(headers['grpc-message'])]))
      stream.write(half)
    }
    await until(() => statuses.length >= 2)
    expect(statuses[0]).toEqual(['8', expect.stringMatching(/requests under way.*--max-request-bytes/)])
    client.destroy()
    await expectServingAgain()
  })

  test('cancelled by the thousand cost their session at most', async () => {
    await start()
    for (let rounds = 0; rounds < (isDeep ? 50 : 3); rounds++) {
      const client = session()
      for (let i = 0; i < 1000 && !client.destroyed; i++) {
        const stream = client.request(callHeaders('Lookup'))
        stream.on('error', () => {})
        stream.close(8)
      }
      await sleep(20)
    }
    await expectServing()
  })
})

describe('dear calls', () => {
  test('of one connection by the hundred leave room for the calls of others', async () => {
    await start()
    const entities = isDeep ? 10_000 : 4000
    for (let from = 0; from < entities; from += 500) {
      const mutations = Array.from({ length: 500 }, (_, i) => ({
        upsert: { key: keyOf(`${from + i}`), properties: {} },
      }))
      expect(await wire.send('p', 'Commit', { mode: 'NON_TRANSACTIONAL', mutations })).toMatchObject({ code: 'OK' })
    }
    const count = { aggregationQuery: { nestedQuery: { kind: [{ name: 'K' }] }, aggregations: [{ count: {} }] } }
    const heavy = await openWire('gRPC', gateway)
    const calls = isDeep ? 1000 : 200
    let answered = 0
    const all = Array.from({ length: calls }, async () => {
      const answer = await heavy.send('p', 'RunAggregationQuery', count)
      answered++
      return answer
    })
    // One lookup after the other, for as long as the counts take.
    let lookups = 0
    for (; answered < calls; lookups++) {
      expect(await wire.send('p', 'Lookup', { keys: [keyOf('7')] })).toMatchObject({ code: 'OK' })
    }
    for (const answer of await Promise.all(all)) expect(answer).toMatchObject({ code: 'OK' })
    heavy.close()
    // Without turns all counts that are read at once come before the second lookup, or the third.
    expect(lookups).toBeGreaterThan(calls / 20)
  })
})

describe('floods', () => {
  test.each([
    ['settings', settings],
    ['pings', Buffer.from('0000080600000000000102030405060708', 'hex')],
    ['empty frames', Buffer.from('000000000000000001', 'hex')],
  ])('of %s end their connection or are borne', async (_, frame) => {
    await start({ silenceMs: 200 })
    const socket = await raw()
    socket.removeAllListeners('error')
    socket.on('error', () => {})
    // It does not read what it is answered.
    socket.pause()
    socket.write(Buffer.concat([preface, settings]))
    const flood = Buffer.concat(Array.from({ length: 1000 }, () => frame))
    for (let i = 0; i < (isDeep ? 1000 : 50) && !socket.destroyed; i++) {
      socket.write(flood)
      if (i % 10 === 0) await sleep(1)
    }
    await sleep(50)
    await expectServing()
  })

  test('of headers are refused', async () => {
    await start()
    const client = session()
    const huge = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-${i}`, 'y'.repeat(4000)]))
    const stream = client.request({ ...callHeaders('Lookup'), ...huge })
    stream.on('error', () => {})
    await sleep(100)
    await expectServing()
  })
})

describe('unread answers', () => {
  const unreadBytesMax = 8 * megabyte
  const lookups = isDeep ? 400 : 40

  beforeEach(async () => {
    await start({ load: { unreadBytesMax } })
    await put('large', megabyte - 1000)
  })

  test('over gRPC are cut off, oldest first, and others are served', async () => {
    const request = framed(encodeRequest('Lookup', { projectId: 'p', keys: [keyOf('large')] }))
    const client = session({ settings: { initialWindowSize: 0 } })
    let closed = false
    client.on('close', () => {
      closed = true
    })
    for (let i = 0; i < lookups && !client.destroyed; i++) {
      const stream = client.request(callHeaders('Lookup'))
      stream.on('error', () => {})
      stream.end(request)
    }
    await until(() => closed)
    await expectServing()
  })

  test('over HTTP are cut off, oldest first, and others are served', async () => {
    const body = JSON.stringify({ keys: [keyOf('large')] })
    const head = `POST /v1/projects/p:lookup HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${body.length}\r\n\r\n`
    let closed = 0
    for (let i = 0; i < lookups; i++) {
      const socket = await raw()
      socket.removeAllListeners('error')
      socket.on('error', () => {})
      socket.on('close', () => {
        closed++
      })
      socket.pause()
      socket.write(head + body)
    }
    await expectServing()
    // What the system took into its own buffers is not unread for us; what it did not take is bounded.
    await sleep(200)
    await expectServing()
    expect(closed).toBeLessThan(lookups)
  })

  test('do not make the server grow', async () => {
    const request = framed(encodeRequest('Lookup', { projectId: 'p', keys: [keyOf('large')] }))
    const before = process.memoryUsage().arrayBuffers
    for (let round = 0; round < 5; round++) {
      const client = session({ settings: { initialWindowSize: 0 } })
      for (let i = 0; i < lookups && !client.destroyed; i++) {
        const stream = client.request(callHeaders('Lookup'))
        stream.on('error', () => {})
        stream.end(request)
      }
      await until(() => client.destroyed)
    }
    await expectServing()
    globalThis.gc?.()
    expect((process.memoryUsage().arrayBuffers - before) / megabyte).toBeLessThan(5 * lookups)
  })
})
