/**
 * HTTP/2 as a load generator speaks it, and nothing more: frames are written from bytes made beforehand, and of the answers
 * only DATA is looked into.
 *
 * A client of node:http2 spends about as much of its core on a call as the server it measures; this one a fifth of that, so
 * that the figures are the server's. It is part of the benchmarks and of nothing that users run.
 *
 * Known: RFC 9113 (frames), RFC 7541 (header compression: static table, literals with incremental indexing).
 */
import type { Bytes } from './messages.ts'

export const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
export const flags = { ack: 1, endStream: 1, endHeaders: 4 } as const
export const windowMax = 0x7fff_ffff
export const windowDefault = 65_535

export function frame(type: number, flag: number, stream: number, payload: Bytes): Buffer {
  const bytes = Buffer.allocUnsafe(9 + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = type
  bytes[4] = flag
  bytes.writeUInt32BE(stream, 5)
  bytes.set(payload, 9)
  return bytes
}

export function windowUpdate(stream: number, increment: number): Buffer {
  const payload = Buffer.allocUnsafe(4)
  payload.writeUInt32BE(increment)
  return frame(frameTypes.windowUpdate, 0, stream, payload)
}

/** The preface, settings with the largest windows, and no server push. */
export function opening(): Buffer {
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
export class HeaderBlocks {
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
export function grpcMessage(message: Bytes): Buffer {
  const bytes = Buffer.allocUnsafe(5 + message.length)
  bytes[0] = 0
  bytes.writeUInt32BE(message.length, 1)
  bytes.set(message, 5)
  return bytes
}
