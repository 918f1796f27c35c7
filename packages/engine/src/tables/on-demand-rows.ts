/**
 * A store in memory that puts some rows in their places only when somebody reads them.
 *
 *   write ──▶ Entities, EntitiesByKind, composite rows …  ──────────────────────────────▶ the tree
 *             EntitiesByPropertyAsc, …Desc: of an index that was read before  ───────────▶ the tree
 *                                           of one that nobody has read yet   ───────────▶ dropped
 *             Log  ──────────────────────────────────────────────────────────────────────▶ a list (unread-log.ts)
 *   first read of an index ──▶ its rows are made from Entities, all at once, and kept from then on
 *   scan of the log        ──▶ the list goes into the tree, and begins anew; one record is found in either
 *
 * Every property of an entity has a row in either property table, and a typical application reads few of those indexes and
 * hardly one of them downwards. A row that nobody reads is a third of a microsecond to make and two to put in its place. On
 * disk all rows are kept: there the first read would have to be remembered over restarts.
 *
 * OD1  What is read is what a store shows that keeps every row: of now, of a snapshot, and after a restore.
 *                                                                          test/property/on-demand-rows.test.ts
 * OD2  The rows of an index are kept all or not at all, in the store and in each snapshot of it.           same
 * OD3  Index rows follow from the Entities rows only while no record waits to be applied. Before one may wait, keepAll() is
 *      called, and nothing is dropped or put off any more.                 log/commit-log.ts, test/property/apply.test.ts
 *
 * Ours.
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { skipText } from '../encoding/ordered.ts'
import {
  type BatchWrite,
  bytesOfValue,
  type KeptIndexes,
  type KeyRange,
  type Kv,
  type KvCapabilities,
  type KvWrite,
  type RowKey,
  type ScanOptions,
} from '../storage/kv.ts'
import type { MemoryKv, MemoryScan, MemorySnapshot } from '../storage/memory-kv.ts'
import { type IndexOptionsOf, type Kept, makeRows, missingIn } from './missing-indexes.ts'
import { nothingUnread, sortedRows, UnreadLog, type UnreadRows, valueIn } from './unread-log.ts'

const nothing: Kept = { everything: false, kinds: new Map() }

const ascending = keySpaces.EntitiesByPropertyAsc.charCodeAt(0)
const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)
const log = keySpaces.Log.charCodeAt(0)
const logRange: KeyRange = { start: keySpaces.Log, end: prefixEnd(keySpaces.Log) }

export class OnDemandRows implements Kv {
  readonly #store: MemoryKv
  #kept: Kept = nothing
  /** Empty once everything is kept. */
  readonly #unread = new UnreadLog()
  /** Set by the engine that knows the databases, before anything is written. */
  optionsOf: IndexOptionsOf = () => ({})

  /** @param store - an empty store, which nobody else writes to */
  constructor(store: MemoryKv) {
    this.#store = store
  }

  get supports(): KvCapabilities {
    return this.#store.supports
  }

  get location(): string {
    return this.#store.location
  }

  get(key: RowKey): Uint8Array | undefined {
    if (isOnDemand(key)) {
      const record = recordOf(key, this.#unread.view(), this.#store)
      if (record !== undefined) return record
      this.#prepare(rangeOf(key))
    }
    return this.#store.get(key)
  }

  getAll(keys: readonly RowKey[]): (Uint8Array | undefined)[] {
    for (const key of keys) if (isOnDemand(key)) this.#prepare(rangeOf(key))
    return this.#store.getAll(keys)
  }

  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    this.#prepare(range, options?.onlyKept)
    return this.#store.scan(range, options)
  }

  mutate(write: KvWrite): void {
    this.#write(write)
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
    if (isOnDemand(write.key)) this.#prepare(rangeOf(write.key))
    return this.#store.mutateIf(write, expected)
  }

  batch(writes: readonly BatchWrite[]): void {
    if (this.#kept.everything) this.#store.batch(writes)
    else for (const write of writes) this.#write(write)
  }

  snapshot(): MemorySnapshot {
    return new OnDemandSnapshot(this, this.#store, this.#kept, this.#unread.view())
  }

  /** As {@link MemoryKv.restore}. */
  restore(snapshot: MemorySnapshot): void {
    if (!(snapshot instanceof OnDemandSnapshot)) throw new TypeError('restore() takes a snapshot of this store')
    const { kept, unread } = snapshot.restoreInto(this.#store)
    this.#kept = kept
    this.#unread.restore(unread)
  }

  keptIndexes(): KeptIndexes | undefined {
    return this.#kept.everything ? undefined : this.#kept.kinds
  }

  keepAll(): void {
    if (this.#kept.everything) return
    this.#prepare({ start: '', end: '\xff' })
    this.#kept = { ...this.#kept, everything: true }
  }

  clear(): void {
    this.#store.clear()
    this.#kept = nothing
    this.#unread.clear()
  }

  close(): Promise<void> {
    // What is still asked for or written goes to the store, which refuses it.
    this.#kept = { ...nothing, everything: true }
    this.#unread.clear()
    return this.#store.close()
  }

  /**
   * Puts what the range needs into the store, so that later snapshots have it.
   *
   * @returns what is kept, if the store was as the snapshot and the list have it; the snapshot is closed then
   */
  prepareFor(snapshot: MemorySnapshot, unread: UnreadRows, range: KeyRange, onlyKept: boolean): Kept | undefined {
    const isAt = this.#store.isAt(snapshot) && this.#unread.isAt(unread)
    if (isAt) snapshot.close()
    this.#prepare(range, onlyKept)
    return isAt ? this.#kept : undefined
  }

  /** @param onlyKept - as in {@link ScanOptions}; the list is kept, too */
  #prepare(range: KeyRange, onlyKept = false): void {
    if (this.#unread.size > 0 && touchesLog(range)) {
      this.#store.putSorted(sortedRows(this.#unread.view()))
      this.#unread.clear()
    }
    if (onlyKept) return
    const missing = missingIn(range, this.#kept, this.#store)
    if (missing.length > 0) this.#kept = makeRows(missing, this.#kept, this.#store, this.optionsOf)
  }

  #write(write: BatchWrite): void {
    const { key, value } = write
    if (!isOnDemand(key)) this.#store.mutate(write)
    else if (key.charCodeAt(0) !== log || this.#kept.everything) {
      if (this.#keeps(key)) this.#store.mutate(write)
    } else if (value !== undefined) this.#unread.add(key, value)
    // U2: what is not in the tree is in the list.
    else if (!this.#unread.dropOldest(key) && !this.#store.remove(key) && this.#unread.size > 0) {
      this.#prepare(rangeOf(key))
      this.#store.remove(key)
    }
  }

  /** Whether the store keeps a row of a property table. */
  #keeps(key: RowKey): boolean {
    const { everything, kinds } = this.#kept
    if (everything) return true
    if (kinds.size === 0) return false
    const kindEnd = skipText(key, skipPartition(key, 1))
    const kept = kinds.get(key.slice(0, kindEnd))
    if (kept === undefined) return false
    return kept === 'all' || kept.has(key.slice(0, skipText(key, kindEnd)))
  }
}

/** The store at one moment; what it lacks is put into the store while that has not moved on, else into a tree of its own. */
class OnDemandSnapshot implements MemorySnapshot {
  readonly #owner: OnDemandRows
  /** The owner's store, or a fork of it that holds what was put there for this snapshot alone. */
  #store: MemoryKv
  #snapshot: MemorySnapshot
  #kept: Kept
  #unread: UnreadRows

  constructor(owner: OnDemandRows, store: MemoryKv, kept: Kept, unread: UnreadRows) {
    this.#owner = owner
    this.#store = store
    this.#snapshot = store.snapshot()
    this.#kept = kept
    this.#unread = unread
  }

  get size(): number {
    return this.#snapshot.size + this.#unread.end - this.#unread.start
  }

  get(key: RowKey): Uint8Array | undefined {
    if (isOnDemand(key)) {
      const record = recordOf(key, this.#unread, this.#snapshot)
      if (record !== undefined) return record
      this.#prepare(rangeOf(key))
    }
    return this.#snapshot.get(key)
  }

  /** The scan may be used on after the snapshot was closed. */
  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    this.#prepare(range, options?.onlyKept)
    return this.#snapshot.scan(range, options)
  }

  close(): void {
    this.#snapshot.close()
  }

  /** @returns what the store has from now on */
  restoreInto(store: MemoryKv): { readonly kept: Kept; readonly unread: UnreadRows } {
    store.restore(this.#snapshot)
    return { kept: this.#kept, unread: this.#unread }
  }

  #prepare(range: KeyRange, onlyKept = false): void {
    const isUnread = this.#unread.start < this.#unread.end && touchesLog(range)
    const missing = onlyKept ? [] : missingIn(range, this.#kept, this.#snapshot)
    if (!isUnread && missing.length === 0) return
    const kept = this.#owner.prepareFor(this.#snapshot, this.#unread, range, onlyKept)
    if (kept !== undefined) this.#kept = kept
    else {
      const fork = this.#store.fork(this.#snapshot)
      if (isUnread) fork.putSorted(sortedRows(this.#unread))
      this.#kept = makeRows(missing, this.#kept, fork, this.#owner.optionsOf)
      this.#snapshot.close()
      this.#store = fork
    }
    this.#snapshot = this.#store.snapshot()
    if (isUnread) this.#unread = nothingUnread
  }
}

/** Whether a row may not be in its place, or not be at all, until somebody reads it. */
function isOnDemand(key: RowKey): boolean {
  const space = key.charCodeAt(0)
  return space === log || space === ascending || space === descending
}

/** A record of the log where it is now, so that the list need not be sorted; `undefined` says nothing. */
function recordOf(key: RowKey, unread: UnreadRows, tree: MemoryKv | MemorySnapshot): Uint8Array | undefined {
  if (key.charCodeAt(0) !== log) return undefined
  return bytesOfValue(valueIn(unread, key)) ?? tree.get(key)
}

function rangeOf(key: RowKey): KeyRange {
  return { start: key, end: `${key}\x00` }
}

function touchesLog({ start, end }: KeyRange): boolean {
  return start < logRange.end && end > logRange.start
}
