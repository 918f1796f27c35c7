/**
 * The state of a range of ids that an application wants to use by hand.
 *
 *   state        an entity is inside    an id inside was given before    meaning
 *   COLLISION    yes                    yes or no                        writing there overwrites the entity
 *   CONTENTION   no                     yes                              another client may still write there
 *   EMPTY        no                     no                               the range is free
 *
 * An id counts as given if it is below the counter, a high-water mark: with the counter at 10, the range 5 … 20 is CONTENTION
 * although the ids 5 … 9 may have been skipped (test/property/ids.*.test.ts).
 *
 * Known: the three states and their order (App Engine SDK).
 */
import type { MaybePromise } from '../maybe-promise.ts'
import { formatKey, type Key, withId } from '../model/key.ts'

export type KeyRangeState = 'EMPTY' | 'CONTENTION' | 'COLLISION'

/** Ids from `start` to `end`, both inclusive; empty if `end` is below `start`. */
export interface IdRange {
  readonly start: bigint
  readonly end: bigint
}

/** Whether an entity has a key from `keys.start` to `keys.end`, inclusive; descendants of all but the last count. */
export type HasEntityIn = (keys: { readonly start: Key; readonly end: Key }, range: IdRange) => MaybePromise<boolean>

export interface AllocatedRange {
  readonly state: KeyRangeState
  /** The counter's next id before the call, and after it: above the end of the range. */
  readonly nextBefore: bigint
  readonly nextAfter: bigint
  /** The result as a sentence. */
  readonly words: string
}

/** An entity counts more than a moved counter. */
export function keyRangeState(range: IdRange, nextBefore: bigint, hasEntity: boolean): KeyRangeState {
  if (hasEntity) return 'COLLISION'
  return nextBefore > range.start ? 'CONTENTION' : 'EMPTY'
}

/** The keys at both ends of a range of ids with the kind and parent of `of`. */
export function keyRange(of: Key, range: IdRange): { readonly start: Key; readonly end: Key } {
  return { start: withId(of, range.start), end: withId(of, range.end) }
}

const meanings: Record<KeyRangeState, (nextBefore: bigint) => string> = {
  EMPTY: () => 'no entity is there and none of its ids was given before: it is wholly yours',
  CONTENTION: (next) => `no entity is there, but ids below ${next} were given before: others may still write them`,
  COLLISION: () => 'an entity is there: writing these ids may overwrite it',
}

export function describeKeyRange(of: Key, range: IdRange, answer: Omit<AllocatedRange, 'words'>): string {
  const { start, end } = keyRange(of, range)
  const { state, nextBefore, nextAfter } = answer
  const meaning = meanings[state](nextBefore)
  return `${state}: ${formatKey(start)} to ${formatKey(end)}: ${meaning}. ${describeMark(nextAfter, nextBefore)}`
}

/** The state of a counter: its high-water mark is the lowest id not yet given. */
export function describeMark(nextAfter: bigint, nextBefore?: bigint): string {
  const moved =
    nextBefore === undefined
      ? `is ${nextAfter} now`
      : nextBefore === nextAfter
        ? `stays at ${nextAfter}`
        : `moved from ${nextBefore} to ${nextAfter}`
  return `The high-water mark ${moved}: no id below it is given any more.`
}
