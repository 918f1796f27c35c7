/** The `grpc-timeout` header, such as `500m` for half a second. Known: the gRPC protocol over HTTP/2: at most eight digits and a unit. */
import { invalidArgument } from '@sixtables/engine'

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
