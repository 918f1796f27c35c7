/**
 * The store: one ordered map from row key to bytes. Its implementations are level-kv (LevelDB on disk) and memory-kv (a
 * copy-on-write B+tree); one contract suite runs on both.
 *
 * A {@link Kv} has batches, snapshots and deletions of ranges, all atomic: it is the store of one process. A {@link RowKv} changes
 * one row at a time; of such a store (engine/store-port.ts) the engine reads metadata and takes ids.
 *
 * K1  Rows are ordered by the unsigned bytes of their keys.
 * K2  mutate and mutateIf are atomic for their row; batch is atomic for all its rows. Readers find all rows of a deletion
 *     of ranges, or none.
 * K3  A write is seen by every get and scan that starts after it was acknowledged.
 * K4  A scan reads one version of the store, not older than its opening or its last seek; a snapshot reads exactly the
 *     version at its creation. (memory-kv and level-kv keep the version of the opening, also over seeks. A store by rows gives each
 *     row as of some moment after the opening, and is read as of a version where that matters.)
 * K5  A failed write poisons the store: later writes are refused with UNAVAILABLE until it is opened anew.
 * K6  A row is answered as it was written, or reading it fails with DamagedRow. A scan answers the rows before it first, and
 *     goes on behind it by a seek. (Of level-kv: rows with a checksum, row-proof.ts.)
 * K7  Writes take effect, and are answered, in the order in which they were asked for.
 *
 * Optional operations are getAll, indexWithin, damage, tidy (waits until the disk space of deleted rows is free), and restore (back
 * to a snapshot in O(1), for tests that begin anew). A scan takes the context of its caller, so that work before its first row runs in
 * slices. A store knows nothing of tables: rows are materialised on demand by a store over this one (on-demand/).
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

/** One row's change: `undefined` deletes. The store keeps the bytes as they are given, so they must not be changed afterwards. */
export interface KvWrite {
  readonly key: RowKey
  readonly value: Uint8Array | undefined
}

/** A consumer of writes, one after the other. */
export interface WriteSink {
  /**
   * Whether the sink wants rows with this prefix; if not, a source leaves them out, and need not make them. Called once for each
   * prefix that many rows share, and not for rows that exist already. Absent = it wants all.
   */
  wants?(prefix: RowKey): boolean
  write(key: RowKey, value: Uint8Array | undefined): void
}

/** Writes that are made one by one while a sink consumes them, so that no list is kept. Each pass gives the same writes. */
export interface WriteSource {
  /** Maximum number of writes: unwanted ones are counted too. */
  readonly count: number
  writeTo(sink: WriteSink): void
  /** The same in steps: each hands over some writes, and tells how much work they are ({@link workOf}). Absent = all are one step. */
  stepsTo?(sink: WriteSink): Iterable<number>
}

/** Writes of one batch. No two writes of a source are to one key. */
export type Writes = readonly KvWrite[] | WriteSource

/** Hands writes to a sink. */
export function handOver(writes: Writes, sink: WriteSink): void {
  if ('writeTo' in writes) writes.writeTo(sink)
  else for (const { key, value } of writes) sink.write(key, value)
}

/** Bytes of values that take as long as a row. */
const bytesOfWork = 256

/** The work of some writes, for giveWay(): in rows. */
export function workOf(rows: number, ...values: readonly (Uint8Array | undefined)[]): number {
  return values.reduce((work, value) => work + (value === undefined ? 0 : value.length / bytesOfWork), rows)
}

/** {@link handOver} in steps, for a sink that gives way to others between them: each tells its work. */
export function* handOverInSteps(writes: Writes, sink: WriteSink): Iterable<number> {
  if (!('writeTo' in writes)) {
    for (const { key, value } of writes) {
      sink.write(key, value)
      yield workOf(1, value)
    }
  } else if (writes.stepsTo !== undefined) {
    yield* writes.stepsTo(sink)
  } else {
    writes.writeTo(sink)
    yield writes.count
  }
}

/** Writes as a list. */
export function listOf(writes: Writes): readonly KvWrite[] {
  if (!('writeTo' in writes)) return writes
  const list: KvWrite[] = []
  writes.writeTo({ write: (key, value) => list.push({ key, value }) })
  return list
}

export interface ScanOptions {
  /** From the end of the range to its start. */
  readonly reverse?: boolean | undefined
  /** How many rows the caller expects to want at first; a hint for read-ahead. */
  readonly expect?: number | undefined
  /** Context of the caller: work before the first row runs in slices, and ends with the caller. */
  readonly context?: RequestContext | undefined
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
  /** Whether reads of one turn of the event loop go to the store in few calls, so that they are best made side by side. */
  readonly gathersReads?: boolean
  /** The row's bytes, which the caller must not change; `undefined` when there is no such row. */
  get(key: RowKey): MaybePromise<Uint8Array | undefined>
  /**
   * {@link get} for many keys, of a store that finds them faster together.
   *
   * @returns a value for each key
   */
  getAll?(keys: readonly RowKey[]): MaybePromise<(Uint8Array | undefined)[]>
  scan(range: KeyRange, options?: ScanOptions): KvScan
}

export interface KvSnapshot extends KvReader {
  /** How many rows it has, of a store that can tell at once. */
  readonly size?: number
  close(): void
}

/** When a write is acknowledged: when the process may die (`process`), or when the machine may (`power`). */
export type Durability = 'process' | 'power'

/** A file whose bytes are not as they were written. */
export interface FileDamage {
  readonly file: string
  readonly what: string
}

/** The state of a store. */
export interface StoreState {
  /** Where the rows are, in words for people: a folder, or "memory". */
  readonly location: string
  /** Advice for users when it does not answer; absent = it always does. */
  readonly silenceRemedy?: string | undefined
  /** With what writes are refused since one has failed (K5), or all calls as long as that lasts; absent or `undefined` = none are. */
  readonly failure?: DatastoreError | undefined
  /**
   * Calls `listener` when that happens, and with `undefined` when it is over, perhaps with words for that; a store that has failed by K5
   * never serves again.
   */
  onFailure?(listener: (failure: DatastoreError | undefined, recovery?: string) => void): void
  /** Whether it refuses all calls for good, with `failure`, since its data is gone; absent = it is not. */
  readonly isGone?: boolean
}

/** A store that changes one row at a time. */
export interface RowKv extends KvReader, StoreState {
  /** Sets or deletes one row. */
  mutate(write: KvWrite): MaybePromise<void>
  /** Sets or deletes one row if its value is now `expected` (`undefined` = no such row). False: nothing was changed. */
  mutateIf(write: KvWrite, expected: Uint8Array | undefined): MaybePromise<boolean>
  /** Deletes every row. */
  clear(): MaybePromise<void>
  /**
   * The first part of a range, or with `reverse` the last, that can be read without rows of other indexes, which the store would
   * have to make. `undefined`: no row is in the range. Absent = every row is there.
   */
  indexWithin?(range: KeyRange, reverse: boolean): MaybePromise<KeyRange | undefined>
  /**
   * Looks for damage in the files that the rows are in, if they are in files. Reads all of them.
   *
   * @param onFile - called before each; what it throws ends the search
   */
  damage?(onFile?: () => void): Promise<readonly FileDamage[]>
  /** Waits for running writes, then releases files and locks. Closing twice is harmless. */
  close(): Promise<void>
}

/** The store of one process. */
export interface Kv extends RowKv {
  /** All writes or none; a later write to a key wins. */
  batch(writes: Writes): MaybePromise<void>
  snapshot(): KvSnapshot
  /**
   * Deletes every row of some ranges. Readers find all of them until it answers, and none from then on; a process that dies meanwhile
   * has deleted all of them, or none. Nothing may be written to the ranges until it answers.
   *
   * @param rows - set by the same write; they may lie in the ranges
   */
  deleteRanges(ranges: readonly KeyRange[], rows?: readonly KvRow[]): MaybePromise<void>
  /** Deletes every row, as {@link deleteRanges} does. */
  clear(rows?: readonly KvRow[]): MaybePromise<void>
  /** Resolves when deleted rows take no room on disk any more, or when the store is closed. Absent = they never do. */
  tidy?(): Promise<void>
  /** Makes the store what it was when the snapshot was made, which stays good. Throws a TypeError for one of another store. */
  restore?(snapshot: KvSnapshot): void
}
