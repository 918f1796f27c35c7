/**
 * Decompression of requests. Two requests are decompressed at a time, the smallest waiting one first: many "zip bombs", 1 MB that
 * becomes 1 GB, use the memory of two, and a small request does not wait for all of them.
 * The bytes of the result are counted while they are made: a request that passes a limit is given up there.
 */
import { createGunzip } from 'node:zlib'
import { invalidArgument } from '@sixtables/engine'

export interface DecompressionLimits {
  /** Maximum bytes of the result. */
  readonly bytesMax: number
  /** Makes the error for a larger result. */
  tooLarge(): Error
  /** Called with the length of each piece of the result. An error that it throws ends the decompression. */
  take(bytes: number): void
}

/** The cores of a small machine. */
const runningMax = 2

interface Waiting {
  readonly bytes: number
  begin(): void
}

/** In the order of arrival. */
const waiting: Waiting[] = []
let running = 0

/** @throws INVALID_ARGUMENT for bytes that are not gzip; the errors of `limits` */
export async function decompressed(bytes: Buffer, limits: DecompressionLimits): Promise<Buffer> {
  if (running < runningMax) running++
  else await turn(bytes.length)
  try {
    return await inflate(bytes, limits)
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next.begin()
  }
}

/** Resolves when a request of this size may begin. */
function turn(bytes: number): Promise<void> {
  return new Promise((begin) => {
    const at = waiting.findIndex((other) => other.bytes > bytes)
    waiting.splice(at < 0 ? waiting.length : at, 0, { bytes, begin })
  })
}

function inflate(bytes: Buffer, { bytesMax, tooLarge, take }: DecompressionLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const gunzip = createGunzip()
    const pieces: Buffer[] = []
    let length = 0
    gunzip.on('data', (piece: Buffer) => {
      try {
        length += piece.length
        if (length > bytesMax) throw tooLarge()
        take(piece.length)
        pieces.push(piece)
      } catch (error) {
        pieces.length = 0
        gunzip.removeAllListeners('data').destroy()
        reject(error)
      }
    })
    gunzip.on('end', () => resolve(Buffer.concat(pieces, length)))
    gunzip.on('error', (error) => {
      reject(invalidArgument(`the compressed message is not valid gzip: ${error.message}`))
    })
    gunzip.end(bytes)
  })
}
