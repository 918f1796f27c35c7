/**
 * A gRPC call between grpc.ts and http2-server.ts, and the messages in its body.
 *
 *   body = (compressed flag 1 byte, length 4 bytes big-endian, message)*      cut anywhere by the frames of HTTP/2
 *
 * A client that announces a message of 4 GB is refused after these five bytes, before any of the message is kept.
 *
 * Known: the gRPC protocol over HTTP/2.
 */

import type { IncomingHttpHeaders } from 'node:http2'
import { DatastoreError, limits } from '@sixtables/engine'
import type { Call, watcherHeader } from '../call.ts'
import type { Logger } from '../logger.ts'
import { decompressed } from './gzip.ts'
import type { Status } from './status.ts'
import { tooLarge } from './wire-form.ts'

export const messageHeadBytes = 5

/** The bytes of a message as received, and whether they are compressed. */
export interface RawMessage {
  readonly compressed: boolean
  readonly bytes: Buffer
}

/** The error for a client that violates the protocol. */
export function malformed(message: string): DatastoreError {
  return new DatastoreError('INTERNAL', message, { retry: 'never' })
}

/** Whether a chunk is exactly one uncompressed message, like almost every request. */
export function isPlainMessage(chunk: Buffer): boolean {
  return (
    chunk.length >= messageHeadBytes &&
    chunk.length <= limits.requestBytesMax &&
    chunk[0] === 0 &&
    chunk.readUInt32BE(1) === chunk.length - messageHeadBytes
  )
}

/** Decompresses a message. @throws RESOURCE_EXHAUSTED if it is larger than a request may be, or than the memory left for requests */
export function decompressedMessage(bytes: Buffer, holder: { take(bytes: number): void }): Promise<Buffer> {
  const bytesMax = limits.requestBytesMax
  const tooLargeMessage = (): Error => tooLarge(bytesMax + 1, 'the request message, uncompressed,')
  return decompressed(bytes, { bytesMax, tooLarge: tooLargeMessage, take: (count) => holder.take(count) })
}

export class MessageReader {
  #pending: Buffer[] = []
  #pendingBytes = 0
  /** Bytes of the next message with its head; those of the head until its length is known. */
  #needed = messageHeadBytes
  #lengthKnown = false

  /** Whether the body may end here: no message has begun. */
  get isBetweenMessages(): boolean {
    return this.#pendingBytes === 0
  }

  /** Adds one chunk, and passes on each message that it completes. */
  push(chunk: Buffer, take: (message: RawMessage) => void): void {
    this.#pending.push(chunk)
    this.#pendingBytes += chunk.length
    while (this.#pendingBytes >= this.#needed) {
      const joined = this.#join()
      if (!this.#lengthKnown) {
        this.#needed = this.#endOf(joined)
        this.#lengthKnown = true
        continue
      }
      const end = this.#needed
      take({ compressed: isCompressed(joined), bytes: joined.subarray(messageHeadBytes, end) })
      this.#pending = end === joined.length ? [] : [joined.subarray(end)]
      this.#pendingBytes = joined.length - end
      this.#needed = messageHeadBytes
      this.#lengthKnown = false
    }
  }

  #join(): Buffer {
    const [first] = this.#pending
    if (first !== undefined && this.#pending.length === 1) return first
    const joined = Buffer.concat(this.#pending)
    this.#pending = [joined]
    return joined
  }

  /** The end of the message at the start of `bytes`. @throws if its length is above the limit */
  #endOf(bytes: Buffer): number {
    const length = bytes.readUInt32BE(1)
    if (length > limits.requestBytesMax) throw tooLarge(length, 'the request message')
    return messageHeadBytes + length
  }
}

function isCompressed(bytes: Buffer): boolean {
  const flag = bytes[0] ?? 0
  if (flag > 1) {
    throw new DatastoreError('INTERNAL', `a gRPC message begins with the flag ${flag}; only 0 and 1 are known`, {
      retry: 'never',
    })
  }
  return flag === 1
}

/** The headers of a request. Node joins the values of a header that is there twice: only `set-cookie` is a list. */
export interface CallHeaders extends IncomingHttpHeaders {
  'grpc-encoding'?: string
  'grpc-timeout'?: string
  [watcherHeader]?: string
}

/** The answer: one of ok, fail and refuse, or any number of writes and an end. */
export interface ResponseStream {
  /** The key of the call's line in the fair queue. */
  readonly connection: object
  /** Counts more bytes for the request until the stream ends. @throws RESOURCE_EXHAUSTED; CANCELLED after its end */
  take(bytes: number): void
  /** Headers, the frame as the body, and trailers with status OK. */
  ok(frame: Buffer): void
  /** The headers, if they are not sent yet, and a frame. */
  write(frame: Buffer): void
  /** Trailers with a status, by default OK, after any number of frames. */
  end(status?: Status): void
  /** Headers alone, with the status in them; the rest of the request is not read. */
  fail(status: Status): void
  /** For a request that is not gRPC: headers alone, with an HTTP status and a gRPC status. */
  refuse(httpStatus: number, status: Status): void
}

export interface StreamListener {
  data(chunk: Buffer): void
  /** The client has sent its whole request. */
  end(): void
  /** The stream ended before it was answered. */
  cancelled(): void
}

/** The parts that unary and streaming calls share. */
export interface CallParts {
  readonly call: Call
  readonly isGzip: boolean
  readonly response: ResponseStream
  readonly logger: Logger
}
