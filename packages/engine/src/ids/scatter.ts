/**
 * The two spaces of automatic ids, and the way from a counter to an id in each.
 *
 *   sequential   1 … 2^52 - 1                the id is the counter
 *   scattered    2^52 … 2^52 + 2^51 - 1      id = 2^52 + the counter's 51 bits mirrored
 *
 * Mirroring makes the lowest bit of the counter the highest of the id: counter 1 lands in the middle of the space, 2 and 3
 * on its quarters, and so on. Neighbouring counters are far apart, so inserts spread over tablets from the first one on.
 *
 *   counter  1 = …001 → 1/2      2 = …010 → 1/4      3 = …011 → 3/4      4 = …100 → 1/8      5 → 5/8  …
 *
 * Every counter and every id of both spaces is below 2^53, exact in a number: inside ids/ they are numbers, `bigint` only
 * at its edge.
 *
 * I1  counterOf(scatterId(c)) = c, and the other way round.       test/property/ids.scatter.test.ts
 * I2  scatterId is injective and stays inside its space.          test/property/ids.scatter.test.ts
 * I3  The first 2^k counters cut the space into 2^k equal parts.  test/property/ids.scatter.test.ts
 *
 * Known: the spaces and the formula (App Engine SDK). Measured: the formula, on both of Google's emulators.
 */
import { invariant } from '../invariant.ts'

/** A space of automatic ids: with a counter, and a way from counter to id. */
export type IdSpace = 'sequential' | 'scattered'

/** Ids of the sequential space: 1 to this; counters as well. */
export const sequentialIdMax: bigint = 2n ** 52n - 1n

/** Ids of the scattered space, both inclusive. The first one belongs to counter 0, which is never given. */
export const scatteredIdMin: bigint = 2n ** 52n
export const scatteredIdMax: bigint = 2n ** 52n + 2n ** 51n - 1n

/** The last counter that is given. The counter of {@link scatteredIdMax}, one higher, is not (known: App Engine SDK). */
export const scatteredCounterMax: bigint = 2n ** 51n - 2n

/** The last counter of each space, as a number. */
export const counterMax: Readonly<Record<IdSpace, number>> = {
  sequential: Number(sequentialIdMax),
  scattered: Number(scatteredCounterMax),
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

/** {@link scatterId} on numbers: for callers that know 0 <= counter < 2^51. */
export function scatter(counter: number): number {
  // Bit i goes to bit 50 - i: the mirrored low half becomes the top 32 bits, the mirrored high part the low 19.
  return scatterBase + mirror32(counter % lowBits) * highShift + (mirror32(counter / lowBits) >>> 13)
}

/** {@link counterOf} on numbers: for callers that know the id is scattered. */
export function unscatter(id: number): number {
  const offset = id - scatterBase
  return (mirror32(offset % highShift) >>> 13) * lowBits + mirror32(offset / highShift)
}

/**
 * The scattered id of a counter.
 *
 * @param counter - 0 to 2^51 - 1; the allocator gives 1 to 2^51 - 2
 */
export function scatterId(counter: bigint): bigint {
  invariant(counter >= 0n && counter < scatterSize, `I2: ${counter} is no counter of the scattered space`)
  return BigInt(scatter(Number(counter)))
}

/** The counter of a scattered id, 0 to 2^51 - 1. */
export function counterOf(id: bigint): bigint {
  invariant(spaceOf(id) === 'scattered', `I1: ${id} is no scattered id`)
  return BigInt(unscatter(Number(id)))
}

/** The space that an id lies in; `undefined` for ids below 1 and above the scattered space, which are never given. */
export function spaceOf(id: bigint): IdSpace | undefined {
  if (id < 1n) return undefined
  if (id <= sequentialIdMax) return 'sequential'
  return id <= scatteredIdMax ? 'scattered' : undefined
}

/** The id that a counter stands for. */
export function idOfCounter(space: IdSpace, counter: number): bigint {
  return BigInt(space === 'scattered' ? scatter(counter) : counter)
}
