/**
 * Keys of tree nodes in parts: the common prefix of a leaf's keys, the rest of each with its head, and short separators.
 *
 * A slice of a long string is a view that keeps the long one in memory, so strings that are stored here are always copies.
 *
 * A head is the first six bytes of a rest as a number, so that most comparisons in a node need no string:
 *
 *   head = 2^51 + 8 × (six bytes, filled up with zeros) + min(length of the rest, 7)
 *
 * If two heads differ, the rest with the smaller one is first; rests of up to six bytes with equal heads are equal
 * (test/property/key-heads.test.ts). So strings are compared only if two long rests begin alike. 2^51 keeps every head out of
 * the range of small integers: V8 then stores an array of heads as doubles, eight bytes each and unboxed (measured: 64 of
 * them are searched in some 10 ns). A head is below 2^52, so it is exact.
 */
import { Buffer } from 'node:buffer'
import { lowerBound } from '../lower-bound.ts'

/** Slices shorter than this are strings of their own in V8, longer ones are views of the whole. */
const viewLengthMin = 13

/** The end of a key, for comparisons: joined parts compare four times as fast as a slice that is a view (measured). */
export function restOf(key: string, start: number): string {
  if (start === 0) return key
  if (key.length - start < viewLengthMin) return key.slice(start)
  return key.slice(start, start + 1) + key.slice(start + 1)
}

const scratch = Buffer.allocUnsafeSlow(4096)

/** {@link restOf} for storing: no other characters stay in memory. 110 ns, or 15 for a short one. */
export function ownRest(key: string, start: number): string {
  if (start > 0 && key.length - start < viewLengthMin) return key.slice(start)
  if (key.length > scratch.length) return Buffer.from(key, 'latin1').toString('latin1', start)
  return scratch.toString('latin1', start, scratch.write(key, 'latin1'))
}

export function sameLength(left: string, right: string): number {
  let same = 0
  while (same < left.length && left.charCodeAt(same) === right.charCodeAt(same)) same++
  return same
}

/** The common prefix of all keys between two separators; empty if one is missing. */
export function prefixBetween(low: string | undefined, high: string | undefined): string {
  if (low === undefined || high === undefined) return ''
  return Buffer.from(low.slice(0, sameLength(low, high)), 'latin1').toString('latin1')
}

/** Converts the rests of keys behind the prefix `from` to those behind `to`, which all of the keys have. */
export function rebased(from: string, rests: string[], to: string): string[] {
  if (from.length === to.length) return rests
  if (from.length < to.length) return rests.map((rest) => ownRest(rest, to.length - from.length))
  const more = from.slice(to.length)
  return rests.map((rest) => ownRest(more + rest, 0))
}

/** The shortest key that is after `left` and at or before `right`. */
export function separatorOf(left: string, right: string): string {
  return Buffer.from(right.slice(0, sameLength(left, right) + 1), 'latin1').toString('latin1')
}

/** The length of all rests that are longer than a head; shorter ones are determined by their head. */
export const longRest = 7

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

export function headsOf(keys: readonly string[], start: number): number[] {
  const heads: number[] = []
  for (const key of keys) heads.push(headOf(key, start))
  return heads
}

export function firstNotBelow(heads: readonly number[], head: number): number {
  return lowerBound(heads.length, (place) => (heads[place] as number) < head)
}
