/**
 * The two spaces of automatic ids, and how a counter becomes an id in each.
 *
 *   sequential   1 … 2^52 - 1                the id is the counter
 *   scattered    2^52 … 2^52 + 2^51 - 1      id = 2^52 + the counter's 51 bits mirrored
 *
 * Mirroring makes the lowest bit of the counter the highest of the id, so inserts are spread over tablets from the first one on:
 *
 *   counter  1 = …001 → 1/2      2 = …010 → 1/4      3 = …011 → 3/4      4 = …100 → 1/8      5 → 5/8  …
 *
 * All counters and ids are below 2^53, exact in a number: ids/ uses numbers inside, and `bigint` at its edge only. scatterId is
 * one-to-one, and counterOf undoes it (test/property/ids.scatter.test.ts).
 *
 * Known: the spaces and the formula (App Engine SDK). Measured: the formula, on both of Google's emulators.
 */
import { invariant } from '../invariant.ts'

export type IdSpace = 'sequential' | 'scattered'

/** The last id and counter of the sequential space; the first is 1. */
export const sequentialIdMax: bigint = 2n ** 52n - 1n

/** Ids of the scattered space, both inclusive. The first one belongs to counter 0, which is never given. */
export const scatteredIdMin: bigint = 2n ** 52n
export const scatteredIdMax: bigint = 2n ** 52n + 2n ** 51n - 1n

/** The last counter of each space that is given; the next one, of {@link scatteredIdMax}, is not (known: App Engine SDK). */
export const counterMax: Readonly<Record<IdSpace, number>> = {
  sequential: Number(sequentialIdMax),
  scattered: 2 ** 51 - 2,
}

const scatterBase = 2 ** 52
const scatterSize = 2 ** 51
const lowBits = 2 ** 32
/** 51 bits are a low half of 32 and a high part of 19. */
const highShift = 2 ** 19

/** The 32 bits of `x` in reverse order, as an unsigned number. */
function mirror32(x: number): number {
  let v = ((x >>> 1) & 0x55555555) | ((x & 0x55555555) << 1)
  v = ((v >>> 2) & 0x33333333) | ((v & 0x33333333) << 2)
  v = ((v >>> 4) & 0x0f0f0f0f) | ((v & 0x0f0f0f0f) << 4)
  v = ((v >>> 8) & 0x00ff00ff) | ((v & 0x00ff00ff) << 8)
  return ((v >>> 16) | (v << 16)) >>> 0
}

/** {@link scatterId} on numbers, without a check of 0 <= counter < 2^51. */
export function scatter(counter: number): number {
  // Bit i goes to bit 50 - i: the mirrored low half becomes the top 32 bits, the mirrored high part the low 19.
  return scatterBase + mirror32(counter % lowBits) * highShift + (mirror32(counter / lowBits) >>> 13)
}

/** {@link counterOf} on numbers, without a check that the id is scattered. */
export function unscatter(id: number): number {
  const offset = id - scatterBase
  return (mirror32(offset % highShift) >>> 13) * lowBits + mirror32(offset / highShift)
}

/** The scattered id of a counter, 0 to 2^51 - 1; the allocator gives 1 to 2^51 - 2. */
export function scatterId(counter: bigint): bigint {
  invariant(counter >= 0n && counter < scatterSize, `${counter} is no counter of the scattered space`)
  return BigInt(scatter(Number(counter)))
}

/** The counter of a scattered id, 0 to 2^51 - 1. */
export function counterOf(id: bigint): bigint {
  invariant(spaceOf(id) === 'scattered', `${id} is no scattered id`)
  return BigInt(unscatter(Number(id)))
}

/** The space of an id; `undefined` for ids below 1 and above the scattered space, which are never given. */
export function spaceOf(id: bigint): IdSpace | undefined {
  if (id < 1n) return undefined
  if (id <= sequentialIdMax) return 'sequential'
  return id <= scatteredIdMax ? 'scattered' : undefined
}

export function idOfCounter(space: IdSpace, counter: number): bigint {
  return BigInt(space === 'scattered' ? scatter(counter) : counter)
}
