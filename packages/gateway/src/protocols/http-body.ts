/** Bodies of HTTP requests, bounded before and after decompression. */
import type { IncomingMessage } from 'node:http'
import { invalidArgument, limits } from '@sixtables/engine'
import { tooLarge } from './grpc-messages.ts'
import { decompressed } from './gzip.ts'

/** Larger bodies are not read to their end. Measured: both of Google's emulators answer 413 somewhere above 10.6 MB. */
export const bodyBytesMax: number = 2 * limits.requestBytesMax

/** The body is larger than {@link bodyBytesMax}. */
export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The client went away before its body was complete. */
export class BodyAborted extends Error {
  override readonly name = 'BodyAborted'
}

/** @param count - told the bytes of each piece; what it throws ends the reading */
export async function readBody(request: IncomingMessage, count: (bytes: number) => void): Promise<Buffer> {
  const body = await collect(request, count)
  const encoding = request.headers['content-encoding']
  if (encoding === undefined || encoding === 'identity') return body
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw invalidArgument(`content-encoding "${encoding}" is not supported; gzip is`)
  }
  return decompressed(body, bodyBytesMax, () => new BodyTooLarge())
}

function collect(request: IncomingMessage, count: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
      reject(new BodyTooLarge())
      return
    }
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      try {
        count(chunk.length)
      } catch (error) {
        chunks.length = 0
        reject(error)
        return
      }
      if (bytes > bodyBytesMax) {
        chunks.length = 0
        reject(new BodyTooLarge())
      } else chunks.push(chunk)
    })
    request.on('end', () => {
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
    })
    request.on('error', () => reject(new BodyAborted()))
    request.on('aborted', () => reject(new BodyAborted()))
  })
}

/** Refuses a message above the API's limit, whatever its form in the body was. */
export function checkMessageSize(message: Buffer): void {
  if (message.length > limits.requestBytesMax) throw tooLarge(message.length, 'the request')
}
