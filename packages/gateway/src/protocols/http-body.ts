/**
 * Bodies of HTTP requests. A body above {@link bodyBytesMax} is answered 413 and its rest is dropped; so is a compressed one that becomes
 * larger than that.
 */
import type { IncomingMessage } from 'node:http'
import { invalidArgument } from '@sixtables/engine'
import { decompressed } from './gzip.ts'
import { BodyAborted, BodyTooLarge, bodyBytesMax } from './http-calls.ts'

export interface BodyReader {
  readonly request: IncomingMessage
  /** Counts more bytes, received or decompressed. An error that it throws ends the reading. */
  take(bytes: number): void
  /** Gives back all bytes that were counted. */
  drop(): void
}

/** The body of a request, decompressed. Admission counts its bytes until the request is answered. */
export function readBody(exchange: BodyReader): Promise<Buffer> {
  const encoding = exchange.request.headers['content-encoding']
  const body = new Promise<Buffer>((resolve, reject) => collect(exchange, { resolve, reject }))
  return encoding === undefined || encoding === 'identity' ? body : decoded(exchange, body, encoding)
}

async function decoded(exchange: BodyReader, body: Promise<Buffer>, encoding: string): Promise<Buffer> {
  const bytes = await body
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw invalidArgument(`content-encoding "${encoding}" is not supported; gzip is`)
  }
  const tooLarge = (): Error => new BodyTooLarge()
  return decompressed(bytes, { bytesMax: bodyBytesMax, tooLarge, take: (count) => exchange.take(count) })
}

interface Waiting {
  resolve(body: Buffer): void
  reject(error: unknown): void
}

function collect(exchange: BodyReader, waiting: Waiting): void {
  const { request } = exchange
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
    waiting.reject(new BodyTooLarge())
    return
  }
  // An idle connection keeps its last request with these listeners: at the end they let go of the body.
  let caller: Waiting | undefined = waiting
  const chunks: Buffer[] = []
  let bytes = 0
  // The listeners stay away from the rest, which is dropped.
  const refuse = (error: unknown): void => {
    request.off('data', collected)
    chunks.length = 0
    exchange.drop()
    caller?.reject(error)
  }
  const collected = (chunk: Buffer): void => {
    bytes += chunk.length
    try {
      exchange.take(chunk.length)
    } catch (error) {
      refuse(error)
      return
    }
    if (bytes > bodyBytesMax) refuse(new BodyTooLarge())
    else chunks.push(chunk)
  }
  request.on('data', collected)
  request.on('end', () => {
    const [first] = chunks
    caller?.resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
    caller = undefined
    chunks.length = 0
  })
  // Emitted when the client goes away in the middle.
  request.on('error', () => caller?.reject(new BodyAborted()))
}
