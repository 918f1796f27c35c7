/**
 * The store in memory: one copy-on-write B+tree (btree.ts). Everything answers at once; a snapshot costs O(1).
 *
 * kv/K1 and kv/K4 are the tree's; kv/K2 and kv/K3 hold because nothing runs between the rows of a batch; there are no failed writes.
 * A scan, too, sees exactly the moment of its opening.
 *
 * Values are kept as they are given, not copied: who writes a row must not change its bytes afterwards. Deferred values are
 * made into bytes for each reader.
 */
import { Buffer } from 'node:buffer'
import { DatastoreError } from '../errors.ts'
import { BTree, type TreeView } from './btree.ts'
import { getFrom } from './btree-node.ts'
import { rowsUnder } from './btree-range.ts'
import { type TreeRow, TreeScan } from './btree-scan.ts'
import type {
  BatchWrite,
  DeferredValue,
  KeyRange,
  Kv,
  KvCapabilities,
  KvRow,
  KvScan,
  KvSnapshot,
  KvWrite,
  RangesHidden,
  RowKey,
  ScanOptions,
} from './kv.ts'

const noRows: readonly KvRow[] = []

/** What the tree holds for a row: deferred values stay deferred. */
type Stored = Uint8Array | DeferredValue

export interface MemoryKvOptions {
  /** Most keys of a tree node; a small one makes tests split and merge often. */
  readonly nodeCapacity?: number
}

/** A snapshot of a {@link MemoryKv}; `size` is its number of rows. */
export interface MemorySnapshot extends KvSnapshot {
  readonly size: number
  get(key: RowKey): Uint8Array | undefined
  scan(range: KeyRange, options?: ScanOptions): MemoryScan
}

/** A scan that never gives a promise. */
export interface MemoryScan extends KvScan {
  next(count: number): readonly KvRow[]
}

export class MemoryKv implements Kv {
  readonly supports: KvCapabilities = { batch: true, snapshot: true }
  readonly location = 'memory'
  #tree: BTree<Stored>
  #closed = false

  /** @param rows - what the store holds at first, in any order; a later row with the same key wins */
  constructor(rows: Iterable<KvRow> = [], options: MemoryKvOptions = {}) {
    this.#tree = new BTree(options.nodeCapacity)
    for (const row of rows) this.#tree.set(row.key, row.value)
  }

  /** How many rows there are. */
  get size(): number {
    return this.#tree.size
  }

  get(key: RowKey): Uint8Array | undefined {
    if (this.#closed) throw closedError()
    return bytesOf(this.#tree.get(key))
  }

  getAll(keys: readonly RowKey[]): (Uint8Array | undefined)[] {
    if (this.#closed) throw closedError()
    const tree = this.#tree
    const found: (Stored | undefined)[] = []
    for (const key of keys) found.push(tree.get(key))
    return bytesOfAll(found)
  }

  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    if (this.#closed) throw closedError()
    return new TreeKvScan(this.#tree, this.#tree.view(), range, options?.reverse === true)
  }

  mutate(write: BatchWrite): void {
    if (this.#closed) throw closedError()
    this.#apply(write)
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
    if (this.#closed) throw closedError()
    if (!sameValue(bytesOf(this.#tree.get(write.key)), expected)) return false
    this.#apply(write)
    return true
  }

  batch(writes: readonly BatchWrite[]): void {
    if (this.#closed) throw closedError()
    for (const write of writes) this.#apply(write)
  }

  snapshot(): MemorySnapshot {
    if (this.#closed) throw closedError()
    return new TreeSnapshot(this.#tree)
  }

  /**
   * Makes the store what it was when the snapshot was made, in O(1). The snapshot stays good and can be restored again.
   * Open scans and snapshots are not disturbed. Throws a TypeError for a snapshot of another store.
   */
  restore(snapshot: KvSnapshot): void {
    if (this.#closed) throw closedError()
    if (!(snapshot instanceof TreeSnapshot)) throw new TypeError('restore() takes a snapshot of this store')
    snapshot.restoreInto(this.#tree)
  }

  /** @returns whether there was such a row */
  remove(key: RowKey): boolean {
    if (this.#closed) throw closedError()
    return this.#tree.delete(key) !== undefined
  }

  /** Sets rows, which must ascend strictly; cheaper for many than {@link batch}. */
  putSorted(rows: readonly TreeRow<Stored>[]): void {
    if (this.#closed) throw closedError()
    this.#tree.setSorted(rows)
  }

  /** A store of its own that begins as the snapshot is, in O(1). Its snapshots can be restored here. */
  fork(snapshot: MemorySnapshot): MemoryKv {
    if (!(snapshot instanceof TreeSnapshot)) throw new TypeError('fork() takes a snapshot of this store')
    const fork = new MemoryKv()
    fork.#tree = snapshot.forked()
    return fork
  }

  clear(): void {
    if (this.#closed) throw closedError()
    this.#tree.clear()
  }

  deleteRanges(ranges: readonly KeyRange[]): RangesHidden {
    if (this.#closed) throw closedError()
    for (const { start, end } of ranges) this.#tree.deleteRange(start, end)
    return { gone: undefined }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#tree.clear()
  }

  #apply(write: BatchWrite): void {
    if (write.value === undefined) this.#tree.delete(write.key)
    else this.#tree.set(write.key, write.value)
  }
}

function bytesOf(stored: Stored | undefined): Uint8Array | undefined {
  return stored === undefined || stored instanceof Uint8Array ? stored : stored.bytes()
}

/** Written so that what is read for it is read. */
let touched = 0

/**
 * Values as bytes. In a large store each is far from the processor when it was not used for a while, and to wait for one after
 * the other cost 25 of them a quarter of their lookup. In a loop that does nothing else they are fetched side by side.
 */
function bytesOfAll(found: (Stored | undefined)[]): (Uint8Array | undefined)[] {
  let sum = 0
  for (let i = 0; i < found.length; i++) {
    const stored = found[i]
    if (stored !== undefined && !(stored instanceof Uint8Array)) found[i] = stored.bytes()
  }
  const values = found as (Uint8Array | undefined)[]
  for (const value of values) if (value !== undefined && value.length > 0) sum += value[0] as number
  touched = (touched + sum) | 0
  return values
}

function rowOf(row: TreeRow<Stored>): KvRow {
  return isPlain(row) ? row : { key: row.key, value: (row.value as DeferredValue).bytes() }
}

function isPlain(row: TreeRow<Stored>): row is KvRow {
  return row.value instanceof Uint8Array
}

/** Whether two values have the same bytes, or are both absent. */
export function sameValue(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one === other || (one.length === other.length && Buffer.compare(one, other) === 0)
}

function closedError(): DatastoreError {
  return new DatastoreError('UNAVAILABLE', 'The store in memory was closed; open a new one to go on.')
}

class TreeKvScan implements MemoryScan {
  readonly #tree: BTree<Stored>
  readonly #view: TreeView<Stored>
  #scan: TreeScan<Stored> | undefined

  /** @param view - released when the scan is closed */
  constructor(tree: BTree<Stored>, view: TreeView<Stored>, range: KeyRange, reverse: boolean) {
    this.#tree = tree
    this.#view = view
    this.#scan = new TreeScan(view.root, view.height, range, reverse)
  }

  next(count: number): readonly KvRow[] {
    if (this.#scan === undefined) return noRows
    const rows = this.#scan.next(count)
    return rows.every(isPlain) ? rows : rows.map(rowOf)
  }

  seek(key: RowKey): void {
    this.#scan?.seek(key)
  }

  close(): void {
    if (this.#scan === undefined) return
    this.#scan = undefined
    this.#tree.release(this.#view)
  }
}

class TreeSnapshot implements MemorySnapshot {
  readonly #tree: BTree<Stored>
  readonly #view: TreeView<Stored>
  #closed = false

  constructor(tree: BTree<Stored>) {
    this.#tree = tree
    this.#view = tree.view()
  }

  get size(): number {
    const { size, root, height } = this.#view
    return Number.isNaN(size) ? rowsUnder(root, height) : size
  }

  get(key: RowKey): Uint8Array | undefined {
    this.#mustBeOpen()
    return bytesOf(getFrom(this.#view.root, this.#view.height, key))
  }

  /** The scan may be used on after the snapshot was closed. */
  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    this.#mustBeOpen()
    return new TreeKvScan(this.#tree, this.#tree.share(this.#view), range, options?.reverse === true)
  }

  restoreInto(tree: BTree<Stored>): void {
    this.#mustBeOpen()
    if (!tree.isKinOf(this.#tree)) throw new TypeError('restore() takes a snapshot of this store')
    if (tree !== this.#tree) this.#tree.leave(this.#view)
    tree.restore(this.#view)
  }

  forked(): BTree<Stored> {
    this.#mustBeOpen()
    return this.#tree.fork(this.#view)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#tree.release(this.#view)
  }

  #mustBeOpen(): void {
    if (this.#closed) throw new DatastoreError('UNAVAILABLE', 'The snapshot was closed; take a new one to go on.')
  }
}
