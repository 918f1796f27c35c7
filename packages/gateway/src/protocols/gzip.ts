/**
 * Compressed requests.
 *
 * Z1  What counts is the bytes that come out, while they come: a request that passes a limit is given up there.   gzip.test.ts
 * Z2  A few are decompressed at a time, those of the fewest bytes first: a flood of requests that grow a thousandfold takes the
 *     memory of a few, and a small request does not wait for all of them.                                    same
 */
import { createGunzip } from 'node:zlib'
import { invalidArgument } from '@sixtables/engine'

export interface DecompressionLimits {
  /** Largest result, in bytes. */
  readonly bytesMax: number
  /** The error for a larger one. */
  tooLarge(): Error
  /** Told of each piece of the result. What it throws ends the decompression. */
  take(bytes: number): void
}

/** As many as a small machine has cores (Z2). */
const runningMax = 2

interface Waiting {
  readonly bytes: number
  begin(): void
}

/** In the order in which they begin. */
const waiting: Waiting[] = []
let running = 0

/** The bytes that were compressed. @throws INVALID_ARGUMENT when they are not gzip; what the limits throw (Z1) */
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

/** Resolves when one that ends gives its place to a request of so many bytes. */
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
