/**
 * Gives ids to new entities, and keeps reserved ids from being given.
 *
 *   policy       counter                       ids
 *   scattered    one per database              spread over 2^52 … 2^52 + 2^51 - 1     automatic ids and AllocateIds
 *   sequential   one per (parent, kind)        1, 2, 3 …                              old-style ranges
 *   storewide    one for the whole store       1, 2, 3 …, whatever the kind           automatic ids of --mode legacy
 *
 * A counter is a high-water mark, never a set of ranges. Reserving ToDo:100 moves the sequential counter of ToDo to 101, so the ids
 * between its old value and 100 are never given. A store-wide id skips the ids that its own (parent, kind) has given or reserved, and
 * a range all store-wide ids. Whether an entity already has an id is checked by the commit, which can see pending records.
 *
 * I4   No id is given twice for one parent and kind.                 test/property/ids.*.test.ts
 * I5   An id given or reserved is never given later. With several allocators over one store this needs `othersGive`:
 *      without it one may hold in its block what another reserves. I4 holds in any case.   same
 *
 * Known: spaces, reservation and ranges (App Engine SDK). Measured: Google's emulators partly ignore reservations.
 */

import type { RequestContext } from '../context.ts'
import { DatastoreError, failedPrecondition, invalidArgument } from '../errors.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { allOf, andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import { type DatabaseName, formatKey, type Key, withId } from '../model/key.ts'
import type { RowKey, RowKv } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import {
  rowsOfDatabase,
  scatteredRowKey,
  sequentialRowKey,
  sequentialRowKeys,
  storewideRowKey,
} from '../tables/id-sequences.ts'
import { type BlockPolicy, exactBlocks, growingBlocks, IdSequence } from './id-sequence.ts'
import {
  type AllocatedRange,
  describeKeyRange,
  type HasEntityIn,
  type IdRange,
  keyRange,
  keyRangeState,
} from './key-range-state.ts'
import { counterMax, type IdSpace, idOfCounter, sequentialIdMax, spaceOf, unscatter } from './scatter.ts'

/** The space of automatic ids: a setting of a database, given with each call. */
export type IdPolicy = IdSpace | 'storewide'

/** If the id for a new entity is taken: `next` gives it the next free id, `fail` lets its commit fail. */
export type IdCollisions = 'next' | 'fail'

/** The largest old-style range. Known: the client library's limit. */
export const rangeSizeMax: bigint = 1_000_000_000n

export interface IdAllocatorOptions {
  readonly kv: RowKv
  /** Other allocators use the same store: take only as many ids as asked for, so that each sees the others' reservations. */
  readonly othersGive?: boolean
  /** How many ids a refill takes; ignored with `othersGive`. */
  readonly blocks?: BlockPolicy
  /** Sequential counters kept open; above this the oldest returns its block. Default 4096. */
  readonly openSequencesMax?: number
  readonly switchedOff?: SwitchedOff | undefined
}

export class IdAllocator {
  readonly #options: IdAllocatorOptions
  /** Scattered counters by project and database: two small look-ups are cheaper than building a row key. */
  readonly #scattered = new Map<string, Map<string, IdSequence>>()
  /** Sequential counters and the store-wide one by row key, the longest open first. */
  readonly #sequential = new Map<RowKey, IdSequence>()
  #closed = false

  constructor(options: IdAllocatorOptions) {
    this.#options = options
  }

  /** The keys with new ids in their last elements, in request order. All keys must be incomplete. */
  completeKeys(context: RequestContext, keys: readonly Key[], policy: IdPolicy = 'scattered'): MaybePromise<Key[]> {
    this.#begin(context)
    const first = keys[0]
    if (first === undefined) return []
    if (policy === 'storewide') {
      const completed: Key[] = []
      const taken = forEachInOrder(keys, (key) =>
        andThen(this.#nextStorewide(context, key), (number) => void completed.push(withId(key, BigInt(number)))),
      )
      return andThen(taken, () => completed)
    }
    // One key, or one object repeated, as clients ask for many ids.
    if (keys.every((key) => key === first)) {
      const numbers = this.#take(context, first, { count: keys.length, policy })
      return andThen(numbers, (counters) => counters.map((counter) => withId(first, idOfCounter(policy, counter))))
    }
    // One call per counter, so that a request of 500 keys causes at most one refill.
    const positions = new Map<IdSequence, number[]>()
    for (const [i, key] of keys.entries()) {
      getOrInsert(positions, this.#sequenceFor(key, policy), () => []).push(i)
    }
    const completed = new Array<Key>(keys.length)
    const filled = allOf(positions.values(), (places) =>
      andThen(this.#take(context, keys[places[0] as number] as Key, { count: places.length, policy }), (counters) => {
        for (const [i, place] of places.entries()) {
          completed[place] = withId(keys[place] as Key, idOfCounter(policy, counters[i] as number))
        }
      }),
    )
    return andThen(filled, () => completed)
  }

  /** Keeps the ids in all elements of complete keys from being given; those that are never given change nothing. */
  reserve(context: RequestContext, keys: readonly Key[]): MaybePromise<void> {
    this.#begin(context)
    if (this.#options.switchedOff?.has('id-reservation')) return
    const highest = new Map<IdSequence, number>()
    for (const key of keys) {
      const rowKeys = sequentialRowKeys(key)
      for (const [at, { id }] of key.path.entries()) {
        const space = id === undefined ? undefined : spaceOf(id)
        if (space === undefined) continue
        const counter = space === 'scattered' ? unscatter(Number(id)) : Number(id)
        // The first and the last id of the scattered space belong to counters that are never given.
        if (counter === 0 || counter > counterMax[space]) continue
        const sequence =
          space === 'scattered' ? this.#scatteredSequence(key.partition) : this.#sequentialAt(rowKeys[at] as RowKey)
        if (counter > (highest.get(sequence) ?? 0)) highest.set(sequence, counter)
      }
    }
    return andThen(
      allOf(highest, ([sequence, counter]) => sequence.skipPast(context, counter)),
      () => undefined,
    )
  }

  /** The next `size` sequential ids, as one range. @param of - any key of the kind and parent */
  allocateSize(context: RequestContext, of: Key, size: bigint): MaybePromise<IdRange> {
    if (size < 1n || size > rangeSizeMax) {
      throw invalidArgument(`a range of ids has a size of 1 to ${rangeSizeMax}, not ${size}`)
    }
    const first = this.#inRange(context, of, (sequence) => sequence.takeRun(context, Number(size)))
    return andThen(first, (start) => ({ start: BigInt(start), end: BigInt(start) + size - 1n }))
  }

  /** All sequential ids up to `max` that were never given; an empty range (end below start) if all were. */
  allocateMax(context: RequestContext, of: Key, max: bigint): MaybePromise<IdRange> {
    if (max < 0n || max > sequentialIdMax) {
      throw invalidArgument(`the highest id of a range is 0 to ${sequentialIdMax}, not ${max}`)
    }
    const taken = this.#inRange(context, of, (sequence) => sequence.takeUpTo(context, Number(max)))
    return andThen(taken, ({ first, last }) => ({ start: BigInt(first), end: BigInt(last) }))
  }

  /** Reserves the ids of a range and returns its state. After the call no automatic id is in the range, whatever the state. */
  allocateRange(
    context: RequestContext,
    of: Key,
    range: IdRange,
    hasEntityIn: HasEntityIn,
  ): MaybePromise<AllocatedRange> {
    const { start, end } = range
    if (start < 1n || end < start || end > sequentialIdMax) {
      throw invalidArgument(
        `a range of ids starts at 1 or above, ends at ${sequentialIdMax} or below and not before its start; ${start} to ${end} does not`,
      )
    }
    // The counter moves first. In the other order, an id given between the look and the move would be missed.
    return andThen(this.allocateMax(context, of, end), ({ start: nextBefore }) =>
      andThen(hasEntityIn(keyRange(of, range), range), (hasEntity) => {
        const state = keyRangeState(range, nextBefore, hasEntity)
        const nextAfter = nextBefore > end ? nextBefore : end + 1n
        const answer = { state, nextBefore, nextAfter }
        return { ...answer, words: describeKeyRange(of, range, answer) }
      }),
    )
  }

  /** The counter's next number, without taking it. For the inspector. */
  nextCounter(context: RequestContext, of: Key, policy: IdPolicy): MaybePromise<bigint> {
    this.#begin(context)
    const sequence = policy === 'storewide' ? this.#sequentialAt(storewideRowKey) : this.#sequenceFor(of, policy)
    return andThen(sequence.peek(context), BigInt)
  }

  /** An object that stands for the counters of a database. After {@link forget} it is another one. */
  countersOf(database: DatabaseName): object {
    return this.#scatteredSequence(database)
  }

  /** Forgets the blocks of a database, or of all: their rows were deleted. Calls in progress must begin again. */
  forget(database?: DatabaseName): void {
    if (database === undefined) {
      this.#scattered.clear()
      this.#sequential.clear()
      return
    }
    this.#scattered.get(database.projectId)?.delete(database.databaseId)
    const prefix = rowsOfDatabase(database)
    for (const rowKey of this.#sequential.keys()) if (rowKey.startsWith(prefix)) this.#sequential.delete(rowKey)
  }

  /** Returns all blocks to the store. Waits for calls in progress; later calls take new blocks. */
  release(context: RequestContext): MaybePromise<void> {
    const sequences = [...this.#sequential.values()]
    for (const databases of this.#scattered.values()) sequences.push(...databases.values())
    return andThen(
      allOf(sequences, (sequence) => sequence.release(context)),
      () => undefined,
    )
  }

  /** {@link release}, and refuses later calls. Closing twice is harmless. */
  close(context: RequestContext): MaybePromise<void> {
    this.#closed = true
    return this.release(context)
  }

  #take(
    context: RequestContext,
    key: Key,
    { count, policy }: { readonly count: number; readonly policy: IdSpace },
  ): MaybePromise<number[]> {
    if (policy === 'scattered') return this.#scatteredSequence(key.partition).take(context, count)
    return this.#inRange(context, key, (sequence) => sequence.take(context, count))
  }

  /**
   * Takes from the sequential counter of a kind and parent, above all store-wide ids (I4). The store-wide counter is read
   * before and after: an id it gave meanwhile may not have seen this counter move.
   */
  #inRange<T>(context: RequestContext, of: Key, take: (sequence: IdSequence) => MaybePromise<T>): MaybePromise<T> {
    this.#begin(context)
    const again = (floor: number): MaybePromise<T> =>
      andThen(floor === 1 ? undefined : this.#sequenceFor(of, 'sequential').skipPast(context, floor - 1), () =>
        andThen(take(this.#sequenceFor(of, 'sequential')), (taken) =>
          andThen(this.#floorOf(context, storewideRowKey), (now) => (now === floor ? taken : again(now))),
        ),
      )
    return andThen(this.#floorOf(context, storewideRowKey), again)
  }

  /** The first number that no process has given. The block in hand is returned first, so that few numbers are lost. */
  #floorOf(context: RequestContext, rowKey: RowKey): MaybePromise<number> {
    const sequence = this.#sequentialAt(rowKey)
    return andThen(sequence.release(context), () => sequence.peek(context))
  }

  /** A store-wide number that the key's own kind and parent has not given or reserved (I4, I5). */
  #nextStorewide(context: RequestContext, key: Key): MaybePromise<number> {
    return andThen(this.#sequentialAt(storewideRowKey).take(context, 1), ([number = 0]) =>
      andThen(this.#floorOf(context, sequentialRowKey(key)), (floor) => {
        if (number >= floor) return number
        const skipped = this.#sequentialAt(storewideRowKey).skipPast(context, floor - 1)
        return andThen(skipped, () => this.#nextStorewide(context, key))
      }),
    )
  }

  #sequenceFor(key: Key, policy: IdSpace): IdSequence {
    return policy === 'scattered' ? this.#scatteredSequence(key.partition) : this.#sequentialAt(sequentialRowKey(key))
  }

  #scatteredSequence({ projectId, databaseId }: DatabaseName): IdSequence {
    const databases = getOrInsert(this.#scattered, projectId, () => new Map<string, IdSequence>())
    return getOrInsert(databases, databaseId, () => this.#open(scatteredRowKey(projectId, databaseId), 'scattered'))
  }

  /** The counter of a kind and parent, or the store-wide one. Use it in the same turn: see #begin. */
  #sequentialAt(rowKey: RowKey): IdSequence {
    return getOrInsert(this.#sequential, rowKey, () => this.#open(rowKey, 'sequential'))
  }

  #open(rowKey: RowKey, space: IdSpace): IdSequence {
    const { kv, othersGive, blocks = growingBlocks, switchedOff } = this.#options
    return new IdSequence({ kv, rowKey, space, blocks: othersGive ? exactBlocks : blocks, switchedOff })
  }

  /**
   * Starts a call: refuses it if closed, and closes the oldest sequential counters if too many are open.
   *
   * A counter that is closing stays the only one of its row until its block is returned. A second one could read the row too
   * early and take a reservation for already made (I5). A call must use a sequence in the turn in which it got it: later, an
   * idle one may be closed.
   */
  #begin(context: RequestContext): void {
    if (this.#closed) throw failedPrecondition('the engine is closed; open it again to get ids')
    let excess = this.#sequential.size - (this.#options.openSequencesMax ?? 4096)
    if (excess <= 0) return
    for (const [rowKey, sequence] of this.#sequential) {
      // Each store-wide id needs it: without its block, one would cost two writes.
      if (rowKey === storewideRowKey) continue
      void andThen(sequence.release(context), () => {
        if (sequence.isIdle && this.#sequential.get(rowKey) === sequence) this.#sequential.delete(rowKey)
      })
      if (--excess === 0) return
    }
  }
}

/**
 * The error for an id of a new entity that an existing entity has, which was written with that id by hand. A transaction then
 * wrote nothing, and a list of mutations nothing from here on. The counter has moved, so a retry gets another id.
 *
 * Measured: the code of a collision (Firestore emulator); known: its wording.
 */
export function idCollisionError(key: Key): DatastoreError {
  return new DatastoreError(
    'INVALID_ARGUMENT',
    `the id allocated for a new entity was already in use, please try again (${formatKey(key)}); ` +
      'reserve ids that you choose yourself, so that they are never given',
    { retry: 'request' },
  )
}
