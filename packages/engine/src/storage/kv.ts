/**
 * The store: one ordered map from row key to bytes. Implementations are level-kv (LevelDB on disk) and memory-kv (a
 * copy-on-write B+tree); one contract suite runs on both.
 *
 *   batch([{ key: E…ToDo:1, value }, { key: K…ToDo:1, value }])     both rows or none
 *   get(E…ToDo:1)                                                   its bytes; `undefined` = no such row
 *   scan({ start: E…ToDo:1, end: E…ToDo:9 }).next(10)               up to ten rows in the order of their keys
 *
 * A {@link Kv} is the store of one process: its batches, snapshots and deletions of ranges are atomic. A {@link RowKv}
 * changes one row at a time. If several processes share a store (engine/store-port.ts), the engine reads metadata and takes
 * ids through such a store.
 *
 * Rows are ordered by the unsigned bytes of their keys.
 * K2  mutate and mutateIf are atomic for their row; batch is atomic for all its rows. Readers find all rows of a deletion of
 *     ranges, or none.
 * K3  A write is seen by every get and scan that starts after it was acknowledged.
 * K4  A scan reads one version of the store, not older than its opening or its last seek; a snapshot reads exactly the
 *     version at its creation. (A store over wide rows reads each row at some moment after the opening.)
 * K5  After a failed write every later one is refused with UNAVAILABLE until the store is opened again.
 * K7  Writes take effect, and are answered, in the order of the calls.
 *
 * A row is answered as it was written, or reading it fails with DamagedRow. A scan gives the rows before the damaged one
 * first, and a seek continues behind it. A closed store refuses everything with UNAVAILABLE. Methods that answer at once
 * throw their errors.
 */
import { DatastoreError } from '../errors.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import type { RowKey } from '../row.ts'
import { sliceWorkMax } from '../slices.ts'

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

/** One row's change: `undefined` deletes. The store keeps the given array, so it must not be changed afterwards. */
export interface KvWrite {
  readonly key: RowKey
  readonly value: Uint8Array | undefined
}

export interface WriteSink {
  /**
   * Whether the sink wants rows with this prefix; if not, a source may leave them out without making them. Called once for a
   * prefix that many rows share, and not for rows that exist already. Absent = it wants all.
   */
  wants?(prefix: RowKey): boolean
  write(key: RowKey, value: Uint8Array | undefined): void
}

/** Writes that are made one by one while a sink consumes them, without a list. Each pass gives the same writes. */
export interface WriteSource {
  /** Maximum number of writes, including unwanted ones. */
  readonly count: number
  /** Writes in steps: each writes some rows and yields their work ({@link workOf}). */
  writeTo(sink: WriteSink): Iterable<number>
}

/** Writes of one batch. A source has at most one write for each key. */
export type Writes = readonly KvWrite[] | WriteSource

export function countOf(writes: Writes): number {
  return 'writeTo' in writes ? writes.count : writes.length
}

export function handOver(writes: Writes, sink: WriteSink): void {
  if ('writeTo' in writes) for (const _ of writes.writeTo(sink));
  else for (const { key, value } of writes) sink.write(key, value)
}

/** This many bytes of values count as one row of work. */
const bytesOfWork = 256

/** The work of some writes for giveWay(), in rows. */
export function workOf(rows: number, value: Uint8Array | undefined, other?: Uint8Array): number {
  return rows + ((value?.length ?? 0) + (other?.length ?? 0)) / bytesOfWork
}

/** {@link handOver} in steps that yield their work; what the caller does before and after has slices of its own. */
export function* handOverInSteps(writes: Writes, sink: WriteSink): Generator<number, void> {
  yield sliceWorkMax
  if ('writeTo' in writes) yield* writes.writeTo(sink)
  else {
    for (const { key, value } of writes) {
      sink.write(key, value)
      yield workOf(1, value)
    }
  }
  yield sliceWorkMax
}

export interface ScanOptions {
  readonly reverse?: boolean | undefined
  /** How many rows the caller will probably read first; a hint for read-ahead. */
  readonly expect?: number | undefined
}

/** A pull cursor over a range. The caller must close it, also after an error or an early end. */
export interface KvScan {
  /** The next rows in scan order, one to `count`; an empty array means that the range is exhausted. */
  next(count: number): MaybePromise<readonly KvRow[]>
  /** Moves to the first row at or after `key` in scan order (at or before it in a reverse scan), inside the range. */
  seek(key: RowKey): void
  close(): void
}

/** The rows of a scan, read in batches of `count`. Closes the scan, also if its reader ends before. */
export async function* rowsFrom<Row>(
  scan: { next(count: number): MaybePromise<readonly Row[]>; close(): void },
  count: number,
): AsyncGenerator<Row> {
  try {
    for (let rows = await scan.next(count); rows.length > 0; rows = await scan.next(count)) yield* rows
  } finally {
    scan.close()
  }
}

/** The first row of a scan, which is closed then. */
export function firstOf(scan: KvScan): MaybePromise<KvRow | undefined> {
  return finallyDo(
    () => andThen(scan.next(1), ([row]) => row),
    () => scan.close(),
  )
}

export interface KvReader {
  /** Whether reads of one turn of the event loop go to the store in few calls, so that they are best made side by side. */
  readonly gathersReads?: boolean
  /** The row's bytes, which the caller must not change; `undefined` if there is no such row. */
  get(key: RowKey): MaybePromise<Uint8Array | undefined>
  /** {@link get} for many keys, if the store finds them faster together: a value for each key. */
  getAll?(keys: readonly RowKey[]): MaybePromise<(Uint8Array | undefined)[]>
  scan(range: KeyRange, options?: ScanOptions): KvScan
}

export interface KvSnapshot extends KvReader {
  /** The number of rows, if the store knows it at once. */
  readonly size?: number
  close(): void
}

/** For a failure: closes the store, and throws the error again. */
export function closing(store: Pick<Kv, 'close'>): (error: unknown) => Promise<never> {
  return async (error) => {
    await store.close()
    throw error
  }
}

export function snapshotClosed(): DatastoreError {
  return new DatastoreError('UNAVAILABLE', 'The snapshot was closed; take a new one to go on.')
}

/** A write is acknowledged when it survives the death of the process (`process`), or of the machine (`power`). */
export type Durability = 'process' | 'power'

/** A file whose bytes are not those that were written. */
export interface FileDamage {
  readonly file: string
  readonly what: string
}

export interface StoreState {
  /** Where the rows are, for people: a folder, or "memory". */
  readonly location: string
  /** Advice for users if it does not answer; absent = it always does. */
  readonly silenceRemedy?: string | undefined
  /** The error of all writes after a failed one (K5), or of all calls during an outage; absent = none. */
  readonly failure?: DatastoreError | undefined
  /** Calls `listener` at a failure, and with `undefined` and perhaps a text at its end, which never comes after K5. */
  onFailure?(listener: (failure: DatastoreError | undefined, recovery?: string) => void): void
  /** Whether its data is gone, so that it refuses all calls for good with `failure`; absent = it is not. */
  readonly isGone?: boolean
}

export interface RowKv extends KvReader, StoreState {
  mutate(write: KvWrite): MaybePromise<void>
  /** Sets or deletes one row if its value is `expected` (`undefined` = no such row). False: nothing was changed. */
  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean>
  /**
   * The first part of a range, or with `reverse` the last, that can be read without rows that the store would have to make.
   * `undefined`: the range is empty. Absent = the store has every row.
   */
  indexWithin?(range: KeyRange, reverse: boolean): MaybePromise<KeyRange | undefined>
  /** Looks for damage in all files. @param onFile - called before each; an error that it throws ends the search */
  damage?(onFile?: () => void): Promise<readonly FileDamage[]>
  /** Waits for writes in progress, then releases files and locks. Closing twice is harmless. */
  close(): Promise<void>
}

export interface Kv extends RowKv {
  /** All writes or none; a later write to a key wins. */
  batch(writes: Writes): MaybePromise<void>
  snapshot(): KvSnapshot
  /**
   * Deletes every row of some ranges. Until it answers, readers find all of the rows, and then none; if the process dies
   * meanwhile, all or none are deleted. Until it answers, nothing may be written to the ranges.
   *
   * @param rows - set by the same write; they may be in the ranges
   */
  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void>
  clear(rows?: readonly KvRow[]): MaybePromise<void>
  /** Resolves when deleted rows need no disk space any more, or when the store is closed. Absent = they never do. */
  tidy?(): Promise<void>
  /** Resets the store to the snapshot, which stays valid. Throws a TypeError for a snapshot of another store. */
  restore?(snapshot: KvSnapshot): void
}
