/** The client's side of an HTTP/2 connection, frame by frame. */

import { frame, frameType, uint32 } from '../../src/protocols/http2/frames.ts'
import { encodeHeaders, HpackDecoder } from '../../src/protocols/http2/hpack.ts'
import { type RawConnection, rawConnection, until } from './gateway.ts'

export interface SeenFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const requestHeaders: readonly (readonly [string, string])[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/google.datastore.v1.Datastore/Lookup'],
  [':authority', 'localhost'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
]

export function settings(...pairs: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.concat(pairs.map(([id, value]) => Buffer.concat([Buffer.of(0, id), uint32(value)])))
  return frame(frameType.settings, 0, 0, payload)
}

export class Http2Peer {
  readonly #raw: RawConnection
  readonly closed: Promise<Buffer>

  private constructor(raw: RawConnection) {
    this.#raw = raw
    this.closed = raw.closed
  }

  /** Connects and sends preface and SETTINGS. */
  static async connect(port: number, first: Buffer = settings()): Promise<Http2Peer> {
    const address = { host: '127.0.0.1', port }
    const peer = new Http2Peer(await rawConnection({ ...address, addresses: [address], close: async () => {} }))
    peer.send(preface, first)
    return peer
  }

  send(...frames: readonly Buffer[]): void {
    this.#raw.socket.write(Buffer.concat(frames))
  }

  /** What came so far, whole frames only. */
  frames(): SeenFrame[] {
    const bytes = this.#raw.received()
    const seen: SeenFrame[] = []
    for (let at = 0; at + 9 <= bytes.length; ) {
      const end = at + 9 + bytes.readUIntBE(at, 3)
      if (end > bytes.length) break
      const [type = 0, flags = 0] = [bytes[at + 3], bytes[at + 4]]
      seen.push({ type, flags, stream: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + 9, end) })
      at = end
    }
    return seen
  }

  of(type: number, stream?: number): SeenFrame[] {
    return this.frames().filter((one) => one.type === type && (stream === undefined || one.stream === stream))
  }

  async waitFor(type: number, stream?: number): Promise<SeenFrame> {
    await until(() => this.of(type, stream).length > 0)
    return this.of(type, stream).at(-1) ?? { type, flags: 0, stream: 0, payload: Buffer.alloc(0) }
  }

  /** Waits for the end of a stream; answers its `grpc-status` and body. */
  async answerOf(stream: number): Promise<{ status: string | undefined; body: Buffer }> {
    await until(() => this.frames().some((one) => one.stream === stream && one.type !== 3 && (one.flags & 1) === 1))
    const fields = new Map<string, string>()
    // What we are sent uses no table, so that the blocks can be read alone.
    for (const { payload } of this.of(frameType.headers, stream)) {
      new HpackDecoder().decode(payload, (name, value) => fields.set(name, value))
    }
    const body = Buffer.concat(this.of(frameType.data, stream).map(({ payload }) => payload))
    return { status: fields.get('grpc-status'), body }
  }

  /** Sends the headers of a request. */
  open(stream: number, flags = 4, headers = requestHeaders): void {
    this.send(frame(frameType.headers, flags, stream, encodeHeaders(headers)))
  }

  /** Sends a whole request. */
  request(stream: number, body: Buffer): void {
    this.open(stream)
    this.send(frame(frameType.data, 1, stream, body))
  }
}
