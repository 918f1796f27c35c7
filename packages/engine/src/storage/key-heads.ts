/**
 * Heads: the first six bytes of a key's rest as a number, so that most comparisons in a node touch neither string.
 *
 *   head = 2^51 + 8 × (six bytes, filled up with zeros) + min(length of the rest, 7)
 *
 * H1  Of two rests with different heads the one with the lesser head comes first.      test/property/key-heads.test.ts
 * H2  Rests of up to six bytes with equal heads are equal.                             same
 *
 * So strings are compared only where two long rests begin alike. 2^51 keeps every head out of the range of small integers:
 * V8 then stores an array of heads as one run of doubles, eight bytes each and never boxed (measured: 64 of them are searched
 * in some 10 ns). A head is exact: it stays below 2^52.
 */
import { lowerBound } from '../lower-bound.ts'

/** The rest is longer than its head can hold. */
const longRest = 7

const headBase = 2 ** 51

/** The head of what follows `start` in `key`; a key that is not longer has the head of an empty rest. */
export function headOf(key: string, start: number): number {
  const length = key.length - start
  if (length < 6) return shortHeadOf(key, start, length)
  const high = (key.charCodeAt(start) << 16) | (key.charCodeAt(start + 1) << 8) | key.charCodeAt(start + 2)
  const low = (key.charCodeAt(start + 3) << 16) | (key.charCodeAt(start + 4) << 8) | key.charCodeAt(start + 5)
  return headBase + (high * 0x100_0000 + low) * 8 + (length > 6 ? longRest : 6)
}

function shortHeadOf(key: string, start: number, length: number): number {
  let bytes = 0
  for (let i = 0; i < 6; i++) bytes = bytes * 256 + (i < length ? key.charCodeAt(start + i) : 0)
  return headBase + bytes * 8 + Math.max(length, 0)
}

/** The heads of `keys`, of what follows `start` in each. */
export function headsOf(keys: readonly string[], start: number): number[] {
  const heads: number[] = []
  for (const key of keys) heads.push(headOf(key, start))
  return heads
}

/** Whether a rest of this many bytes is told from all others by its head alone. */
export function isWholeInHead(length: number): boolean {
  return length < longRest
}

/** Index of the first of ascending heads that is not less than `head`; their number when all are. */
export function firstNotBelow(heads: readonly number[], head: number): number {
  return lowerBound(heads.length, (place) => (heads[place] as number) < head)
}
