/**
 * One connection of the load generator: unary calls of gRPC, many at once.
 *
 *   ask(method, message)  ─▶ HEADERS + DATA                DATA, HEADERS(END_STREAM) ─▶ the answer's bytes
 *
 * X1  An answer without a message is a failed call: gRPC sends errors in trailers alone.
 * X2  No more is sent than the server's windows allow; what is left waits.
 *
 * A client of node:http2 spends about as much of its core on a call as the server it measures; this one a fifth of that, so
 * that the figures are the server's: frames are written from bytes made beforehand, and of the answers only DATA is looked into.
 *
 * Known: RFC 9113 (frames), RFC 7541 (header compression: static table, literals with incremental indexing).
 */
import { connect, type Socket } from 'node:net'
import { type Caller, CallFailed } from './caller.ts'
import type { Bytes, MethodName } from './messages.ts'

const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
} as const
const flags = { ack: 1, endStream: 1, endHeaders: 4 } as const
const windowMax = 0x7fff_ffff
const windowDefault = 65_535

function frame(type: number, flag: number, stream: number, payload: Bytes): Buffer {
  const bytes = Buffer.allocUnsafe(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flag
  bytes.writeUInt32BE(stream, 5)
  bytes.set(payload, 9)
  return bytes
}

function windowUpdate(stream: number, increment: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(increment)
  return frame(frameTypes.windowUpdate, 0, stream, payload)
}

/** The preface, settings with the largest windows, and no server push. */
function opening(): Buffer {
  const settings = Buffer.alloc(12)
  settings.writeUInt16BE(2, 0)
  settings.writeUInt32BE(0, 2)
  settings.writeUInt16BE(4, 6)
  settings.writeUInt32BE(windowMax, 8)
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(frameTypes.settings, 0, 0, settings),
    windowUpdate(0, windowMax - windowDefault),
  ])
}

/**
 * The header blocks of the calls of one connection. The first call of a method names its path; all else is indexed from the
 * first block on, as real clients do.
 */
class HeaderBlocks {
  readonly #authority: string
  /** Names in the dynamic table, newest last. */
  readonly #indexed: string[] = []

  constructor(authority: string) {
    this.#authority = authority
  }

  of(path: string): Bytes {
    const block: number[] = [0x83, 0x86]
    this.#add(block, 4, ':path', path)
    this.#add(block, 1, ':authority', this.#authority)
    this.#add(block, 31, 'content-type', 'application/grpc')
    this.#add(block, 0, 'te', 'trailers')
    return Uint8Array.from(block)
  }

  #add(block: number[], staticName: number, name: string, value: string): void {
    const place = this.#indexed.indexOf(`${name}: ${value}`)
    if (place >= 0) {
      // The newest entry is 62.
      block.push(0x80 | (62 + this.#indexed.length - 1 - place))
      return
    }
    block.push(0x40 | staticName)
    if (staticName === 0) block.push(name.length, ...Buffer.from(name))
    block.push(value.length, ...Buffer.from(value))
    this.#indexed.push(`${name}: ${value}`)
  }
}

/** A gRPC message in its envelope: not compressed, length, bytes. */
function grpcMessage(message: Bytes): Buffer {
  const bytes = Buffer.allocUnsafe(5 + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}

interface Stream {
  readonly method: MethodName
  readonly resolve: (answer: Bytes) => void
  readonly reject: (error: Error) => void
  chunks: Buffer[]
  window: number
}

interface Waiting {
  readonly id: number
  bytes: Buffer
}

export class Connection implements Caller {
  readonly port: number
  readonly #socket: Socket
  readonly #headers: HeaderBlocks
  readonly #streams = new Map<number, Stream>()
  #nextId = 1
  #rest: Buffer = Buffer.alloc(0)
  #window = windowDefault
  #streamWindow = windowDefault
  #received = 0
  readonly #waiting: Waiting[] = []
  #outgoing: Buffer[] = []
  #trouble: Error | undefined

  static open(port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Connection(socket, port)))
    })
  }

  constructor(socket: Socket, port: number) {
    this.port = port
    this.#socket = socket
    this.#headers = new HeaderBlocks(`localhost:${port}`)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
    socket.on('error', (error) => this.#fail(error))
    socket.write(opening())
  }

  ask(method: MethodName, message: Bytes): Promise<Bytes> {
    return new Promise((resolve, reject) => {
      if (this.#trouble !== undefined) throw this.#trouble
      const id = this.#nextId
      this.#nextId += 2
      const block = this.#headers.of(`/google.datastore.v1.Datastore/${method}`)
      this.#streams.set(id, { method, resolve, reject, chunks: [], window: this.#streamWindow })
      this.#write(frame(frameTypes.headers, flags.endHeaders, id, block))
      this.#waiting.push({ id, bytes: grpcMessage(message) })
      this.#sendWaiting()
    })
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.destroy()
  }

  /** Everything of one turn goes out in one write. */
  #write(bytes: Buffer): void {
    if (this.#outgoing.length === 0) {
      queueMicrotask(() => {
        const parts = this.#outgoing
        this.#outgoing = []
        this.#socket.write(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts))
      })
    }
    this.#outgoing.push(bytes)
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]
      const stream = next === undefined ? undefined : this.#streams.get(next.id)
      if (next === undefined || stream === undefined) {
        this.#waiting.shift()
        continue
      }
      const size = Math.min(next.bytes.length, this.#window, stream.window, 16_384)
      if (size === 0) return
      const isLast = size === next.bytes.length
      this.#write(frame(frameTypes.data, isLast ? flags.endStream : 0, next.id, next.bytes.subarray(0, size)))
      this.#window -= size
      stream.window -= size
      if (isLast) this.#waiting.shift()
      else next.bytes = next.bytes.subarray(size)
    }
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    let at = 0
    while (bytes.length - at >= 9) {
      const length = bytes.readUIntBE(at, 3)
      if (bytes.length - at < 9 + length) break
      const payload = bytes.subarray(at + 9, at + 9 + length)
      this.#onFrame(bytes[at + 3] ?? 0, bytes[at + 4] ?? 0, bytes.readUInt32BE(at + 5), payload)
      at += 9 + length
    }
    this.#rest = bytes.subarray(at)
  }

  #onFrame(type: number, flag: number, id: number, payload: Buffer): void {
    switch (type) {
      case frameTypes.data:
        this.#streams.get(id)?.chunks.push(payload)
        this.#received += payload.length
        if (this.#received > windowMax / 4) {
          this.#write(windowUpdate(0, this.#received))
          this.#received = 0
        }
        break
      case frameTypes.headers:
        if ((flag & flags.endStream) !== 0) this.#end(id)
        break
      case frameTypes.reset:
        this.#streams.get(id)?.chunks.splice(0)
        this.#end(id)
        break
      case frameTypes.settings:
        if ((flag & flags.ack) === 0) this.#onSettings(payload)
        break
      case frameTypes.ping:
        if ((flag & flags.ack) === 0) this.#write(frame(frameTypes.ping, flags.ack, 0, payload))
        break
      case frameTypes.windowUpdate: {
        const stream = this.#streams.get(id)
        if (id === 0) this.#window += payload.readUInt32BE()
        else if (stream !== undefined) stream.window += payload.readUInt32BE()
        this.#sendWaiting()
        break
      }
      case frameTypes.goAway:
        this.#fail(new Error(`the server ends the connection: error ${payload.readUInt32BE(4)}`))
        break
    }
  }

  #onSettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== 4) continue
      const size = payload.readUInt32BE(at + 2)
      for (const stream of this.#streams.values()) stream.window += size - this.#streamWindow
      this.#streamWindow = size
    }
    this.#write(frame(frameTypes.settings, flags.ack, 0, new Uint8Array(0)))
    this.#sendWaiting()
  }

  #end(id: number): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    this.#streams.delete(id)
    const [first] = stream.chunks
    if (first === undefined) stream.reject(new CallFailed(stream.method))
    else stream.resolve((stream.chunks.length === 1 ? first : Buffer.concat(stream.chunks)).subarray(5))
  }

  #fail(error: Error): void {
    this.#trouble ??= error
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const { reject } of streams) reject(this.#trouble)
  }
}
