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

/** Codes after which the same call may succeed: nothing in the request was wrong. */
const passing: ReadonlySet<number> = new Set([
  grpcCodes.DEADLINE_EXCEEDED,
  grpcCodes.ABORTED,
  grpcCodes.INTERNAL,
  grpcCodes.UNAVAILABLE,
])

/** Codes with which a server refuses a request that has had no effect. */
const refusals: ReadonlySet<number> = new Set([
  grpcCodes.INVALID_ARGUMENT,
  grpcCodes.NOT_FOUND,
  grpcCodes.PERMISSION_DENIED,
  grpcCodes.RESOURCE_EXHAUSTED,
  grpcCodes.FAILED_PRECONDITION,
  grpcCodes.OUT_OF_RANGE,
  grpcCodes.UNIMPLEMENTED,
  grpcCodes.UNAUTHENTICATED,
])

/** Whether a call that may be repeated should be. */
export function isPassing(code: number): boolean {
  return passing.has(code)
}

/** Whether the call certainly has no effect, now and later. */
export function isRefusal(code: number): boolean {
  return refusals.has(code)
}
