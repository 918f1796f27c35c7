/**
 * Which applied log records are kept, and which may go: the newest, up to an age and a number of bytes.
 *
 * T1  Only wholly applied records are offered for deletion.   records enter when milestone B is done
 * T2  Deletions ride with a later commit; a record that outlives its time costs space, never correctness.
 *
 * Ours. Records of an earlier run are found by one scan in the background after opening, so that opening reads only the
 * pending markers.
 */
import type { Scheduler } from '../clock.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import { compareVersions, logRange, versionOfLogRow } from './log-rows.ts'

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

/** Records of which little is known at first hand: their versions stand in their keys. */
interface Kept {
  readonly logRow: RowKey
  readonly bytes: number
}

function versionOf({ logRow }: Kept): bigint {
  return versionOfLogRow(logRow)
}

/** What was kept at one moment. */
export interface KeptRecords {
  /** Only ever appended to, so that it need not be copied. */
  readonly queue: readonly Kept[]
  readonly start: number
  readonly end: number
  readonly bytes: number
  readonly trimmedUpTo: bigint
}

export class Retention {
  readonly #limits: RetentionLimits
  readonly #scheduler: Scheduler
  #queue: Kept[] = []
  #head = 0
  #bytes = 0
  readonly #openedAt: bigint
  /** The oldest record is younger than all that may go before this moment, microseconds; 0 = to be looked up. */
  #quietUntil = 0n
  #trimmedUpTo: bigint

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
  add(logRow: RowKey, bytes: number): void {
    this.#queue.push({ logRow, bytes })
    this.#bytes += bytes
  }

  /** The moment up to which records are gone: reads at it or later find every newer record. 0 = none is gone yet. */
  get oldestReadable(): bigint {
    return this.#trimmedUpTo
  }

  /** Log rows of the applied records above a version, newest first. */
  newerThan(version: bigint): readonly RowKey[] {
    const rows: { readonly logRow: RowKey; readonly version: bigint }[] = []
    for (let i = this.#queue.length - 1; i >= this.#head; i--) {
      const { logRow } = this.#queue[i] as Kept
      const own = versionOfLogRow(logRow)
      if (own > version) rows.push({ logRow, version: own })
    }
    // Records enter as they are applied; groups that were held back enter late.
    rows.sort((a, b) => (a.version > b.version ? -1 : a.version < b.version ? 1 : 0))
    return rows.map(({ logRow }) => logRow)
  }

  /**
   * Deletions due now, at most a few for each of the `appended` records that they ride with. The caller writes them or the
   * records stay as orphans until the next opening.
   */
  take(appended: number): KvWrite[] {
    const oldest = this.#queue[this.#head]
    if (oldest === undefined) return []
    const now = this.#scheduler.nowMicros()
    if (this.#bytes <= this.#limits.bytesMax && now <= this.#quietUntil) return []
    const horizon = now - this.#limits.ageMicros
    if (this.#bytes <= this.#limits.bytesMax && versionOf(oldest) >= horizon) {
      this.#quietUntil = versionOf(oldest) + this.#limits.ageMicros
      return []
    }
    const deletions: KvWrite[] = []
    for (;;) {
      const next = this.#queue[this.#head]
      if (next === undefined || deletions.length === deletionsPerRecord * appended) break
      const version = versionOf(next)
      if (this.#bytes <= this.#limits.bytesMax && version >= horizon) break
      deletions.push({ key: next.logRow, value: undefined })
      this.#bytes -= next.bytes
      if (version > this.#trimmedUpTo) this.#trimmedUpTo = version
      this.#head++
    }
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return deletions
  }

  clear(): void {
    this.#quietUntil = 0n
    this.#queue = []
    this.#head = 0
    this.#bytes = 0
  }

  /** For a snapshot of the store. */
  kept(): KeptRecords {
    return {
      queue: this.#queue,
      start: this.#head,
      end: this.#queue.length,
      bytes: this.#bytes,
      trimmedUpTo: this.#trimmedUpTo,
    }
  }

  /** The store was set back to a snapshot. */
  restore({ queue, start, end, bytes, trimmedUpTo }: KeptRecords): void {
    this.#quietUntil = 0n
    this.#queue = queue.slice(start, end)
    this.#head = 0
    this.#bytes = bytes
    this.#trimmedUpTo = trimmedUpTo
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
    const known = new Set(this.#queue.slice(this.#head).map((kept) => kept.logRow))
    const adopted = found.filter((kept) => !known.has(kept.logRow))
    adopted.sort((a, b) => compareVersions(a.logRow, b.logRow))
    this.#quietUntil = 0n
    this.#queue = [...adopted, ...this.#queue.slice(this.#head)]
    this.#head = 0
    for (const kept of adopted) this.#bytes += kept.bytes
    const [oldest] = adopted
    if (oldest !== undefined && this.#trimmedUpTo === this.#openedAt) this.#trimmedUpTo = versionOf(oldest)
  }
}
