/** 64-bit integers of decoded messages, where protobufjs has two halves, as bigint; timestamps as microseconds. */

import { invalidArgument } from '@sixtables/engine'
import type { Int64, Timestamp } from '#gen/wire.js'

export function bigintOf({ low, high }: Int64): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** 0001-01-01 and 9999-12-31 in seconds. */
const secondsMin = -62_135_596_800n
const secondsMax = 253_402_300_799n

/** Microseconds since the epoch. @throws for a time out of range or with nanoseconds: as a version it must be exact */
export function exactMicrosOf({ seconds, nanos }: Timestamp, what: string): bigint {
  const whole = bigintOf(seconds)
  if (whole < secondsMin || whole > secondsMax) {
    throw invalidArgument(`${what} has ${whole} seconds: the years 1 to 9999 are allowed`)
  }
  if (nanos < 0 || nanos > 999_999_999) {
    throw invalidArgument(`${what} has ${nanos} nanoseconds: 0 to 999999999 are allowed`)
  }
  if (nanos % 1000 !== 0) {
    throw invalidArgument(
      `${what} is finer than microseconds: its nanoseconds are ${nanos}, give a multiple of 1000`,
      'timestamp cannot have more than microseconds precision',
    )
  }
  return whole * 1_000_000n + BigInt(nanos / 1000)
}
