/**
 * Which applied log records are kept, and which may go: the newest, up to an age and a number of bytes.
 *
 * T1  Only wholly applied records are offered for deletion.   records enter when milestone B is done
 * T2  Deletions ride with a later commit; a record that outlives its time costs space, never correctness.
 * T3  Looking for the records of a group or of a kind after a moment costs what is found (kept-log.ts), unless groups were held back
 *     since the log was last empty: then it costs all kept records of the group or kind.
 *
 * Ours. Records of an earlier run are found by one scan in the background after opening, so that opening reads only the
 * pending markers.
 */
import type { Scheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { keyCodesOfPath } from '../encoding/key-codec.ts'
import { lowerBound } from '../lower-bound.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { giveWay, sortInSlices } from '../slices.ts'
import type { KeyRange, Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { compareVersions, type GroupCode, logRange, parseLogRowKey, versionOfLogRow } from '../tables/log-rows.ts'
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

/**
 * Deletions that ride with one commit for each record that it appends, at most: bounds what a commit pays for those before
 * it, and lets the log shrink under commits of many groups too.
 */
const deletionsPerRecord = 8

/** The end of a row key that sorts before, and after, all versions. */
const noVersion: RowKey = '\x00'.repeat(8)
const endlessVersion: RowKey = '\xff'.repeat(8)

/** Rows that went together with their log: no moment of before can be shown there any more. */
export interface Deletion {
  readonly ranges: readonly KeyRange[]
  /** The newest commit before it. */
  readonly at: bigint
}

/** The records that were kept at one time. */
export interface KeptRecords {
  /** Only ever appended to, so that it need not be copied. */
  readonly log: KeptLog
  readonly start: number
  readonly end: number
  readonly bytes: number
  readonly trimmedUpTo: bigint
  readonly newest: bigint
  readonly isOrdered: boolean
  readonly deletions: readonly Deletion[]
}

/** The records that were kept at one time, from the first that may be newer than a moment. */
export class NewerRecords {
  /** Places of different lineages are of different lists. */
  readonly lineage: number
  readonly end: number
  readonly #log: KeptLog
  readonly #start: number

  constructor(log: KeptLog, range: { readonly start: number; readonly end: number }, lineage: number) {
    this.#log = log
    this.#start = log.base + range.start
    this.end = log.base + range.end
    this.lineage = lineage
  }

  rowAt(place: number): RowKey {
    return this.#log.rows[place - this.#log.base] as RowKey
  }

  /** Places of the records of a group, ascending. @param from - none before this place */
  ofGroup(group: GroupCode, from: number = this.#start): readonly number[] {
    return this.#log.ofGroup(group, Math.max(from, this.#start), this.end)
  }

  /** The records that changed entities of a part. @param from - by name of a kind: none before this place */
  ofPart(part: TablePart, from?: ReadonlyMap<string, number>): Iterable<RecordsOfKind> {
    const start = this.#start
    return this.#log.ofPart(part, (name) => Math.max(from?.get(name) ?? start, start), this.end)
  }
}

export class Retention {
  readonly #limits: RetentionLimits
  readonly #scheduler: Scheduler
  #log = new KeptLog()
  #lineage = 0
  #head = 0
  #bytes = 0
  /** The greatest version that entered since the list was last empty. */
  #newest = 0n
  /** Whether versions never fall along the list. Records enter as they are applied; of groups that were held back, late. */
  #isOrdered = true
  readonly #openedAt: bigint
  /** The oldest record is younger than all that may go before this moment, microseconds; 0 = to be looked up. */
  #quietUntil = 0n
  #trimmedUpTo: bigint
  #deletions: readonly Deletion[] = []

  /** @param openedAt - the newest commitVersion of earlier runs: what came before it is not known until adopt() is done */
  constructor(limits: RetentionLimits, scheduler: Scheduler, openedAt = 0n) {
    this.#limits = limits
    this.#scheduler = scheduler
    this.#openedAt = openedAt
    this.#trimmedUpTo = openedAt
  }

  /** Bytes of the records now kept, as far as known. */
  get bytes(): number {
    return this.#bytes
  }

  /** A record is wholly applied and may go when its time comes. */
  add(record: AppliedRecord, version: bigint): void {
    if (this.#log.length === this.#head) {
      this.#isOrdered = true
      this.#newest = version
    } else if (version < this.#newest) this.#isOrdered = false
    else this.#newest = version
    this.#log.add(record)
    this.#bytes += record.logBytes
  }

  /**
   * The oldest moment that may be read, microseconds: every record of a later one is kept. A moment older than the age of
   * the limits is none, also while its records happen to be there.
   */
  get oldestReadable(): bigint {
    const horizon = this.#scheduler.nowMicros() - this.#limits.ageMicros
    if (horizon < this.#trimmedUpTo) return this.#trimmedUpTo
    return horizon
  }

  /** Links the records that came since the past was read last, beside other calls, for {@link newerThan}. */
  link(): MaybePromise<void> {
    const log = this.#log
    const context = requestContext({ clock: this.#scheduler })
    const step = (): MaybePromise<void> => {
      while (log.linkSome(linkedPerStep)) {
        const way = giveWay(context, linkedPerStep)
        if (way !== undefined) return way.then(step)
      }
    }
    return step()
  }

  /** The applied records above a version; where groups were held back, there are older ones among them. */
  newerThan(version: bigint): NewerRecords {
    const { rows, length: end } = this.#log
    const isOld = (index: number): boolean => versionOfLogRow(rows[index] as RowKey) <= version
    const start = this.#isOrdered ? lowerBound(end, isOld, this.#head) : this.#head
    return new NewerRecords(this.#log, { start, end }, this.#lineage)
  }

  /**
   * Deletions due now, at most a few for each of the `appended` records that they ride with. The caller writes them or the
   * records stay as orphans until the next opening.
   */
  take(appended: number): KvWrite[] {
    const oldest = this.#log.rows[this.#head]
    if (oldest === undefined) return []
    const now = this.#scheduler.nowMicros()
    if (this.#bytes <= this.#limits.bytesMax && now <= this.#quietUntil) return []
    const horizon = now - this.#limits.ageMicros
    if (this.#bytes <= this.#limits.bytesMax && versionOfLogRow(oldest) >= horizon) {
      this.#quietUntil = versionOfLogRow(oldest) + this.#limits.ageMicros
      return []
    }
    const deletions: KvWrite[] = []
    for (;;) {
      const next = this.#log.rows[this.#head]
      if (next === undefined || deletions.length === deletionsPerRecord * appended) break
      const version = versionOfLogRow(next)
      if (this.#bytes <= this.#limits.bytesMax && version >= horizon) break
      deletions.push({ key: next, value: undefined })
      this.#bytes -= this.#log.sizes[this.#head] as number
      if (version > this.#trimmedUpTo) this.#trimmedUpTo = version
      this.#head++
    }
    if (this.#head > 1024 && this.#head * 2 > this.#log.length) {
      this.#log = this.#log.part(this.#head, this.#log.length)
      this.#head = 0
    }
    return deletions
  }

  /** Rows go together with their log. */
  noteDeletion(deletion: Deletion): void {
    const oldest = this.oldestReadable
    this.#deletions = [...this.#deletions.filter(({ at }) => at >= oldest), deletion]
  }

  /** The ranges of which a moment cannot be shown. */
  deletedSince(moment: bigint): readonly KeyRange[] {
    return this.#deletions.filter(({ at }) => at >= moment).flatMap(({ ranges }) => ranges)
  }

  clear(): void {
    this.#quietUntil = 0n
    this.#replaceLog(new KeptLog())
    this.#bytes = 0
  }

  /** For a snapshot of the store. */
  kept(): KeptRecords {
    return {
      log: this.#log,
      start: this.#head,
      end: this.#log.length,
      bytes: this.#bytes,
      trimmedUpTo: this.#trimmedUpTo,
      newest: this.#newest,
      isOrdered: this.#isOrdered,
      deletions: this.#deletions,
    }
  }

  /** The store was set back to a snapshot. */
  restore({ log, start, end, bytes, trimmedUpTo, newest, isOrdered, deletions }: KeptRecords): void {
    this.#quietUntil = 0n
    this.#replaceLog(log.part(start, end))
    this.#bytes = bytes
    this.#trimmedUpTo = trimmedUpTo
    this.#newest = newest
    this.#isOrdered = isOrdered
    this.#deletions = deletions
  }

  /**
   * Finds the records that an earlier run left, in slices, oldest first in the end.
   *
   * @param pending - log rows that still wait to be applied; they come through add() in time
   */
  async adopt(kv: Kv, pending: ReadonlySet<RowKey>, stopped: () => boolean): Promise<void> {
    const context = requestContext({ clock: this.#scheduler })
    const found: AppliedRecord[] = []
    const scan = kv.scan(logRange)
    try {
      for (;;) {
        const rows = await scan.next(rowsPerScan)
        if (rows.length === 0 || stopped()) break
        for (const { key, value } of rows) {
          if (pending.has(key)) continue
          found.push(appliedRecord(key, value))
          await giveWay(context, 1 + value.length / bytesOfWork)
        }
      }
    } finally {
      scan.close()
    }
    if (stopped()) return
    const known = new Set(this.#log.rows.slice(this.#head))
    const older = new KeptLog()
    let bytes = 0
    for (const record of await sortInSlices(context, found, (a, b) => compareVersions(a.logRow, b.logRow))) {
      await giveWay(context, 1)
      if (known.has(record.logRow)) continue
      older.add(record)
      bytes += record.logBytes
    }
    if (stopped()) return
    this.#quietUntil = 0n
    const newest = versionOfLogRow(older.rows.at(-1) ?? noVersion)
    // A record that waited over the restart may have entered already, older than some that were applied before it.
    if (versionOfLogRow(this.#log.rows[this.#head] ?? endlessVersion) < newest) this.#isOrdered = false
    if (newest > this.#newest) this.#newest = newest
    this.#replaceLog(this.#log.part(this.#head, this.#log.length).behind(older))
    this.#bytes += bytes
    const [oldest] = older.rows
    if (oldest !== undefined && this.#trimmedUpTo === this.#openedAt) this.#trimmedUpTo = versionOfLogRow(oldest)
  }

  #replaceLog(log: KeptLog): void {
    this.#log = log
    this.#lineage++
    this.#head = 0
  }
}

const rowsPerScan = 1000
const linkedPerStep = 128
/** So many bytes of a record take as long to be decoded as a row that is read. */
const bytesOfWork = 64

/** A record of an earlier run. */
function appliedRecord(logRow: RowKey, value: Uint8Array): AppliedRecord {
  const { partition } = parseLogRowKey(logRow)
  const changes = decodeLogRecord(value).changes.map(({ path }) => ({ codes: keyCodesOfPath(partition, path) }))
  return { logRow, logBytes: logRow.length + value.length, changes }
}
