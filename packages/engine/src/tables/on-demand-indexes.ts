/**
 * A store in memory that keeps the rows of a property index from the first time on that somebody reads them.
 *
 *   write ──▶ Entities, EntitiesByKind, composite rows, log …  ─────────────────────────▶ kept
 *             EntitiesByPropertyAsc, …Desc: of an index that was read before  ───────────▶ kept
 *                                           of one that nobody has read yet   ───────────▶ dropped
 *   first read of an index ──▶ its rows are made from Entities, all at once, and kept from then on
 *
 * Every property of an entity has a row in either property table, and a typical application reads few of those indexes and
 * hardly one of them downwards. A row that nobody reads is a third of a microsecond to make and two to put in its place. On
 * disk all rows are kept: there the first read would have to be remembered over restarts.
 *
 * An index is a kind and a property in one of the two tables; its rows share a prefix. Ranges that are wider than one index
 * (the inspector's, the checker's) make all indexes of the kinds that they meet.
 *
 * OD1  What is read is what a store shows that keeps every row: of now, of a snapshot, and after a restore.
 *                                                                       test/property/on-demand-indexes.test.ts
 * OD2  The rows of an index are kept all or not at all, in the store and in each snapshot of it.           same
 * OD3  Index rows follow from the Entities rows only while no record waits to be applied. Before one may wait, keepAll() is
 *      called, and nothing is dropped any more.                         log/commit-log.ts, test/property/apply.test.ts
 *
 * Ours.
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import { skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, skipText } from '../encoding/ordered.ts'
import { indexRowValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type {
  BatchWrite,
  KeptIndexes,
  KeyRange,
  Kv,
  KvCapabilities,
  KvReader,
  KvRow,
  KvWrite,
  RowKey,
  ScanOptions,
} from '../storage/kv.ts'
import type { MemoryKv, MemoryScan, MemorySnapshot } from '../storage/memory-kv.ts'
import { entityRowKey, propertiesOfImage } from './entities.ts'
import { type PropertyTable, propertyRowsOf, scatterEntry, valueColumn } from './rows.ts'
import { type StoredIndexOptions, scatterOf } from './scatter.ts'

/** What is kept of the property tables. Never changed: another one takes its place. */
interface Kept {
  readonly everything: boolean
  readonly kinds: KeptIndexes
}

const nothing: Kept = { everything: false, kinds: new Map() }

/** Index rows that are to be made: of one property of a kind, or of all. */
interface Missing {
  readonly table: PropertyTable
  /** What the rows of the kind begin with, without the byte of the table. */
  readonly kind: string
  /** What the rows of the index begin with; absent = all indexes of the kind. */
  readonly prefix?: RowKey | undefined
}

const tables: readonly PropertyTable[] = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc']
const ascending = keySpaces.EntitiesByPropertyAsc.charCodeAt(0)
const descending = keySpaces.EntitiesByPropertyDesc.charCodeAt(0)

/** By which rules the entities of a database are indexed. */
export type IndexOptionsOf = (databaseCode: string) => StoredIndexOptions

export class OnDemandIndexes implements Kv {
  readonly #store: MemoryKv
  #kept: Kept = nothing
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
    if (isPropertyRow(key)) this.#make({ start: key, end: `${key}\x00` })
    return this.#store.get(key)
  }

  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    if (options?.onlyKept !== true) this.#make(range)
    return this.#store.scan(range, options)
  }

  mutate(write: KvWrite): void {
    if (this.#keeps(write.key)) this.#store.mutate(write)
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
    if (isPropertyRow(write.key)) this.#make({ start: write.key, end: `${write.key}\x00` })
    return this.#store.mutateIf(write, expected)
  }

  batch(writes: readonly BatchWrite[]): void {
    // A commit makes only rows that are kept: nothing is copied for it.
    const isWhole = this.#kept.everything || writes.every(({ key }) => this.#keeps(key))
    this.#store.batch(isWhole ? writes : writes.filter(({ key }) => this.#keeps(key)))
  }

  snapshot(): MemorySnapshot {
    return new OnDemandSnapshot(this, this.#store, this.#kept)
  }

  /** As {@link MemoryKv.restore}. */
  restore(snapshot: MemorySnapshot): void {
    if (!(snapshot instanceof OnDemandSnapshot)) throw new TypeError('restore() takes a snapshot of this store')
    this.#kept = snapshot.restoreInto(this.#store)
  }

  keptIndexes(): KeptIndexes | undefined {
    return this.#kept.everything ? undefined : this.#kept.kinds
  }

  keepAll(): void {
    if (this.#kept.everything) return
    this.#make({ start: '', end: '\xff' })
    this.#kept = { ...this.#kept, everything: true }
  }

  clear(): void {
    this.#store.clear()
    this.#kept = nothing
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  /**
   * Makes what the range needs in the store, so that later snapshots have it.
   *
   * @returns what is kept, if the store was as `snapshot` has it, which then is closed
   */
  makeFor(snapshot: MemorySnapshot, range: KeyRange): Kept | undefined {
    const isAt = this.#store.isAt(snapshot)
    if (isAt) snapshot.close()
    this.#make(range)
    return isAt ? this.#kept : undefined
  }

  #make(range: KeyRange): void {
    const missing = missingIn(range, this.#kept, this.#store)
    if (missing.length > 0) this.#kept = makeRows(missing, this.#kept, this.#store, this.optionsOf)
  }

  #keeps(key: RowKey): boolean {
    if (!isPropertyRow(key)) return true
    const { everything, kinds } = this.#kept
    if (everything) return true
    if (kinds.size === 0) return false
    const kindEnd = skipText(key, skipPartition(key, 1))
    const kept = kinds.get(key.slice(0, kindEnd))
    if (kept === undefined) return false
    return kept === 'all' || kept.has(key.slice(0, skipText(key, kindEnd)))
  }
}

/** The store at one moment; what it lacks is made in the store while that has not moved on, else in a tree of its own. */
class OnDemandSnapshot implements MemorySnapshot {
  readonly #owner: OnDemandIndexes
  /** The owner's store, or a fork of it that holds what was made for this snapshot alone. */
  #store: MemoryKv
  #snapshot: MemorySnapshot
  #kept: Kept

  constructor(owner: OnDemandIndexes, store: MemoryKv, kept: Kept) {
    this.#owner = owner
    this.#store = store
    this.#snapshot = store.snapshot()
    this.#kept = kept
  }

  get size(): number {
    return this.#snapshot.size
  }

  get(key: RowKey): Uint8Array | undefined {
    if (isPropertyRow(key)) this.#make({ start: key, end: `${key}\x00` })
    return this.#snapshot.get(key)
  }

  /** The scan may be used on after the snapshot was closed. */
  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    if (options?.onlyKept !== true) this.#make(range)
    return this.#snapshot.scan(range, options)
  }

  close(): void {
    this.#snapshot.close()
  }

  /** @returns what the store keeps from now on */
  restoreInto(store: MemoryKv): Kept {
    store.restore(this.#snapshot)
    return this.#kept
  }

  #make(range: KeyRange): void {
    const missing = missingIn(range, this.#kept, this.#snapshot)
    if (missing.length === 0) return
    const kept = this.#owner.makeFor(this.#snapshot, range)
    if (kept !== undefined) {
      this.#snapshot = this.#store.snapshot()
      this.#kept = kept
      return
    }
    const fork = this.#store.fork(this.#snapshot)
    this.#kept = makeRows(missing, this.#kept, fork, this.#owner.optionsOf)
    this.#snapshot.close()
    this.#snapshot = fork.snapshot()
    this.#store = fork
  }
}

function isPropertyRow(key: RowKey): boolean {
  const space = key.charCodeAt(0)
  return space === ascending || space === descending
}

/** How long the leading `count` texts of `code` are; -1 when it has not so many. */
function textsEnd(code: string, count: number): number {
  let at = 0
  for (let i = 0; i < count; i++) {
    for (;;) {
      const zero = code.indexOf('\x00', at)
      if (zero < 0 || zero + 1 === code.length) return -1
      at = zero + 2
      if (code.charCodeAt(zero + 1) === 0x01) break
    }
  }
  return at
}

/** Project, database, namespace, kind; and one more of a property. */
const kindTexts = 4

/** What of a range is not kept. */
function missingIn({ start, end }: KeyRange, { everything, kinds }: Kept, reader: KvReader): Missing[] {
  const missing: Missing[] = []
  if (everything) return missing
  for (const table of tables) {
    const space = keySpaces[table]
    if (end <= space || start >= prefixEnd(space)) continue
    // The range in this table, without the byte of the table.
    const low = start < space ? '' : start.slice(1)
    const high = end < prefixEnd(space) ? end.slice(1) : '\xff'
    const prefix = low.slice(0, Math.max(0, textsEnd(low, kindTexts + 1)))
    if (prefix !== '' && high <= prefixEnd(prefix)) {
      const kind = low.slice(0, textsEnd(low, kindTexts))
      const kept = kinds.get(space + kind)
      if (kept !== 'all' && !kept?.has(space + prefix)) missing.push({ table, kind, prefix: space + prefix })
      continue
    }
    for (const kind of kindsBetween(low, high, reader)) {
      if (kinds.get(space + kind) !== 'all') missing.push({ table, kind })
    }
  }
  return missing
}

/** The kinds that have entities and may have rows from `low` up to `high` in a property table. */
function kindsBetween(low: string, high: string, reader: KvReader): string[] {
  const lowKind = low.slice(0, Math.max(0, textsEnd(low, kindTexts)))
  const highKind = high.slice(0, Math.max(0, textsEnd(high, kindTexts)))
  const space = keySpaces.EntitiesByKind
  const start = space + (lowKind === '' ? low : lowKind)
  const end = highKind === '' ? space + high : prefixEnd(space + highKind)
  const kinds: string[] = []
  const scan = reader.scan({ start, end }, { expect: 1 })
  try {
    for (;;) {
      const [row] = atOnce(scan.next(1))
      if (row === undefined) return kinds
      const kind = row.key.slice(1, 1 + textsEnd(row.key.slice(1), kindTexts))
      kinds.push(kind)
      scan.seek(prefixEnd(space + kind))
    }
  } finally {
    scan.close()
  }
}

/** Puts rows that are not kept yet into the store. @returns what is kept with them */
function makeRows(missing: readonly Missing[], kept: Kept, store: MemoryKv, optionsOf: IndexOptionsOf): Kept {
  const kinds = new Map(kept.kinds)
  for (const index of missing) {
    store.putSorted(rowsOf(index, store, optionsOf))
    const { table, kind, prefix } = index
    const head = keySpaces[table] + kind
    const known = kinds.get(head)
    if (prefix === undefined) kinds.set(head, 'all')
    else if (known !== 'all') kinds.set(head, new Set([...(known ?? []), prefix]))
  }
  return { ...kept, kinds }
}

/** The rows of an index, or of all indexes of a kind in a table, in their order. */
function rowsOf({ table, kind, prefix }: Missing, store: MemoryKv, optionsOf: IndexOptionsOf): readonly KvRow[] {
  const partition = kind.slice(0, textsEnd(kind, kindTexts - 1))
  const kindCode = kind.slice(partition.length)
  const options = optionsOf(partition.slice(0, textsEnd(partition, 2)))
  const property = prefix === undefined ? undefined : decodeText(prefix, 1 + kind.length).value
  const rows = new RowsToSort(prefix ?? '')
  const start = keySpaces.EntitiesByKind + kind
  const scan = store.scan({ start, end: prefixEnd(start) })
  try {
    for (;;) {
      const found = scan.next(rowsPerStep)
      if (found.length === 0) return rows.inOrder()
      for (const { key } of found) {
        const path = key.slice(start.length)
        const cell = store.get(entityRowKey(partition, path))
        invariant(cell !== undefined, 'OD3: an entity with a row in EntitiesByKind has one in Entities')
        const entries = indexEntries(propertiesOfImage(cell), options, property)
        const scatter = options.scatter === undefined ? undefined : scatterOf(path, options.scatter)
        const all = scatter === undefined ? entries : [...entries, scatterEntry(scatter)]
        if (property === undefined) {
          const codes = { partition, kind: kindCode, path }
          for (const row of propertyRowsOf(table, codes, all)) rows.add(row.key, row.value)
          continue
        }
        for (const entry of all) {
          if (entry.property !== property) continue
          rows.add(valueColumn(table, entry) + path, indexRowValue(entry.type, entry.multi))
        }
      }
    }
  } finally {
    scan.close()
  }
}

const rowsPerStep = 1000

/**
 * Rows to be brought in order. Texts sort four times as fast as rows do, the faster the sooner they differ; and most rows of an
 * index have one value.
 */
class RowsToSort {
  readonly #prefix: RowKey
  /** Of the row keys, what comes after the prefix. */
  readonly #rests: string[] = []
  /** The value of the rows that are not in `others`. */
  #common: Uint8Array | undefined
  readonly #others = new Map<string, Uint8Array>()

  /** @param prefix - of all rows */
  constructor(prefix: RowKey) {
    this.#prefix = prefix
  }

  add(rest: string, value: Uint8Array): void {
    this.#common ??= value
    if (value !== this.#common) this.#others.set(rest, value)
    this.#rests.push(rest)
  }

  inOrder(): KvRow[] {
    const common = this.#common ?? new Uint8Array(0)
    const hasOthers = this.#others.size > 0
    return this.#rests.sort().map((rest) => ({
      key: this.#prefix + rest,
      value: hasOthers ? (this.#others.get(rest) ?? common) : common,
    }))
  }
}

/** A store in memory answers at once. */
function atOnce<T>(value: T | Promise<T>): T {
  invariant(!(value instanceof Promise), 'a store in memory answers at once')
  return value
}
