/** The error of a call that a Bigtable refused or did not answer: its gRPC code and message. */

import { status as grpcCodes } from '@grpc/grpc-js'

export { grpcCodes }

export class CallError extends Error {
  override readonly name = 'CallError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Codes after which a call that may be repeated should be: nothing in the request was wrong. */
export const passingCodes: ReadonlySet<number> = new Set([
  grpcCodes.DEADLINE_EXCEEDED,
  grpcCodes.ABORTED,
  grpcCodes.INTERNAL,
  grpcCodes.UNAVAILABLE,
])

/** Codes with which a server refuses a request: it certainly has no effect, now and later. */
export const refusalCodes: ReadonlySet<number> = new Set([
  grpcCodes.INVALID_ARGUMENT,
  grpcCodes.NOT_FOUND,
  grpcCodes.PERMISSION_DENIED,
  grpcCodes.RESOURCE_EXHAUSTED,
  grpcCodes.FAILED_PRECONDITION,
  grpcCodes.OUT_OF_RANGE,
  grpcCodes.UNIMPLEMENTED,
  grpcCodes.UNAUTHENTICATED,
])
