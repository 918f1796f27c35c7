/**
 * Errors in each wire form. Only this file knows these forms.
 *
 *   gRPC            grpc-status and grpc-message (percent-encoded) in the trailers
 *   HTTP JSON       {"error":{"code":404,"message":"…","status":"NOT_FOUND"}} on one line
 *   HTTP protobuf   google.rpc.Status { code 1, message 2 }
 *
 * A DatastoreError reaches the client unchanged. Any other error, such as a TypeError, is our fault: it is logged and answered INTERNAL.
 *
 * Known: google.rpc.Code and its HTTP statuses, the gRPC protocol over HTTP/2. Measured: the envelopes, no `details`.
 */
import { DatastoreError, InvariantError, type StatusCode, statusCodes } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import type { Logger } from '../logger.ts'

export interface Status {
  readonly code: StatusCode
  readonly message: string
}

export const httpStatuses: Readonly<Record<StatusCode, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
}

/** The status that a client gets for a thrown value. */
export function statusOf(error: unknown, logger: Logger): Status {
  if (error instanceof DatastoreError) return { code: error.code, message: error.message }
  logger.error(error instanceof Error ? (error.stack ?? `${error.name}: ${error.message}`) : `thrown: ${String(error)}`)
  const what = error instanceof InvariantError ? 'a broken invariant' : 'an unexpected error'
  return { code: 'INTERNAL', message: `${what} in the emulator; its log says more. Please report it` }
}

/** Longest message in trailers: Node and other clients limit the size of headers. */
const grpcMessageCharactersMax = 2048

/** Percent-encoding: printable ASCII except the percent sign stays; each other byte of UTF-8 becomes %XX. */
export function grpcMessageOf(message: string): string {
  const short = message.length <= grpcMessageCharactersMax ? message : `${message.slice(0, grpcMessageCharactersMax)}…`
  return short.replace(/[^\x20-\x24\x26-\x7e]+/g, (others) =>
    Buffer.from(others).toString('hex').toUpperCase().replace(/../g, '%$&'),
  )
}

export function jsonErrorOf({ code, message }: Status, httpStatus: number = httpStatuses[code]): string {
  const error = { code: httpStatus, ...(message === '' ? {} : { message }), status: code }
  return `${JSON.stringify({ error })}\n`
}

export function protobufErrorOf({ code, message }: Status): Buffer {
  const writer = protobuf.Writer.create().uint32(0x08).uint32(statusCodes[code])
  if (message !== '') writer.uint32(0x12).string(message)
  return Buffer.from(writer.finish())
}
