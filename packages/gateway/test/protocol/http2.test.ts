/** Our HTTP/2, spoken to frame by frame. */
import type { LookupRequest, LookupResult } from '@sixtables/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { errorCode, flag, frame, frameType, setting, uint32 } from '../../src/protocols/http2/frames.ts'
import { encodeHeaders } from '../../src/protocols/http2/hpack.ts'
import { engineDouble } from '../support/engines.ts'
import { grpcClient, sleep, testGateway, until } from '../support/gateway.ts'
import { framed } from '../support/grpc-client.ts'
import { Http2Peer, requestHeaders, settings } from '../support/http2-peer.ts'
import { lookupOf, request } from '../support/messages.ts'

const allMissing = ({ keys }: LookupRequest): LookupResult => ({
  found: [],
  missing: keys,
  deferred: [],
  readTime: 1_000_001n,
})
const engine = engineDouble({ lookup: (_context, asked) => allMissing(asked) })
const body = framed(request('Lookup', lookupOf('a')))
const manyKeys = framed(request('Lookup', lookupOf(...Array.from({ length: 3000 }, (_, i) => `name-${i}`))))

async function peer(first?: Buffer): Promise<Http2Peer> {
  const { port } = await testGateway(engine)
  return first === undefined ? Http2Peer.connect(port) : Http2Peer.connect(port, first)
}

/** The error code of the GOAWAY with which the connection ends. */
async function goodbye(connected: Http2Peer): Promise<number> {
  await connected.closed
  return connected.of(frameType.goAway).at(-1)?.payload.readUInt32BE(4) ?? -1
}

describe('a connection', () => {
  test('begins with SETTINGS, acknowledges ours, and opens its window', async () => {
    const connected = await peer()
    await until(() => connected.of(frameType.settings).length === 2)
    const [first, second] = connected.of(frameType.settings)
    expect([first?.flags, second?.flags, second?.payload.length]).toEqual([0, flag.ack, 0])
    expect(connected.frames()[0]?.type).toBe(frameType.settings)
    expect((await connected.waitFor(frameType.windowUpdate, 0)).payload.readUInt32BE(0)).toBeGreaterThan(1 << 24)
  })

  test('answers PING with the same bytes, and no answer to an answer', async () => {
    const connected = await peer()
    connected.send(frame(frameType.ping, flag.ack, 0, Buffer.from('ignored!')))
    connected.send(frame(frameType.ping, 0, 0, Buffer.from('12345678')))
    expect((await connected.waitFor(frameType.ping)).payload.toString()).toBe('12345678')
    expect(connected.of(frameType.ping)).toHaveLength(1)
  })

  test('passes over priorities and frames that it does not know', async () => {
    const connected = await peer()
    connected.send(frame(frameType.priority, 0, 1, Buffer.alloc(5)), frame(0xbe, 0xff, 7, Buffer.from('anything')))
    connected.request(1, body)
    expect((await connected.answerOf(1)).status).toBe('0')
  })

  test('takes frames that come byte by byte', async () => {
    const connected = await peer()
    const all = Buffer.concat([
      frame(frameType.headers, 4, 1, encodeHeaders(requestHeaders)),
      frame(frameType.data, 1, 1, body),
    ])
    for (const byte of all) {
      connected.send(Buffer.of(byte))
      await sleep(0)
    }
    expect((await connected.answerOf(1)).status).toBe('0')
  })

  test('takes padding, priority fields and header blocks in pieces', async () => {
    const connected = await peer()
    const block = encodeHeaders(requestHeaders)
    const padded = Buffer.concat([Buffer.of(3), Buffer.alloc(5), block.subarray(0, 10), Buffer.alloc(3)])
    connected.send(
      frame(frameType.headers, flag.padded | flag.priority, 1, padded),
      frame(frameType.continuation, 0, 1, block.subarray(10, 20)),
      frame(frameType.continuation, flag.endHeaders, 1, block.subarray(20)),
      frame(frameType.data, flag.padded, 1, Buffer.concat([Buffer.of(2), body.subarray(0, 6), Buffer.alloc(2)])),
      frame(frameType.data, flag.padded | flag.endStream, 1, Buffer.concat([Buffer.of(0), body.subarray(6)])),
    )
    expect((await connected.answerOf(1)).status).toBe('0')
  })

  test('takes trailers at the end of a request', async () => {
    const connected = await peer()
    connected.open(1)
    connected.send(frame(frameType.data, 0, 1, body), frame(frameType.headers, 5, 1, encodeHeaders([['x-end', 'yes']])))
    expect((await connected.answerOf(1)).status).toBe('0')
  })

  const broken: [string, Buffer[], number][] = [
    ['does not begin with SETTINGS', [frame(frameType.ping, 0, 0, Buffer.alloc(8))], errorCode.protocol],
    [
      'sends a frame that is too large',
      [settings(), frame(frameType.data, 0, 1, Buffer.alloc(16_385))],
      errorCode.frameSize,
    ],
    ['sends data on stream 0', [settings(), frame(frameType.data, 0, 0, body)], errorCode.protocol],
    [
      'sends data on a stream that it did not open',
      [settings(), frame(frameType.data, 0, 5, body)],
      errorCode.protocol,
    ],
    [
      'opens an even stream',
      [settings(), frame(frameType.headers, 5, 2, encodeHeaders(requestHeaders))],
      errorCode.protocol,
    ],
    ['pushes', [settings(), frame(frameType.pushPromise, 4, 1, Buffer.alloc(4))], errorCode.protocol],
    ['continues nothing', [settings(), frame(frameType.continuation, 4, 1)], errorCode.protocol],
    [
      'interrupts a header block',
      [settings(), frame(frameType.headers, 0, 1), frame(frameType.ping, 0, 0, Buffer.alloc(8))],
      errorCode.protocol,
    ],
    ['sends SETTINGS on a stream', [settings(), frame(frameType.settings, 0, 1)], errorCode.protocol],
    ['sends half a setting', [settings(), frame(frameType.settings, 0, 0, Buffer.alloc(5))], errorCode.frameSize],
    ['sets a window beyond measure', [settings([setting.initialWindowSize, 0x8000_0000])], errorCode.flowControl],
    ['sets a frame size that is too small', [settings([setting.maxFrameSize, 100])], errorCode.protocol],
    ['sets ENABLE_PUSH to 2', [settings([setting.enablePush, 2])], errorCode.protocol],
    ['sends a PING of 7 bytes', [settings(), frame(frameType.ping, 0, 0, Buffer.alloc(7))], errorCode.frameSize],
    [
      'resets a stream that it did not open',
      [settings(), frame(frameType.resetStream, 0, 9, uint32(8))],
      errorCode.protocol,
    ],
    ['moves the window by nothing', [settings(), frame(frameType.windowUpdate, 0, 0, uint32(0))], errorCode.protocol],
    [
      'moves the window too far',
      [settings(), frame(frameType.windowUpdate, 0, 0, uint32(0x7fff_ffff))],
      errorCode.flowControl,
    ],
    [
      'sends a broken header block',
      [settings(), frame(frameType.headers, 5, 1, Buffer.of(0xbe))],
      errorCode.compression,
    ],
    [
      'has more padding than payload',
      [settings(), frame(frameType.headers, 0xd, 1, Buffer.concat([Buffer.of(200), encodeHeaders(requestHeaders)]))],
      errorCode.protocol,
    ],
    [
      'goes on with a header block for ever',
      [
        settings(),
        frame(frameType.headers, 0, 1),
        ...Array.from({ length: 100 }, () => frame(frameType.continuation, 0, 1)),
      ],
      errorCode.enhanceYourCalm,
    ],
  ]
  test.each(broken)('that %s is ended with the reason, and no other', async (_name, [first, ...rest], code) => {
    const gateway = await testGateway(engine)
    const other = await Http2Peer.connect(gateway.port)
    const connected = await Http2Peer.connect(gateway.port, first)
    connected.send(...rest)
    expect(await goodbye(connected)).toBe(code)
    other.request(1, body)
    expect((await other.answerOf(1)).status).toBe('0')
  })

  test('that sends anything at all does not end the server', async () => {
    const gateway = await testGateway(engine)
    const anyFrame = fc
      .record({
        type: fc.integer({ min: 0, max: 11 }),
        flags: fc.integer({ min: 0, max: 255 }),
        stream: fc.integer({ min: 0, max: 5 }),
        payload: fc.oneof(
          fc.uint8Array({ maxLength: 40 }),
          fc.constant(encodeHeaders(requestHeaders)),
          fc.constant(body),
          fc.constant(uint32(1000)),
        ),
      })
      .map(({ type, flags, stream, payload }) => frame(type, flags, stream, payload))
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            anyFrame,
            fc.uint8Array().map((bytes) => Buffer.from(bytes)),
          ),
          { maxLength: 12 },
        ),
        async (frames) => {
          const connected = await Http2Peer.connect(gateway.port)
          connected.send(...frames)
          await sleep(2)
        },
      ),
      { numRuns: 100 },
    )
    const connected = await Http2Peer.connect(gateway.port)
    connected.request(1, body)
    expect((await connected.answerOf(1)).status).toBe('0')
  })
})

describe('a stream', () => {
  test('of a request without verb or path is reset', async () => {
    const connected = await peer()
    connected.open(1, 5, [[':method', 'POST']])
    connected.open(3, 5, [[':path', '/']])
    for (const stream of [1, 3]) {
      expect((await connected.waitFor(frameType.resetStream, stream)).payload.readUInt32BE(0)).toBe(errorCode.protocol)
    }
    connected.request(5, body)
    expect((await connected.answerOf(5)).status).toBe('0')
  })

  test('that was answered before its request ended is reset without an error, and what still comes is passed over', async () => {
    const connected = await peer()
    connected.open(1)
    connected.send(frame(frameType.data, 0, 1, Buffer.of(0, 0xff, 0, 0, 0)))
    expect((await connected.answerOf(1)).status).toBe('8')
    expect((await connected.waitFor(frameType.resetStream, 1)).payload.readUInt32BE(0)).toBe(errorCode.none)
    connected.send(frame(frameType.data, 1, 1, Buffer.alloc(1000)), frame(frameType.windowUpdate, 0, 1, uint32(5)))
    connected.request(3, body)
    expect((await connected.answerOf(3)).status).toBe('0')
  })

  test('that goes on after its end is reset', async () => {
    const waiting = engineDouble({ lookup: () => new Promise(() => {}) })
    const connected = await Http2Peer.connect((await testGateway(waiting)).port)
    connected.request(1, body)
    connected.send(frame(frameType.data, 0, 1, body))
    expect((await connected.waitFor(frameType.resetStream, 1)).payload.readUInt32BE(0)).toBe(errorCode.streamClosed)
  })

  test('is told of its end once, whatever comes afterwards', async () => {
    const signals: (AbortSignal | undefined)[] = []
    const waiting = engineDouble({
      lookup: (context) => {
        signals.push(context.signal)
        return new Promise(() => {})
      },
    })
    const connected = await Http2Peer.connect((await testGateway(waiting)).port)
    connected.request(1, body)
    await until(() => signals.length === 1)
    const reset = frame(frameType.resetStream, 0, 1, uint32(8))
    connected.send(reset, reset, frame(frameType.data, 1, 1, body))
    await until(() => signals[0]?.aborted === true)
    await sleep(10)
    expect(signals).toHaveLength(1)
  })
})

describe('flow control', () => {
  const sent = (connected: Http2Peer, stream: number): number =>
    connected.of(frameType.data, stream).reduce((bytes, { payload }) => bytes + payload.length, 0)

  test('sends no more than the window of a stream, and the rest as it grows', async () => {
    const connected = await peer(settings([setting.initialWindowSize, 1000]))
    connected.open(3)
    for (let at = 0; at < manyKeys.length; at += 16_384) {
      const end = Math.min(at + 16_384, manyKeys.length)
      connected.send(frame(frameType.data, end === manyKeys.length ? 1 : 0, 3, manyKeys.subarray(at, end)))
    }
    await until(() => sent(connected, 3) === 1000)
    await sleep(20)
    expect(sent(connected, 3)).toBe(1000)
    connected.send(frame(frameType.windowUpdate, 0, 3, uint32(500)))
    await until(() => sent(connected, 3) === 1500)
    // A larger initial window counts for streams that are open, too.
    connected.send(settings([setting.initialWindowSize, 2000]))
    await until(() => sent(connected, 3) === 2500)
    connected.send(
      frame(frameType.windowUpdate, 0, 3, uint32(10_000_000)),
      frame(frameType.windowUpdate, 0, 0, uint32(10_000_000)),
    )
    const { status, body: answer } = await connected.answerOf(3)
    expect([status, answer.readUInt32BE(1)]).toEqual(['0', answer.length - 5])
  })

  test('sends no more than the window of the connection, and lets small answers wait with it', async () => {
    const connected = await peer(settings([setting.initialWindowSize, 10_000_000]))
    const open = (stream: number): void => {
      connected.open(stream)
      for (let at = 0; at < manyKeys.length; at += 16_384) {
        const end = Math.min(at + 16_384, manyKeys.length)
        connected.send(frame(frameType.data, end === manyKeys.length ? 1 : 0, stream, manyKeys.subarray(at, end)))
      }
    }
    open(1)
    connected.request(3, body)
    await until(() => sent(connected, 1) + sent(connected, 3) === 65_535)
    await sleep(20)
    expect(sent(connected, 1) + sent(connected, 3)).toBe(65_535)
    connected.send(frame(frameType.windowUpdate, 0, 0, uint32(10_000_000)))
    expect((await connected.answerOf(1)).status).toBe('0')
    expect((await connected.answerOf(3)).status).toBe('0')
  })

  test('sends frames no larger than the client takes', async () => {
    const connected = await peer(settings([setting.initialWindowSize, 10_000_000], [setting.maxFrameSize, 20_000]))
    connected.send(frame(frameType.windowUpdate, 0, 0, uint32(10_000_000)))
    connected.open(1)
    for (let at = 0; at < manyKeys.length; at += 16_384) {
      const end = Math.min(at + 16_384, manyKeys.length)
      connected.send(frame(frameType.data, end === manyKeys.length ? 1 : 0, 1, manyKeys.subarray(at, end)))
    }
    await connected.answerOf(1)
    const sizes = connected.of(frameType.data, 1).map(({ payload }) => payload.length)
    expect(Math.max(...sizes)).toBe(20_000)
  })

  test('keeps the connection open to more than its first window of requests', async () => {
    const client = await grpcClient(await testGateway(engine))
    const large = request('Lookup', {
      projectId: 'p',
      keys: [{ path: [{ kind: 'K', name: 'n' }] }],
      propertyMask: null,
    })
    // 20 messages of 8 MB, of which the server refuses nothing and keeps nothing.
    const filler = Buffer.concat([large, Buffer.of(0xa2, 0x06, 0x80, 0x80, 0x80, 0x04), Buffer.alloc(8 * 1024 * 1024)])
    for (let i = 0; i < 20; i++) expect((await client.call('Lookup', filler)).status).toBe(0)
  })

  test('ends a stream that sends without end', async () => {
    const connected = await peer()
    connected.open(1)
    connected.send(frame(frameType.data, 0, 1, Buffer.of(0, 0, 0x90, 0, 0)))
    const chunk = frame(frameType.data, 0, 1, Buffer.alloc(16_384))
    for (let i = 0; i < 1000 && connected.of(frameType.resetStream, 1).length === 0; i++) {
      connected.send(chunk)
      if (i % 100 === 0) await sleep(1)
    }
    expect((await connected.answerOf(1)).status).toBe('13')
  })

  test('reads no further from a client that does not read, and goes on when it does', async () => {
    const large = engineDouble({
      lookup: (_context, asked) => ({ ...allMissing(asked), missing: Array(300_000).fill(asked.keys[0]) }),
    })
    const client = await grpcClient(await testGateway(large))
    const results = await Promise.all(
      Array.from({ length: 5 }, () => client.call('Lookup', request('Lookup', lookupOf('a')))),
    )
    expect(results.map(({ status, body: answer }) => [status, answer.length > 4_000_000])).toEqual(
      Array(5).fill([0, true]),
    )
  })
})

describe('the end of a server', () => {
  test('is told by GOAWAY; streams that are open are answered, later ones refused', async () => {
    let release = (): void => {}
    const slow = engineDouble({
      lookup: (_context, asked) =>
        new Promise((resolve) => {
          release = () => resolve(allMissing(asked))
        }),
    })
    const gateway = await testGateway(slow)
    const connected = await Http2Peer.connect(gateway.port)
    connected.request(1, body)
    await sleep(30)
    const closed = gateway.close()
    const farewell = await connected.waitFor(frameType.goAway)
    expect([farewell.payload.readUInt32BE(0), farewell.payload.readUInt32BE(4)]).toEqual([1, errorCode.none])
    connected.request(3, body)
    expect((await connected.waitFor(frameType.resetStream, 3)).payload.readUInt32BE(0)).toBe(errorCode.refusedStream)
    release()
    expect((await connected.answerOf(1)).status).toBe('0')
    await connected.closed
    await closed
  })
})
