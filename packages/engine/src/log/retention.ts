/**
 * Retention: the newest applied log records are kept, up to an age and a number of bytes; older ones are deleted. With an
 * age of one hour, a record of 10:00 may go at 11:00, with the next commit that is written.
 *
 * Only wholly applied records are deleted. A record that stays too long costs space, never correctness.
 *
 * T1  A search for the records of a group or kind after a moment costs what it finds (kept-log.ts). After groups were held
 *     back, it costs all kept records of the group or kind until the log is empty again.
 *
 * Ours. A background scan after opening finds the records of an earlier run; opening reads only the pending markers.
 */
import type { Scheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { lowerBound } from '../lower-bound.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { giveWay, runInSlices } from '../slices.ts'
import { BTree } from '../storage/btree.ts'
import { TreeScan } from '../storage/btree-scan.ts'
import { type KeyRange, type Kv, type KvWrite, type RowKey, rowsFrom } from '../storage/kv.ts'
import { type GroupCode, parseLogRowKey, versionOfLogRow } from '../tables/log-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import type { TablePart } from '../tables/table-part.ts'
import { type AppliedRecord, KeptLog, type RecordsOfKind } from './kept-log.ts'
import { decodeLogRecord } from './log-record.ts'

export interface RetentionLimits {
  /** Age in microseconds after which a record may go. */
  readonly ageMicros: bigint
  /** Bytes of keys and records kept at most. */
  readonly bytesMax: number
}

export const defaultRetention: RetentionLimits = { ageMicros: 3_600_000_000n, bytesMax: 64 * 1024 * 1024 }

export interface Trimmed {
  readonly writes: readonly KvWrite[]
  /** Bytes of their keys and values. */
  readonly bytes: number
}

const nothingTrimmed: Trimmed = { writes: [], bytes: 0 }

/** Deletions for each record that a commit appends, at most: bounds the commit, and still lets the log shrink. */
const deletionsPerRecord = 8

/** The version part of a row key that sorts before all versions. */
const noVersion: RowKey = '\x00'.repeat(8)
const endlessVersion: RowKey = '\xff'.repeat(8)

/** Rows that were deleted together with their log: their past can no longer be read. */
export interface Deletion {
  readonly ranges: readonly KeyRange[]
  /** The newest commit before the deletion. */
  readonly at: bigint
}

interface Kept {
  log: KeptLog
  /** The index of the oldest one in the log. */
  head: number
  bytes: number
  trimmedUpTo: bigint
  /** The greatest version added since the list was last empty. */
  newest: bigint
  /** Whether versions rise along the list. Records are added when applied, which is late for groups that were held back. */
  isOrdered: boolean
  deletions: readonly Deletion[]
}

/** The kept records at one time. The log is only appended to, so it need not be copied. */
export interface KeptRecords extends Readonly<Kept> {
  readonly end: number
}

/** The kept records at one time, from the first that may be newer than a moment. */
export interface NewerRecords {
  /** Places of different lineages belong to different lists. */
  readonly lineage: number
  readonly end: number
  rowAt(place: number): RowKey
  /** Places of the records of a group, ascending. @param from - the first place to read */
  ofGroup(group: GroupCode, from?: number): readonly number[]
  /** The records that changed entities of a part. @param from - by name of a kind, its first place to read */
  ofPart(part: TablePart, from?: ReadonlyMap<string, number>): Iterable<RecordsOfKind>
}

export class Retention {
  readonly #limits: RetentionLimits
  readonly #scheduler: Scheduler
  #kept: Kept
  #lineage = 0
  readonly #openedAt: bigint
  /** No record is old enough for deletion before this moment, microseconds; 0 = unknown. */
  #quietUntil = 0n

  /** @param openedAt - the newest commitVersion of earlier runs: earlier records are unknown until adopt() is done */
  constructor(limits: RetentionLimits, scheduler: Scheduler, openedAt = 0n) {
    this.#limits = limits
    this.#scheduler = scheduler
    this.#openedAt = openedAt
    this.#kept = {
      log: new KeptLog(),
      head: 0,
      bytes: 0,
      trimmedUpTo: openedAt,
      newest: 0n,
      isOrdered: true,
      deletions: [],
    }
  }

  /** Bytes of the kept records, as far as they are known. */
  get bytes(): number {
    return this.#kept.bytes
  }

  add(record: AppliedRecord, version: bigint): void {
    const kept = this.#kept
    if (kept.log.rows.length === kept.head) {
      kept.isOrdered = true
      kept.newest = version
    } else if (version < kept.newest) kept.isOrdered = false
    else kept.newest = version
    kept.log.add(record)
    kept.bytes += record.logBytes
  }

  /** The oldest readable moment, microseconds: all later records are kept. It is never older than the age limit. */
  get oldestReadable(): bigint {
    const horizon = this.#scheduler.nowMicros() - this.#limits.ageMicros
    const { trimmedUpTo } = this.#kept
    if (horizon < trimmedUpTo) return trimmedUpTo
    return horizon
  }

  /** Links new records for {@link newerThan}, and yields to other calls. */
  link(): MaybePromise<void> {
    return runInSlices(requestContext({ clock: this.#scheduler }), this.#kept.log.linking())
  }

  /** The applied records above a version; some older ones are among them if groups were held back. */
  newerThan(version: bigint): NewerRecords {
    const { log, head, isOrdered } = this.#kept
    const { base, rows } = log
    const isOld = (index: number): boolean => versionOfLogRow(rows[index] as RowKey) <= version
    const start = base + (isOrdered ? lowerBound(rows.length, isOld, head) : head)
    const end = base + rows.length
    return {
      lineage: this.#lineage,
      end,
      rowAt: (place) => rows[place - base] as RowKey,
      ofGroup: (group, from = start) => log.ofGroup(group, Math.max(from, start), end),
      ofPart: (part, from) => log.ofPart(part, (name) => Math.max(from?.get(name) ?? start, start), end),
    }
  }

  /** Takes out due deletions, a few for each appended record, for the caller to write. @param now - its version */
  take(appended: number, now: bigint): Trimmed {
    const kept = this.#kept
    const oldest = kept.log.rows[kept.head]
    if (oldest === undefined) return nothingTrimmed
    if (kept.bytes <= this.#limits.bytesMax && now <= this.#quietUntil) return nothingTrimmed
    const horizon = now - this.#limits.ageMicros
    if (kept.bytes <= this.#limits.bytesMax && versionOfLogRow(oldest) >= horizon) {
      this.#quietUntil = versionOfLogRow(oldest) + this.#limits.ageMicros
      return nothingTrimmed
    }
    const before = kept.bytes
    const writes: KvWrite[] = []
    for (;;) {
      const next = kept.log.rows[kept.head]
      if (next === undefined || writes.length === deletionsPerRecord * appended) break
      const version = versionOfLogRow(next)
      if (kept.bytes <= this.#limits.bytesMax && version >= horizon) break
      writes.push({ key: next, value: undefined })
      kept.bytes -= kept.log.sizes[kept.head] as number
      if (version > kept.trimmedUpTo) kept.trimmedUpTo = version
      kept.head++
    }
    if (kept.head > 1024 && kept.head * 4 > kept.log.rows.length) {
      kept.log = kept.log.part(kept.head, kept.log.rows.length)
      kept.head = 0
    }
    return { writes, bytes: before - kept.bytes }
  }

  noteDeletion(deletion: Deletion): void {
    const oldest = this.oldestReadable
    const kept = this.#kept
    kept.deletions = [...kept.deletions.filter(({ at }) => at >= oldest), deletion]
  }

  /** The ranges whose past at this moment cannot be read. */
  deletedSince(moment: bigint): readonly KeyRange[] {
    return this.#kept.deletions.filter(({ at }) => at >= moment).flatMap(({ ranges }) => ranges)
  }

  clear(): void {
    this.#replace({ ...this.#kept, log: new KeptLog(), head: 0, bytes: 0 })
  }

  kept(): KeptRecords {
    return { ...this.#kept, end: this.#kept.log.rows.length }
  }

  restore({ end, ...kept }: KeptRecords): void {
    this.#replace({ ...kept, log: kept.log.part(kept.head, end), head: 0 })
  }

  /** Finds the records of an earlier run, in slices, until a reset. @param pending - log rows that are added later */
  async adopt(kv: Kv, pending: ReadonlySet<RowKey>, isClosed: () => boolean): Promise<void> {
    const lineage = this.#lineage
    const stopped = (): boolean => isClosed() || lineage !== this.#lineage
    const context = requestContext({ clock: this.#scheduler })
    // By version, then row.
    const found = new BTree<AppliedRecord>()
    for await (const { key, value } of rowsFrom(kv.scan(rowsOf('Log')), rowsPerScan)) {
      if (stopped()) return
      if (pending.has(key)) continue
      const { partition } = parseLogRowKey(key)
      const changes = decodeLogRecord(value).changes.map(({ path }) => ({ codes: keyCodesOfPath(partition, path) }))
      found.set(key.slice(-8) + key, { logRow: key, logBytes: key.length + value.length, changes })
      // The row, and its place in the order.
      await giveWay(context, 2 + value.length / bytesOfWork)
    }
    if (stopped()) return
    const kept = this.#kept
    const known = new Set(kept.log.rows.slice(kept.head))
    const older = new KeptLog()
    let bytes = 0
    const inOrder = new TreeScan(found, { start: '', end: '\xff' }, false)
    for await (const { value: record } of rowsFrom(inOrder, rowsPerScan)) {
      await giveWay(context, 1)
      if (known.has(record.logRow)) continue
      older.add(record)
      bytes += record.logBytes
    }
    if (stopped()) return
    const newestOlder = versionOfLogRow(older.rows.at(-1) ?? noVersion)
    const [oldest] = older.rows
    let { newest, trimmedUpTo } = kept
    if (newestOlder > newest) newest = newestOlder
    if (oldest !== undefined && trimmedUpTo === this.#openedAt) trimmedUpTo = versionOfLogRow(oldest)
    this.#replace({
      log: kept.log.part(kept.head, kept.log.rows.length).behind(older),
      head: 0,
      bytes: kept.bytes + bytes,
      trimmedUpTo,
      newest,
      // A record that was pending over the restart may have been added already; it is older than some applied before it.
      isOrdered: kept.isOrdered && versionOfLogRow(kept.log.rows[kept.head] ?? endlessVersion) >= newestOlder,
      deletions: kept.deletions,
    })
  }

  /** @param kept - with a new log, whose places are others */
  #replace(kept: Kept): void {
    this.#quietUntil = 0n
    this.#lineage++
    this.#kept = kept
  }
}

const rowsPerScan = 1000
/** Decoding this many bytes of a record takes as long as reading a row. */
const bytesOfWork = 64
