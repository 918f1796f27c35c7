/**
 * What a connection is about to send: small pieces gathered in slabs, large ones as they are, written together once a turn.
 *
 * Z1  A slab's bytes are handed out once: what the socket still holds is never written over.
 */
import type { Socket } from 'node:net'
import { frameHeadBytes, writeHead } from './frames.ts'

const slabBytes = 64 * 1024
/** Payloads from this size on are not copied. */
const largeBytes = 8 * 1024
/** A client that leaves more than this unread is not read either. */
const backlogBytesMax = 1024 * 1024

export class Output {
  readonly #socket: Socket
  #slab: Buffer = Buffer.alloc(0)
  /** The part of the slab that is filled and not yet on its way. */
  #from = 0
  #to = 0
  #parts: Buffer[] = []

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Makes room for `bytes` bytes in one piece. */
  reserve(bytes: number): void {
    if (this.#to + bytes <= this.#slab.length) return
    this.#cut()
    this.#slab = Buffer.allocUnsafeSlow(Math.max(slabBytes, bytes))
    this.#from = 0
    this.#to = 0
  }

  #cut(): void {
    if (this.#to > this.#from) this.#parts.push(this.#slab.subarray(this.#from, this.#to))
    this.#from = this.#to
  }

  /** A frame with this payload. */
  frame(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const { length } = payload
    const isLarge = length >= largeBytes
    this.reserve(frameHeadBytes + (isLarge ? 0 : length))
    this.#to = writeHead(this.#slab, this.#to, { type, flags, stream, length })
    if (!isLarge) {
      this.#slab.set(payload, this.#to)
      this.#to += length
      return
    }
    this.#cut()
    this.#parts.push(Buffer.from(payload.buffer, payload.byteOffset, length))
  }

  /** Hands all to the socket. Answers false when the client is far behind in reading. */
  flush(): boolean {
    this.#cut()
    const parts = this.#parts
    const [first] = parts
    const socket = this.#socket
    if (first === undefined || socket.destroyed) return true
    this.#parts = []
    if (parts.length === 1) socket.write(first)
    else {
      socket.cork()
      for (const part of parts) socket.write(part)
      socket.uncork()
    }
    return socket.writableLength < backlogBytesMax
  }
}
