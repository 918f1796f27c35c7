/**
 * The store: one ordered map from row key to bytes. Its bodies are level-kv (LevelDB on disk) and memory-kv (a
 * copy-on-write B+tree); one contract suite runs on both.
 *
 * The engine's correctness rests only on get, scan, mutate and mutateIf, which a Bigtable has too. `batch` and `snapshot`
 * are capabilities: where a body has them they bring speed or convenience.
 *
 * K1  Rows are ordered by the unsigned bytes of their keys.
 * K2  mutate and mutateIf are atomic for their row; batch is atomic for all its rows.
 * K3  A write is seen by every get and scan that starts after it was acknowledged.
 * K4  A scan sees the store as of some moment not before it was opened, or of its last seek; a snapshot sees exactly the
 *     moment of its making. (memory-kv and level-kv keep the moment of the opening, also over seeks.)
 * K5  A failed write poisons the store: later writes are refused with UNAVAILABLE until it is opened anew.
 * K6  A row is answered as it was written, or reading it fails with DamagedRow. A scan answers the rows before it first, and
 *     goes on behind it by a seek. (Of level-kv: rows with a checksum, row-proof.ts.)
 *
 * A closed store refuses everything with UNAVAILABLE. Methods that answer at once throw their errors.
 */
import type { RequestContext } from '../context.ts'
import type { DatastoreError } from '../errors.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { RowKey } from '../row.ts'

export type { RowKey }

/** Rows from `start` (inclusive) to `end` (exclusive). */
export interface KeyRange {
  readonly start: RowKey
  readonly end: RowKey
}

export interface KvRow {
  readonly key: RowKey
  readonly value: Uint8Array
}

/** One row's change: `undefined` deletes. The store keeps the bytes as they are given, so nobody may change them afterwards. */
export interface KvWrite {
  readonly key: RowKey
  readonly value: Uint8Array | undefined
}

/**
 * A value whose bytes are made when somebody reads them. A store in memory keeps it as it is: of what is written often and
 * read seldom, as records of the log are, it never makes the bytes at all.
 */
export interface DeferredValue {
  /** Of the bytes. */
  readonly length: number
  /** The same bytes in each call. */
  bytes(): Uint8Array
}

/** One row's change in a batch. */
export interface BatchWrite {
  readonly key: RowKey
  readonly value: Uint8Array | DeferredValue | undefined
}

/**
 * Index rows that are made while a store writes them, so that nothing of them is kept meanwhile. Asked again they are the
 * same. Their keys are in no other write of the batch.
 */
export interface MadeRows {
  readonly count: number
  /**
   * @param put - is handed each row; the array of the key has the next one's bytes as soon as `put` returns
   * @param wants - asked, for each beginning that rows share, whether those are wanted; absent = all are
   */
  each(put: (key: Uint8Array, value: Uint8Array) => void, wants?: (head: RowKey) => boolean): void
}

/** What is written together: a list, and rows that are made for it. */
export interface WriteGroup {
  readonly writes: readonly BatchWrite[]
  readonly rows: MadeRows | undefined
}

/** The bytes of a value, those of a deferred one made now. */
export function bytesOfValue(value: BatchWrite['value']): Uint8Array | undefined {
  return value === undefined || value instanceof Uint8Array ? value : value.bytes()
}

export interface ScanOptions {
  /** From the end of the range to its start. */
  readonly reverse?: boolean | undefined
  /** How many rows the caller expects to want at first; a hint for read-ahead. */
  readonly expect?: number | undefined
  /** Whose scan it is: work that comes before the first row gives way to others, and ends with its caller. */
  readonly context?: RequestContext | undefined
  /** Rows that the store would have to make first may be left out: for who wants to delete all there are. */
  readonly onlyKept?: boolean
}

/**
 * A pull cursor over a range. The caller closes it, also after an error or an early end; a closed scan answers nothing.
 */
export interface KvScan {
  /** The next rows in scan order, at most `count` and at least one; an empty array means the range is exhausted. */
  next(count: number): MaybePromise<readonly KvRow[]>
  /** Moves to the first row at or after `key` in scan order (at or before it in a reverse scan), inside the range. */
  seek(key: RowKey): void
  close(): void
}

export interface KvReader {
  /** The row's bytes, which the caller must not change; `undefined` when there is no such row. */
  get(key: RowKey): MaybePromise<Uint8Array | undefined>
  /**
   * {@link get} for many keys, of a store that always answers at once and finds them faster together.
   *
   * @returns a value for each key
   */
  getAll?(keys: readonly RowKey[]): (Uint8Array | undefined)[]
  scan(range: KeyRange, options?: ScanOptions): KvScan
}

export interface KvSnapshot extends KvReader {
  close(): void
}

export interface KvCapabilities {
  /** batch() is atomic over its rows. */
  readonly batch: boolean
  readonly snapshot: boolean
}

/** When a write is acknowledged: when the process may die (`process`), or when the machine may (`power`). */
export type Durability = 'process' | 'power'

/** A file whose bytes are not as they were written. */
export interface FileDamage {
  readonly file: string
  readonly what: string
}

/**
 * Property indexes by what the rows of a kind begin with in one of the two tables (`A` or `D`, partition, kind): all of that
 * kind, or those whose rows begin with one of these.
 */
export type KeptIndexes = ReadonlyMap<RowKey, 'all' | ReadonlySet<RowKey>>

/** What a store says of itself. */
export interface StoreState {
  /** Where the rows are, in words for people: a folder, or "memory". */
  readonly location: string
  /** With what writes are refused since one has failed (K5); absent or `undefined` = none has. */
  readonly failure?: DatastoreError | undefined
  /** Calls `listener` when that happens, which is once. */
  onFailure?(listener: (failure: DatastoreError) => void): void
}

/** Ranges in which no reader finds a row any more. */
export interface RangesHidden {
  /**
   * Resolves when the rows are deleted: until then nobody may write to the ranges. Rejects when the store has failed, or is closed.
   * `undefined` = they are deleted.
   */
  readonly gone: Promise<void> | undefined
}

export interface Kv extends KvReader, StoreState {
  readonly supports: KvCapabilities
  /** Sets or deletes one row. */
  mutate(write: KvWrite): MaybePromise<void>
  /** Sets or deletes one row if its value is now `expected` (`undefined` = no such row). False: nothing was changed. */
  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean>
  /** All writes or none; a later write to a key wins. Only with `supports.batch`. */
  batch(writes: readonly BatchWrite[]): MaybePromise<void>
  /** As {@link batch}, for a store that wants no more of these rows than their bytes; absent = they are to be listed. */
  batchWith?(writes: readonly BatchWrite[], rows: MadeRows): MaybePromise<void>
  /** Only with `supports.snapshot`. */
  snapshot(): KvSnapshot
  /** Deletes every row. */
  clear(): MaybePromise<void>
  /**
   * Deletes every row of some ranges. Readers find all of them until it answers, and none from then on; what dies meanwhile may
   * have deleted a part. Absent = they are to be deleted row by row.
   */
  deleteRanges?(ranges: readonly KeyRange[]): MaybePromise<RangesHidden>
  /** Gives back the room that deleted rows of a range still take on disk. Reads and writes go on meanwhile. */
  compact?(range: KeyRange): Promise<void>
  /**
   * Of a store that keeps the rows of a property index from their first reading on: what it keeps now, so that nobody makes
   * rows that it would drop; `undefined` = every row is kept. To be asked in the turn of the write.
   */
  keptIndexes?(): KeptIndexes | undefined
  /** Of such a store: makes what it does not keep yet of a range, beside other calls, so that what is read later has it. */
  prepare?(range: KeyRange): MaybePromise<void>
  /** Of such a store: every row that reads would find as of now, in no order. Rows that are not kept are not kept by this. */
  scanAll?(): KvScan
  /** Such a store makes all rows, and keeps all from then on. Nothing is to be written until that is done. */
  keepAll?(): MaybePromise<void>
  /**
   * Looks for damage in the files that the rows are in, if they are in files. Reads all of them.
   *
   * @param onFile - called before each; what it throws ends the search
   */
  damage?(onFile?: () => void): Promise<readonly FileDamage[]>
  /** Waits for running writes, then releases files and locks. Closing twice is harmless. */
  close(): Promise<void>
}
