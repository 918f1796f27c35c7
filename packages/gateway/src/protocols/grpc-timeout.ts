/**
 * The `grpc-timeout` header, such as `500m` for half a second, and the end of a call at its deadline.
 *
 * Known: the gRPC protocol over HTTP/2: at most eight digits and a unit.
 */
import { DatastoreError, invalidArgument } from '@sixtables/engine'
import type { Call } from '../call.ts'

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
}

/** Milliseconds, possibly with a fraction; `undefined` without a header. */
export function timeoutMsOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const unit = unitMs[header.at(-1) ?? '']
  const digits = header.slice(0, -1)
  if (unit === undefined || !/^\d{1,8}$/.test(digits)) {
    throw invalidArgument(`the header grpc-timeout is ${JSON.stringify(header)}: up to 8 digits and one of H M S m u n`)
  }
  return Number(digits) * unit
}

/** Calls `fail` and cancels the call if it lasts until its deadline. @returns the timer; `undefined` for a call without a timeout */
export function deadlineOf(call: Call, fail: (error: DatastoreError) => void): NodeJS.Timeout | undefined {
  const { timeoutMs } = call
  if (timeoutMs === undefined) return undefined
  // Timers of whole seconds share one list in the runtime; the client keeps the exact time itself.
  const ms = Math.min(timeoutMs > 2000 ? Math.ceil(timeoutMs / 1000) * 1000 : Math.ceil(timeoutMs), 0x7fff_ffff)
  return setTimeout(() => {
    fail(new DatastoreError('DEADLINE_EXCEEDED', `the call took longer than its deadline of ${timeoutMs} ms`))
    call.cancel()
  }, ms).unref()
}
