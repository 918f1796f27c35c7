/**
 * Old-style ranges of ids, and the ids that are next: verbs besides those of the v1 API.
 *
 *   allocateIdRange     exactly these ids, say 10–19, with their state: EMPTY, CONTENTION or COLLISION
 *   allocateIds         this many ids in one piece, or all free ids up to a highest one
 *   nextIds             the next ids of a kind and parent; allocates nothing
 *
 * Ranges are in the sequential space, whatever the source of automatic ids. The search for entities in a range first applies
 * the pending records of groups that the range can touch, and no others: it sees every commit acknowledged before the call.
 *
 * Known: ranges, and the search as a query without a kind between two keys (App Engine SDK).
 */
import { keyCodes } from '../encoding/key-codec.ts'
import { validateKey } from '../encoding/validate-key.ts'
import type { IdPolicy } from '../ids/allocator.ts'
import { type AllocatedRange, describeMark, type IdRange } from '../ids/key-range-state.ts'
import { counterMax, type IdSpace, idOfCounter } from '../ids/scatter.ts'
import { andThen, type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import type { Key } from '../model/key.ts'
import { firstOf } from '../storage/kv.ts'
import { entityRowKey } from '../tables/entities.ts'
import { groupOf } from '../tables/log-rows.ts'
import { rowAfter } from '../tables/rows.ts'
import type { IdCall } from './key-ids.ts'

/** The ids that were allocated; none when `end` is below `start`. */
export interface AllocatedIds extends IdRange {
  /** The next sequential id after the call. */
  readonly nextAfter: bigint
  readonly words: string
}

export interface NextId {
  /** The next number; in the sequential space it is the id itself. */
  readonly counter: bigint
  /** Absent if the space is used up. */
  readonly id?: bigint
}

export interface NextIds {
  /** The counter that gives the database its automatic ids. */
  readonly automatic: IdPolicy
  readonly scattered: NextId
  /** The counter of the kind and parent. */
  readonly sequential: NextId
  /** The counter of the whole store; its id skips ids already given to the kind and parent. */
  readonly storewide: NextId
}

/** @param key - incomplete, with the kind and parent */
export function allocateIdRange(call: IdCall, key: Key, range: IdRange): MaybePromise<AllocatedRange> {
  validateKey(key, 'allocate', call.database)
  return call.ids.allocateRange(call.context, key, range, (keys) => hasEntityBetween(call, keys))
}

/** @param by - whether `number` is how many ids, or the highest one */
export function allocateIds(
  { context, database, ids }: IdCall,
  key: Key,
  by: 'allocateSize' | 'allocateMax',
  number: bigint,
): MaybePromise<AllocatedIds> {
  validateKey(key, 'allocate', database)
  return andThen(ids[by](context, key, number), ({ start, end }) => {
    const nextAfter = end + 1n
    const what = end < start ? 'No id is left: all of these were given before' : `The ids ${start} to ${end} are yours`
    return { start, end, nextAfter, words: `${what}. ${describeMark(nextAfter)}` }
  })
}

export function* nextIds({ context, database, ids }: IdCall, key: Key, automatic: IdPolicy): Steps<NextIds> {
  validateKey(key, 'allocate', database)
  const next = (space: IdSpace, counter: bigint): NextId =>
    counter > counterMax[space] ? { counter } : { counter, id: idOfCounter(space, Number(counter)) }
  const scattered = yield* waitFor(ids.nextCounter(context, key, 'scattered'))
  const sequential = yield* waitFor(ids.nextCounter(context, key, 'sequential'))
  const storewide = yield* waitFor(ids.nextCounter(context, key, 'storewide'))
  // Both counters skip ids that the other one has given.
  // biome-ignore lint/complexity/useMathMinMax: Math.max() takes no bigint
  const id = storewide > sequential ? storewide : sequential
  return {
    automatic,
    scattered: next('scattered', scattered),
    sequential: { ...next('sequential', id), counter: sequential },
    storewide: { ...next('sequential', id), counter: storewide },
  }
}

/**
 * Whether any entity, of any kind, has a key from `start` to `end`. Descendants of all ids but the last are between these keys too.
 * The scan of Entities ends at its first row.
 */
function hasEntityBetween(
  { context, database, log, view }: IdCall,
  keys: { readonly start: Key; readonly end: Key },
): MaybePromise<boolean> {
  const first = keyCodes(keys.start)
  const last = keyCodes(keys.end)
  const rollForward = (): MaybePromise<void> => {
    if (log === undefined || log.pending.count === 0) return
    // Ids of a root kind are groups, whose codes are between those of the ends; otherwise all are in one group.
    const [low, high] = [groupOf(first.partition, first.path), groupOf(last.partition, last.path)]
    const touched = log.pending.groupsOf(database.code).filter((group) => group >= low && group <= high)
    return log.applier.rollForwardGroups(touched, 'strong read')
  }
  return andThen(rollForward(), () => {
    const start = entityRowKey(first.partition, first.path)
    const end = rowAfter(entityRowKey(last.partition, last.path))
    const found = firstOf(view.scan(context, 'Entities', { start, end }, { expect: 1 }))
    return andThen(found, (row) => row !== undefined)
  })
}
