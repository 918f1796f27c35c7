/**
 * Which applied log records are kept, and which may go: the newest, up to an age and a number of bytes.
 *
 * T1  Only wholly applied records are offered for deletion.   records enter when milestone B is done
 * T2  Deletions ride with a later commit; a record that outlives its time costs space, never correctness.
 * T3  Looking for the records after a moment costs what is found, unless groups were held back since the log was last empty.
 *
 * Ours. Records of an earlier run are found by one scan in the background after opening, so that opening reads only the
 * pending markers.
 */
import type { Scheduler } from '../clock.ts'
import type { KeyRange, Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { compareVersions, logRange, versionOfLogRow } from '../tables/log-rows.ts'

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

/** Records of which little is known at first hand: their versions stand in their keys. */
interface Kept {
  readonly logRow: RowKey
  readonly bytes: number
}

/** Rows that went together with their log: no moment of before can be shown there any more. */
export interface Deletion {
  readonly ranges: readonly KeyRange[]
  /** The newest commit before it. */
  readonly at: bigint
}

/** The records that were kept at one time. */
export interface KeptRecords {
  /** Only ever appended to, so that they need not be copied. */
  readonly rows: readonly RowKey[]
  readonly sizes: readonly number[]
  readonly start: number
  readonly end: number
  readonly bytes: number
  readonly trimmedUpTo: bigint
  readonly newest: bigint
  readonly isOrdered: boolean
  readonly deletions: readonly Deletion[]
}

export class Retention {
  readonly #limits: RetentionLimits
  readonly #scheduler: Scheduler
  /** Log rows and their bytes, side by side: there are as many as entities, and an object for each costs as much again. */
  #rows: RowKey[] = []
  #sizes: number[] = []
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
  add(logRow: RowKey, bytes: number, version: bigint): void {
    if (this.#rows.length === this.#head) {
      this.#isOrdered = true
      this.#newest = version
    } else if (version < this.#newest) this.#isOrdered = false
    else this.#newest = version
    this.#rows.push(logRow)
    this.#sizes.push(bytes)
    this.#bytes += bytes
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

  /** Log rows of the applied records above a version, newest first. */
  newerThan(version: bigint): readonly RowKey[] {
    const rows: RowKey[] = []
    for (let i = this.#rows.length - 1; i >= this.#head; i--) {
      const logRow = this.#rows[i] as RowKey
      if (versionOfLogRow(logRow) > version) rows.push(logRow)
      else if (this.#isOrdered) return rows
    }
    return this.#isOrdered ? rows : rows.sort((a, b) => compareVersions(b, a))
  }

  /**
   * Deletions due now, at most a few for each of the `appended` records that they ride with. The caller writes them or the
   * records stay as orphans until the next opening.
   */
  take(appended: number): KvWrite[] {
    const oldest = this.#rows[this.#head]
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
      const next = this.#rows[this.#head]
      if (next === undefined || deletions.length === deletionsPerRecord * appended) break
      const version = versionOfLogRow(next)
      if (this.#bytes <= this.#limits.bytesMax && version >= horizon) break
      deletions.push({ key: next, value: undefined })
      this.#bytes -= this.#sizes[this.#head] as number
      if (version > this.#trimmedUpTo) this.#trimmedUpTo = version
      this.#head++
    }
    if (this.#head > 1024 && this.#head * 2 > this.#rows.length) {
      this.#rows = this.#rows.slice(this.#head)
      this.#sizes = this.#sizes.slice(this.#head)
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
    this.#rows = []
    this.#sizes = []
    this.#head = 0
    this.#bytes = 0
  }

  /** For a snapshot of the store. */
  kept(): KeptRecords {
    return {
      rows: this.#rows,
      sizes: this.#sizes,
      start: this.#head,
      end: this.#rows.length,
      bytes: this.#bytes,
      trimmedUpTo: this.#trimmedUpTo,
      newest: this.#newest,
      isOrdered: this.#isOrdered,
      deletions: this.#deletions,
    }
  }

  /** The store was set back to a snapshot. */
  restore({ rows, sizes, start, end, bytes, trimmedUpTo, newest, isOrdered, deletions }: KeptRecords): void {
    this.#quietUntil = 0n
    this.#rows = rows.slice(start, end)
    this.#sizes = sizes.slice(start, end)
    this.#head = 0
    this.#bytes = bytes
    this.#trimmedUpTo = trimmedUpTo
    this.#newest = newest
    this.#isOrdered = isOrdered
    this.#deletions = deletions
  }

  /**
   * Finds the records that an earlier run left, a part of the log in each turn, oldest first in the end.
   *
   * @param pending - log rows that still wait to be applied; they come through add() in time
   */
  async adopt(kv: Kv, pending: ReadonlySet<RowKey>, stopped: () => boolean): Promise<void> {
    const found: Kept[] = []
    const scan = kv.scan(logRange)
    try {
      for (;;) {
        const rows = await scan.next(1000)
        if (rows.length === 0 || stopped()) break
        for (const { key, value } of rows) {
          if (pending.has(key)) continue
          found.push({ logRow: key, bytes: key.length + value.length })
        }
        await new Promise<void>((resolve) => this.#scheduler.defer(resolve))
      }
    } finally {
      scan.close()
    }
    if (stopped()) return
    const known = new Set(this.#rows.slice(this.#head))
    const adopted = found.filter((kept) => !known.has(kept.logRow))
    adopted.sort((a, b) => compareVersions(a.logRow, b.logRow))
    this.#quietUntil = 0n
    const newest = versionOfLogRow(adopted.at(-1)?.logRow ?? noVersion)
    // A record that waited over the restart may have entered already, older than some that were applied before it.
    if (versionOfLogRow(this.#rows[this.#head] ?? endlessVersion) < newest) this.#isOrdered = false
    if (newest > this.#newest) this.#newest = newest
    this.#rows = [...adopted.map(({ logRow }) => logRow), ...this.#rows.slice(this.#head)]
    this.#sizes = [...adopted.map(({ bytes }) => bytes), ...this.#sizes.slice(this.#head)]
    this.#head = 0
    for (const kept of adopted) this.#bytes += kept.bytes
    const [oldest] = adopted
    if (oldest !== undefined && this.#trimmedUpTo === this.#openedAt) this.#trimmedUpTo = versionOfLogRow(oldest.logRow)
  }
}
