/**
 * Bodies of HTTP requests. A body above {@link bodyBytesMax} is answered 413 and its rest is dropped; so is a compressed one that becomes
 * larger than that. The message in a body has the API's own limit besides.
 */
import { invalidArgument, limits } from '@sixtables/engine'
import { tooLarge } from './grpc-messages.ts'
import { decompressed } from './gzip.ts'
import type { Exchange } from './http-exchange.ts'

/** The rest of a larger body is not read. Measured: both of Google's emulators answer 413 somewhere above 10.6 MB. */
export const bodyBytesMax: number = 2 * limits.requestBytesMax

export class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge'
}

/** The client went away before its body was complete. */
export class BodyAborted extends Error {
  override readonly name = 'BodyAborted'
}

/** The body of a request, decompressed. Admission counts its bytes until the request is answered. */
export function readBody(exchange: Exchange): Promise<Buffer> {
  const encoding = exchange.request.headers['content-encoding']
  const body = new Promise<Buffer>((resolve, reject) => collect(exchange, resolve, reject))
  return encoding === undefined || encoding === 'identity' ? body : decoded(exchange, body, encoding)
}

async function decoded(exchange: Exchange, body: Promise<Buffer>, encoding: string): Promise<Buffer> {
  const bytes = await body
  if (encoding !== 'gzip' && encoding !== 'x-gzip') {
    throw invalidArgument(`content-encoding "${encoding}" is not supported; gzip is`)
  }
  const tooLarge = (): Error => new BodyTooLarge()
  return decompressed(bytes, { bytesMax: bodyBytesMax, tooLarge, take: (count) => exchange.take(count) })
}

function collect(exchange: Exchange, resolve: (body: Buffer) => void, reject: (error: unknown) => void): void {
  const { request } = exchange
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) {
    reject(new BodyTooLarge())
    return
  }
  const chunks: Buffer[] = []
  let bytes = 0
  // The listeners stay away from the rest, which is dropped.
  const refuse = (error: unknown): void => {
    request.off('data', collected)
    chunks.length = 0
    exchange.drop()
    reject(error)
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
    resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks))
  })
  // Emitted when the client goes away in the middle.
  request.on('error', () => reject(new BodyAborted()))
}

/** Refuses a message above the API's limit, also if its JSON or compressed body was smaller. */
export function checkMessageSize(message: Buffer): void {
  if (message.length > limits.requestBytesMax) throw tooLarge(message.length, 'the request')
}
