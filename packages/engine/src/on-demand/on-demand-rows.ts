/**
 * A store in memory that materialises index rows and log rows at their first read.
 *
 *   write ──▶ Entities, EntitiesByKind, composite rows …  ──────────────────────────────▶ the tree
 *             EntitiesByPropertyAsc, …Desc: of an index that was read before  ───────────▶ the tree
 *                                           of one that was not read yet      ───────────▶ dropped
 *             Log  ──────────────────────────────────────────────────────────────────────▶ a list (unread-log.ts)
 *   first read of an index ──▶ its rows are made from Entities, in slices; from the first slice on, commits write them too
 *
 * A put of ToDo:1 with ten properties has twenty property rows, of 2.3 µs each; an application that only filters by `done` needs one.
 *
 * Reads give the same rows as on a store that keeps every row (test/property/on-demand-rows.test.ts): the store and each snapshot keep all
 * rows of an index, or none, and an index that is being materialised is not read. Index rows follow from Entities only while no
 * record is pending, so the first pending marker materialises all rows; from then on none is dropped or deferred.
 */
import { type Scheduler, systemScheduler } from '../clock.ts'
import { type RequestContext, requestContext } from '../context.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { invariant } from '../invariant.ts'
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { Sequencer } from '../sequencer.ts'
import { nextTurn, runInSlices } from '../slices.ts'
import { awaitedScan } from '../storage/awaited-scan.ts'
import {
  countOf,
  handOver,
  handOverInSteps,
  type KeyRange,
  type Kv,
  type KvRow,
  type KvScan,
  type KvSnapshot,
  type KvWrite,
  type RowKey,
  type ScanOptions,
  type WriteSink,
  type Writes,
} from '../storage/kv.ts'
import type { MemoryKv, MemorySnapshot } from '../storage/memory-kv.ts'
import { rangeOfRow, rowsOf } from '../tables/rows.ts'
import { IndexNames } from './index-names.ts'
import {
  type EntityIndexRows,
  type EntitySource,
  type IndexOptionsOf,
  indexRowsBeside,
  isAmong,
  type Kept,
  type Missing,
  materialiseRows,
  missingIn,
  nameOf,
  namesIndex,
  withIndexes,
} from './missing-indexes.ts'
import { listed, logRowsPerStep, nothingUnread, UnreadLog, type UnreadRows, valueIn } from './unread-log.ts'

const nothing: Kept = { everything: false, kinds: new Map(), begun: new Map() }
/** Rows of a batch that are written in one step, those of unread indexes included. */
const rowsAtOnce = 8192
/** Indexes of a wide range that are materialised together: to note a change costs all that are known. */
const indexesAtOnce = 512
const all: KeyRange = { start: '', end: '\xff' }

/** The rows at one moment, and which parts of them are materialised. */
interface OnDemandState {
  readonly snapshot: MemorySnapshot
  readonly kept: Kept
  readonly unread: UnreadRows
}

export class OnDemandRows implements Kv {
  readonly #store: MemoryKv
  #kept: Kept = nothing
  /** Empty when the store keeps all rows. */
  readonly #unread = new UnreadLog()
  /** Indexes being materialised, by name; their readers wait. Replaced together with the store. */
  #materialising = new Map<string, Promise<void>>()
  /** A count of writes: a snapshot equals the store while it is unchanged. */
  changes = 0
  /** Whether the current batch has pending markers. */
  #hasMarkers = false
  /** The rows of the entity whose row was asked for last. */
  #madeLast: EntityIndexRows | undefined
  /** The turns of writes (kv/K7). */
  readonly #writes = new Sequencer()
  /** A long batch that is being written to a copy of the store: nothing is materialised meanwhile. */
  #longBatch: Promise<void> | undefined
  readonly #scheduler: Scheduler
  readonly #source: EntitySource
  readonly #names: IndexNames
  readonly #sink: WriteSink = {
    // A writer asks first about the prefix of a kind, then of an index; so the names of indexes are noted here.
    wants: (prefix) => !isOfProperty(prefix) || this.#names.note(prefix) || isAmong(this.#kept.begun, prefix),
    write: (key, value) => this.#write(key, value),
  }

  /** @param store - an empty store without other writers */
  constructor(store: MemoryKv, optionsOf: IndexOptionsOf, scheduler: Scheduler = systemScheduler) {
    this.#store = store
    this.#scheduler = scheduler
    this.#source = { store, optionsOf }
    this.#names = new IndexNames(this.#source, () => this.#context())
  }

  #context(): RequestContext {
    return requestContext({ clock: this.#scheduler })
  }

  get location(): string {
    return this.#store.location
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    const isIndexRow = isOfProperty(key)
    if (!isIndexRow && !isOfLog(key)) return this.#store.get(key)
    // A single row is made from its entity, with the others of the entity in its table.
    if (isIndexRow && !this.#kept.everything && namesIndex(key) && !isAmong(this.#kept.kinds, key)) {
      this.#madeLast = indexRowsBeside(key, this.#source, this.#madeLast)
      return this.#madeLast?.rows.get(key)
    }
    const record = recordOf(key, this.#unread.view(), this.#store)
    if (record !== undefined) return record
    return andThen(this.prepare(rangeOfRow(key)), () => this.#store.get(key))
  }

  indexWithin(range: KeyRange, reverse: boolean): MaybePromise<KeyRange | undefined> {
    return this.#kept.everything || !isOfProperty(range.start) ? range : this.#names.within(range, reverse)
  }

  getAll(keys: readonly RowKey[]): (Uint8Array | undefined)[] {
    for (const key of keys) invariant(!isOnDemand(key), 'rows that may have to be made are read one by one')
    return this.#store.getAll(keys)
  }

  scan(range: KeyRange, options?: ScanOptions): KvScan {
    const ready = this.prepare(range)
    return isPromise(ready)
      ? awaitedScan(ready.then(() => this.scan(range, options)))
      : this.#store.scan(range, options)
  }

  mutate(write: KvWrite): MaybePromise<void> {
    return this.batch([write])
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean> {
    return this.#writes.run(() =>
      andThen(isOnDemand(write.key) ? this.prepare(rangeOfRow(write.key)) : undefined, () => {
        this.changes++
        const done = this.#store.mutateIf(write, expected)
        this.#hasMarkers = done && isMarker(write.key, write.value)
        return this.#hasMarkers ? andThen(this.#keepMarked(), () => done) : done
      }),
    )
  }

  batch(writes: Writes): MaybePromise<void> {
    return this.#writes.run(() => {
      this.changes++
      this.#hasMarkers = false
      if (countOf(writes) > rowsAtOnce) {
        this.#longBatch = this.#writeToCopy(writes).finally(() => (this.#longBatch = undefined))
        return this.#longBatch.then(() => (this.#hasMarkers ? this.#keepMarked() : undefined))
      }
      if (this.#kept.everything) return this.#store.batch(writes)
      handOver(writes, this.#sink)
      if (this.#hasMarkers) return this.#keepMarked()
    })
  }

  /** Writes a long batch in slices to a copy of the store, which then takes its place: readers find nothing of it, or all. */
  async #writeToCopy(writes: Writes): Promise<void> {
    // A materialisation in progress writes to the store itself.
    while (this.#materialising.size > 0) await Promise.all(this.#materialising.values())
    const context = this.#context()
    const copy = this.#store.copy()
    const ofLog: KvWrite[] = []
    const { everything } = this.#kept
    const inCopy: WriteSink = {
      ...this.#sink,
      write: (key, value) => (isOfLog(key) ? ofLog.push({ key, value }) : this.#write(key, value, copy)),
    }
    await runInSlices(context, handOverInSteps(writes, everything ? copy : inCopy))
    this.#store.become(copy)
    this.changes++
    for (const { key, value } of ofLog) this.#write(key, value)
    // Readers may have collected names from the entities of before.
    this.#names.clear()
  }

  snapshot(): OnDemandSnapshot {
    return new OnDemandSnapshot(this)
  }

  restore(snapshot: KvSnapshot): void {
    if (!(snapshot instanceof OnDemandSnapshot)) throw new TypeError('restore() takes a snapshot of this store')
    invariant(this.#longBatch === undefined, 'a store is restored while nothing is written (kv/K7)')
    const { state } = snapshot
    this.#store.restore(state.snapshot)
    this.#storeReplaced(state.kept)
    this.#unread.restore(state.unread)
  }

  /** Whether no row is dropped or deferred any more. */
  get keepsAll(): boolean {
    return this.#kept.everything
  }

  /** Materialises all rows when pending markers were written, unless that was done before. */
  #keepMarked(): MaybePromise<void> {
    if (this.#kept.everything) return
    return andThen(this.prepare(all), () => {
      this.#kept = { ...this.#kept, everything: true }
    })
  }

  clear(rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#writes.run(() => {
      this.#store.clear(rows)
      this.#storeReplaced(nothing)
      this.#unread.clear()
    })
  }

  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void> {
    return this.#writes.run(() =>
      // A tree drops a range leaf by leaf, where a search for its rows in the list would cost the whole list for each reset.
      andThen(ranges.some(touchesLog) ? this.prepare(logRange) : undefined, () => {
        this.#store.deleteRanges(ranges, rows)
        this.#storeReplaced(this.#kept)
      }),
    )
  }

  close(): Promise<void> {
    // The store refuses later reads and writes.
    this.#storeReplaced({ ...nothing, everything: true })
    this.#unread.clear()
    return this.#store.close()
  }

  /** Marks current materialisations as outdated; their readers start again. */
  #storeReplaced(kept: Kept): void {
    this.changes++
    this.#kept = kept
    this.#names.clear()
    this.#madeLast = undefined
    this.#materialising = new Map()
  }

  get state(): OnDemandState {
    return { snapshot: this.#store.snapshot(), kept: this.#kept, unread: this.#unread.view() }
  }

  forkAt(state: OnDemandState): OnDemandRows {
    const fork = new OnDemandRows(this.#store.fork(state.snapshot), this.#source.optionsOf, this.#scheduler)
    fork.#storeReplaced(state.kept)
    fork.#unread.restore(state.unread)
    return fork
  }

  /** Materialises the rows of a range in slices, for later reads. */
  prepare(range: KeyRange): MaybePromise<void> {
    const isLogUnread = this.#unread.size > 0 && touchesLog(range)
    const missing = missingIn(range, this.#kept, this.#store)
    if (!isLogUnread && missing.length === 0) return
    if (this.#longBatch !== undefined) return this.#longBatch.then(() => this.prepare(range))
    // One at a time: a long batch waits for the one that is known.
    const drained = isLogUnread
      ? (this.#materialising.get(logName) ?? this.#inProgress([logName], this.#drain()))
      : undefined
    if (isPromise(drained)) return drained.then(() => this.prepare(range))
    const waits: Promise<void>[] = []
    const unknown: Missing[] = []
    for (const index of missing) {
      const made = this.#materialising.get(nameOf(index))
      if (made === undefined) unknown.push(index)
      else waits.push(made)
    }
    const made = this.#materialise(unknown.slice(0, indexesAtOnce))
    if (isPromise(made)) waits.push(made)
    if (unknown.length > indexesAtOnce) waits.push(nextTurn(this.#scheduler))
    // There may be more indexes, new kinds, or a new store.
    return waits.length === 0 ? undefined : Promise.all(waits).then(() => this.prepare(range))
  }

  #materialise(indexes: readonly Missing[]): MaybePromise<void> {
    if (indexes.length === 0) return
    this.#kept = { ...this.#kept, begun: withIndexes(this.#kept.begun, indexes) }
    return this.#inProgress(indexes.map(nameOf), materialiseAll(indexes, this.#source), () => {
      this.#kept = { ...this.#kept, kinds: withIndexes(this.#kept.kinds, indexes) }
    })
  }

  /** Runs steps that end when the store is replaced, and lets readers wait for them. */
  #inProgress(names: readonly string[], steps: Generator<number, void>, done?: () => void): MaybePromise<void> {
    const materialising = this.#materialising
    const isOutdated = (): boolean => materialising !== this.#materialising
    const made = andThen(runInSlices(this.#context(), untilOutdated(steps, isOutdated)), () => {
      if (!isOutdated()) done?.()
    })
    if (!isPromise(made)) return
    const known = made.finally(() => {
      for (const name of names) materialising.delete(name)
    })
    for (const name of names) materialising.set(name, known)
    return known
  }

  /** Moves the list into the tree, the oldest first: each row is always in one of them. */
  *#drain(): Generator<number, void> {
    while (this.#unread.size > 0) {
      this.#store.batch(listed(this.#unread.takeOldest(logRowsPerStep)))
      yield logRowsPerStep
    }
  }

  #write(key: RowKey, value: Uint8Array | undefined, store: MemoryKv = this.#store): void {
    if (isOfProperty(key)) {
      if (isAmong(this.#kept.begun, key)) store.write(key, value)
    } else if (!isOfLog(key)) {
      this.#hasMarkers ||= isMarker(key, value)
      store.write(key, value)
    } else if (value !== undefined) this.#unread.add(key, value)
    // Rows that are not in the tree are in the list.
    else if (!this.#unread.dropOldest(key) && !this.#store.remove(key) && this.#unread.size > 0) {
      this.#store.batch(listed(this.#unread.takeOldest(this.#unread.size)))
      this.#store.remove(key)
    }
  }
}

/** The list of log rows among the names of indexes that are being materialised. */
const logName = 'log'

function* materialiseAll(indexes: readonly Missing[], source: EntitySource): Generator<number, void> {
  for (const index of indexes) yield* materialiseRows(index, source)
}

function* untilOutdated(steps: Generator<number, void>, isOutdated: () => boolean): Generator<number, void> {
  for (const work of steps) {
    yield work
    if (isOutdated()) return
  }
}

/** The store at one moment. Missing rows come from the store if it is unchanged since, else they are made in a fork. */
class OnDemandSnapshot implements KvSnapshot {
  readonly #owner: OnDemandRows
  readonly #changes: number
  #state: OnDemandState
  /** Has the rows that were made for this snapshot alone. */
  #fork: OnDemandRows | undefined

  constructor(owner: OnDemandRows) {
    this.#owner = owner
    this.#changes = owner.changes
    this.#state = owner.state
  }

  get size(): number {
    const { snapshot, unread } = this.state
    return snapshot.size + unread.end - unread.start
  }

  get state(): OnDemandState {
    return this.#fork?.state ?? this.#state
  }

  get(key: RowKey): MaybePromise<Uint8Array | undefined> {
    const { snapshot, unread } = this.#state
    if (!isOnDemand(key)) return snapshot.get(key)
    return recordOf(key, unread, snapshot) ?? this.#read(rangeOfRow(key), (reader) => reader.get(key))
  }

  /** The scan can outlive the snapshot. */
  scan(range: KeyRange, options: ScanOptions = {}): KvScan {
    const scan = this.#read(range, (reader) => reader.scan(range, options))
    return isPromise(scan) ? awaitedScan(scan) : scan
  }

  close(): void {
    // The closed snapshot refuses later reads.
    const { snapshot } = this.#state
    snapshot.close()
    this.#state = { snapshot, kept: { ...nothing, everything: true }, unread: nothingUnread }
    this.#fork = undefined
  }

  /**
   * Reads from what has, or makes, all rows of a range. In the same turn: another read may close the state of the store that
   * this one follows.
   */
  #read<T>(range: KeyRange, read: (reader: MemorySnapshot | OnDemandRows) => MaybePromise<T>): MaybePromise<T> {
    if (!this.#lacks(range)) return read(this.#fork ?? this.#state.snapshot)
    // Rows made in the store are there for later snapshots too.
    return andThen(this.#owner.prepare(range), () => {
      // Another read may have them by now, or the snapshot may be closed, which its reader then says.
      if (this.#lacks(range)) {
        if (this.#owner.changes === this.#changes) {
          this.#state.snapshot.close()
          this.#state = this.#owner.state
        } else this.#fork = this.#owner.forkAt(this.#state)
      }
      return read(this.#fork ?? this.#state.snapshot)
    })
  }

  #lacks(range: KeyRange): boolean {
    const { snapshot, kept, unread } = this.#state
    if (this.#fork !== undefined) return false
    return (unread.start < unread.end && touchesLog(range)) || missingIn(range, kept, snapshot).length > 0
  }
}

const ascending = keySpaces.EntitiesByPropertyAsc.charCodeAt(0)
const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)
const log = keySpaces.Log.charCodeAt(0)
const logRange = rowsOf('Log')
const pending = keySpaces.Pending.charCodeAt(0)

function isOfProperty(key: RowKey): boolean {
  const space = key.charCodeAt(0)
  return space === ascending || space === descending
}

function isOfLog(key: RowKey): boolean {
  return key.charCodeAt(0) === log
}

function isMarker(key: RowKey, value: Uint8Array | undefined): boolean {
  return value !== undefined && key.charCodeAt(0) === pending
}

/** Whether a row can be missing from the tree until its first read. */
function isOnDemand(key: RowKey): boolean {
  return isOfProperty(key) || isOfLog(key)
}

function touchesLog({ start, end }: KeyRange): boolean {
  return start < logRange.end && end > logRange.start
}

/** A log record from the list or the tree, without sorting the list; `undefined` = not found this way. */
function recordOf(key: RowKey, unread: UnreadRows, tree: MemoryKv | MemorySnapshot): Uint8Array | undefined {
  return isOfLog(key) ? (valueIn(unread, key) ?? tree.get(key)) : undefined
}
