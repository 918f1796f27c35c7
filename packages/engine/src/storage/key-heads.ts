/**
 * Heads: the first six bytes of a key's rest as a number, so that most comparisons in a node need no string.
 *
 *   head = 2^51 + 8 × (six bytes, filled up with zeros) + min(length of the rest, 7)
 *
 * If two heads differ, the rest with the smaller one is first; rests of up to six bytes with equal heads are equal
 * (test/property/key-heads.test.ts). So strings are compared only if two long rests begin alike. 2^51 keeps every head out of
 * the range of small integers: V8 then stores an array of heads as doubles, eight bytes each and unboxed (measured: 64 of
 * them are searched in some 10 ns). A head is below 2^52, so it is exact.
 */
import { lowerBound } from '../lower-bound.ts'

/** The length of all rests that are longer than a head. */
const longRest = 7

const headBase = 2 ** 51

/** The head of `key` behind its first `start` bytes; a shorter key has the head of an empty rest. */
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

/** The heads of `keys`, each behind its first `start` bytes. */
export function headsOf(keys: readonly string[], start: number): number[] {
  const heads: number[] = []
  for (const key of keys) heads.push(headOf(key, start))
  return heads
}

/** Whether the head of a rest of this length determines it. */
export function isWholeInHead(length: number): boolean {
  return length < longRest
}

/** Index of the first of ascending heads that is not less than `head`; their number if all are. */
export function firstNotBelow(heads: readonly number[], head: number): number {
  return lowerBound(heads.length, (place) => (heads[place] as number) < head)
}
