/**
 * The store in memory: one copy-on-write B+tree (btree.ts). Everything answers at once, a snapshot costs O(1), and no write
 * fails.
 *
 * Nothing runs between the rows of a batch, so it is atomic. A scan reads exactly the version of its opening. Values are kept
 * as given, without a copy, so their bytes must not be changed afterwards.
 */
import { sameBytes } from '../encoding/bytes.ts'
import { DatastoreError } from '../errors.ts'
import { BTree, type TreeView } from './btree.ts'
import { getFrom, rowsUnder } from './btree-node.ts'
import { TreeScan } from './btree-scan.ts'
import {
  handOver,
  type KeyRange,
  type Kv,
  type KvRow,
  type KvSnapshot,
  type KvWrite,
  type RowKey,
  type ScanOptions,
  snapshotClosed,
  type WriteSink,
  type Writes,
} from './kv.ts'

const noRows: readonly KvRow[] = []

function storeClosed(): never {
  throw new DatastoreError('UNAVAILABLE', 'The store in memory was closed; open a new one to go on.')
}

/** A scan that never returns a promise. */
export type MemoryScan = TreeScan<Uint8Array>

export class MemoryKv implements Kv, WriteSink {
  readonly location = 'memory'
  /** `undefined` after close(). */
  #tree: BTree<Uint8Array> | undefined
  /** The only use of the values read ahead, so that the loop is not optimised away. */
  #touched = 0

  /**
   * @param rows - the initial content, in any order; a later row with the same key wins
   * @param nodeCapacity - most keys of a tree node; with a small one tests split and merge often
   */
  constructor(rows: Iterable<KvRow> = [], { nodeCapacity }: { readonly nodeCapacity?: number } = {}) {
    const tree = new BTree<Uint8Array>(nodeCapacity)
    for (const row of rows) tree.set(row.key, row.value)
    this.#tree = tree
  }

  get size(): number {
    return this.#tree?.size ?? 0
  }

  get(key: RowKey): Uint8Array | undefined {
    return (this.#tree ?? storeClosed()).get(key)
  }

  getAll(keys: readonly RowKey[]): (Uint8Array | undefined)[] {
    const tree = this.#tree ?? storeClosed()
    const values = keys.map((key) => tree.get(key))
    // A value that was not used for a while is not in the processor's caches. A loop that does nothing else fetches many of
    // them in parallel (docs/decisions/0015-steps-to-speed.md).
    let sum = 0
    for (const value of values) if (value !== undefined && value.length > 0) sum += value[0] as number
    this.#touched = (this.#touched + sum) | 0
    return values
  }

  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    const tree = this.#tree ?? storeClosed()
    return new TreeScan(tree.view(), range, options?.reverse === true, tree)
  }

  mutate({ key, value }: KvWrite): void {
    this.write(key, value)
  }

  write(key: RowKey, value: Uint8Array | undefined): void {
    const tree = this.#tree ?? storeClosed()
    if (value === undefined) tree.delete(key)
    else tree.set(key, value)
  }

  mutateIf(write: KvWrite, expected: Uint8Array | undefined): boolean {
    if (!sameBytes(this.get(write.key), expected)) return false
    this.write(write.key, write.value)
    return true
  }

  batch(writes: Writes): void {
    if (this.#tree === undefined) storeClosed()
    handOver(writes, this)
  }

  snapshot(): MemorySnapshot {
    return new MemorySnapshot(this.#tree ?? storeClosed())
  }

  /** Resets the store to a snapshot of it in O(1). TypeError for another one. Open scans and snapshots do not change. */
  restore(snapshot: KvSnapshot): void {
    const tree = this.#tree ?? storeClosed()
    if (!(snapshot instanceof MemorySnapshot)) throw new TypeError('restore() takes a snapshot of this store')
    snapshot.restoreInto(tree)
  }

  /** @returns whether there was such a row */
  remove(key: RowKey): boolean {
    return (this.#tree ?? storeClosed()).delete(key) !== undefined
  }

  /** A new store with the content of the snapshot, in O(1). It can restore snapshots of this one. */
  fork(snapshot: MemorySnapshot): MemoryKv {
    if (!(snapshot instanceof MemorySnapshot)) throw new TypeError('fork() takes a snapshot of this store')
    const fork = new MemoryKv()
    fork.#tree = snapshot.forked()
    return fork
  }

  /** A new store with the present content, in O(1), for writes that {@link become} makes visible together. */
  copy(): MemoryKv {
    const snapshot = this.snapshot()
    const copy = this.fork(snapshot)
    snapshot.close()
    return copy
  }

  /** Takes the content of a {@link copy}, in O(1); nothing may have been written here since. Open scans and snapshots are not changed. */
  become(copy: MemoryKv): void {
    if (this.#tree === undefined) storeClosed()
    this.#tree = copy.#tree
  }

  clear(rows: readonly KvRow[] = noRows): void {
    const tree = this.#tree ?? storeClosed()
    tree.clear()
    this.batch(rows)
  }

  deleteRanges(ranges: readonly KeyRange[], rows: readonly KvRow[] = noRows): void {
    const tree = this.#tree ?? storeClosed()
    for (const { start, end } of ranges) tree.deleteRange(start, end)
    this.batch(rows)
  }

  async close(): Promise<void> {
    this.#tree?.clear()
    this.#tree = undefined
  }
}

export class MemorySnapshot implements KvSnapshot {
  readonly #tree: BTree<Uint8Array>
  /** `undefined` after close(). */
  #view: TreeView<Uint8Array> | undefined

  constructor(tree: BTree<Uint8Array>) {
    this.#tree = tree
    this.#view = tree.view()
  }

  get #opened(): TreeView<Uint8Array> {
    if (this.#view === undefined) throw snapshotClosed()
    return this.#view
  }

  get size(): number {
    const { size, root, height } = this.#opened
    return Number.isNaN(size) ? rowsUnder(root, height) : size
  }

  get(key: RowKey): Uint8Array | undefined {
    const { root, height } = this.#opened
    return getFrom(root, height, key)
  }

  /** The scan may outlive the snapshot. */
  scan(range: KeyRange, options?: ScanOptions): MemoryScan {
    return new TreeScan(this.#tree.share(this.#opened), range, options?.reverse === true, this.#tree)
  }

  restoreInto(tree: BTree<Uint8Array>): void {
    const view = this.#opened
    if (!tree.isKinOf(this.#tree)) throw new TypeError('restore() takes a snapshot of this store')
    if (tree !== this.#tree) this.#tree.leave(view)
    tree.restore(view)
  }

  forked(): BTree<Uint8Array> {
    return this.#tree.fork(this.#opened)
  }

  close(): void {
    if (this.#view === undefined) return
    this.#tree.release(this.#view)
    this.#view = undefined
  }
}
