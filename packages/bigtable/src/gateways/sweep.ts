/**
 * Deletion of old cells at a shared store: those that no read may ask for any more.
 *
 *   horizon            up to which everything was settled 70 minutes ago, by the monotonic clock; and 70 minutes ago by the clock
 *   v                  cells below the newest one at or before the horizon; that one too, if it is empty
 *   l                  records at or before the horizon
 *   t                  rows of transactions from before the horizon
 *   h                  heads of groups without entities: noted in the head by one sweep, deleted by one at least 90 minutes later
 *
 * One gateway walks over all rows of a database, once an hour. Moments stay readable for an hour (shared-reads.ts), transactions 270 s. With the
 * horizon at 10:00, an entity with cells of 9:00, 9:30 and 10:30 loses the cell of 9:00.
 *
 * Deletions name timestamps, so one that arrives late deletes no newer cell. One assumption about time is necessary: no write of a row arrives later
 * than 50 minutes after it was sent, where "sent" means the last look at the time or at the clock row before (docs/architecture/shared-store.md).
 * Any write after the note in a head changes the head, and removes the note.
 *
 * SW1  No read at a moment after the horizon is changed.                                              sweep.test.ts
 * SW2  No record at or before the horizon is still being applied. Every gateway stores its settled stamp in the clock row, and sweeps up to the
 *      stamp stored 70 minutes ago: a record below it was sent within ten minutes of a look at that row (shared-apply/SA1) and arrived within 50;
 *      ten are for clocks that differ.                                        sweep.test.ts, test/property/gateways.test.ts
 */
import { DatastoreError, entityTables, type StatusCode } from '@sixtables/engine'
import {
  type KeyRange,
  pathEnd,
  prefixRange,
  type RowKey,
  rowsOf,
  topicRowKey,
  transactionTopic,
} from '@sixtables/engine/store'
import {
  type Cell,
  type CellChange,
  isKnownDone,
  newestIs,
  type Row,
  type RowChange,
  type Wanted,
} from '../row-store/row-store.ts'
import type { ClockRow } from './clock-row.ts'
import { earliestOf, latestOf } from './clock-state.ts'
import { decodeHead, emptyHead, emptySince, heldMicros } from './group-row.ts'
import { unaskedMicros } from './shared-apply.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { readableMicros } from './shared-store.ts'

const lookEveryMs = 600_000
const sweepEveryMs = 3_600_000
const slackMicros = 600_000_000n
/** From the sending of a write of a row to its arrival. */
const landingMicros = 3_000_000_000n
/** Time for which stamps must have been settled, at least the hour in which moments are readable. */
const keptMicros = latestOf(landingMicros + unaskedMicros, readableMicros) + slackMicros
const duty = 'sweep'
/** A little less than the time between two sweeps, so that the same gateway may continue. */
const leaseMs = sweepEveryMs * 0.9
/** Time from the note in the head of an empty group to its deletion. */
const emptyMicros = heldMicros + keptMicros + slackMicros
const pageRows = 500
/** The codes of a read that was not answered in time. */
const outOfTime: ReadonlySet<StatusCode> = new Set(['UNAVAILABLE', 'DEADLINE_EXCEEDED'])
const wanted: Wanted = [
  { family: 'v' },
  { family: 'h', newest: 1 },
  { family: 'l', withoutValues: true },
  { family: 'p', withoutValues: true },
  { family: 't', withoutValues: true },
]
const headsAtOnce = 64

export class Sweep {
  readonly #databases: SharedDatabases
  /** The settled stamps of the last 70 minutes and the newest one before them, oldest first. */
  readonly #seen = new Map<ClockRow, { readonly atMs: number; readonly settled: bigint }[]>()
  /** The stamp up to which this gateway has swept; the next look stores it. */
  readonly #swept = new Map<ClockRow, bigint>()

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  /** Sweeps every hour, unless another gateway does. A gateway that has just started has no stamp that is old enough. */
  start(): void {
    const { store, leases } = this.#databases
    store.inBackground(async () => {
      for (let dueMs = 0; ; ) {
        await store.sleep(lookEveryMs)
        await store.persistently(() => this.#look())
        await store.persistently(() => leases.look(duty, leaseMs))
        if (store.scheduler.steadyMs() < dueMs || !this.#databases.all().some(({ clock }) => this.#settledOf(clock)))
          continue
        if (!(await store.persistently(() => leases.take(duty, leaseMs)))) continue
        dueMs = store.scheduler.steadyMs() + sweepEveryMs
        await this.#run()
      }
    }, true)
  }

  /** Stores and notes the settled stamp, which may be swept later. */
  async #look(): Promise<void> {
    const keptMs = Number(this.#kept / 1_000n)
    const { store } = this.#databases
    for (const { clock } of (await this.#databases.readAll()).keys()) {
      await clock.settled.store(clock.low - 1n, this.#swept.get(clock) ?? 0n)
      const settled = clock.settled.at
      const atMs = store.scheduler.steadyMs()
      const seen = this.#seen.get(clock) ?? []
      seen.push({ atMs, settled })
      // Keeps the newest one that is old enough, and later ones.
      while (seen[1] !== undefined && atMs - seen[1].atMs >= keptMs) seen.shift()
      this.#seen.set(clock, seen)
    }
  }

  get #kept(): bigint {
    return this.#databases.store.isOff('retention') ? 0n : keptMicros
  }

  /** The settled stamp of 70 minutes ago, if there is a note of it. */
  #settledOf(clock: ClockRow): bigint | undefined {
    const [seen] = this.#seen.get(clock) ?? []
    const nowMs = this.#databases.store.scheduler.steadyMs()
    return seen !== undefined && nowMs - seen.atMs >= Number(this.#kept / 1_000n) ? seen.settled : undefined
  }

  /** Sweeps all databases now. A step without an answer is repeated alone, since the walk may be long. */
  async #run(): Promise<void> {
    await this.#databases.store.persistently(() => this.#databases.find())
    for (const database of this.#databases.all()) await this.#sweep(database)
    this.#databases.sweptAtMicros = this.#databases.store.scheduler.nowMicros()
  }

  async #sweep({ clock }: SharedDatabase): Promise<void> {
    const { store } = this.#databases
    await store.persistently(() => store.comparedClock.ensureRight(0n))
    const settled = this.#settledOf(clock)
    if (settled === undefined) return
    const horizon = earliestOf([settled, store.scheduler.nowMicros() - this.#kept])
    if (horizon <= 0n) return
    for (const space of entityTables) {
      const onLoneHead = (row: Row): Promise<void> => store.persistently(() => this.#sweepHead(row, horizon))
      await this.#sweepRange(rowsOf(space, clock.database), (row) => oldCells(row, horizon), onLoneHead)
    }
    const transactions = prefixRange(topicRowKey(clock.database, transactionTopic))
    const until = horizon / 1000n
    await this.#sweepRange(transactions, (row) => oldTransaction(row, until))
    this.#swept.set(clock, horizon)
  }

  /** @param onLoneHead - gets rows with a head and without descendants */
  async #sweepRange(
    range: KeyRange,
    changesOf: (row: Row) => readonly CellChange[],
    onLoneHead: (row: Row) => Promise<void> = async () => {},
  ): Promise<void> {
    const { store } = this.#databases
    let root: Row | undefined
    let limit = pageRows
    for (let { start } = range; ; ) {
      const page = await store.persistently(() => this.#page({ start, end: range.end }, limit))
      const { found } = page
      limit = page.limit
      const changes = found
        .map((row): RowChange => ({ key: row.key, changes: changesOf(row) }))
        .filter((row) => row.changes.length > 0)
      if (changes.length > 0) await store.persistently(() => store.rows.mutateRows(changes))
      const last = found.at(-1)?.key
      const isEnd = last === undefined || found.length < limit
      // A row has no descendants if the next row is none.
      const lone: Row[] = []
      for (const row of found) {
        if (root !== undefined && !isBelow(row.key, root.key)) lone.push(root)
        root = row.cells.h === undefined ? undefined : row
      }
      if (isEnd && root !== undefined) lone.push(root)
      for (let at = 0; at < lone.length; at += headsAtOnce) {
        await Promise.all(lone.slice(at, at + headsAtOnce).map(onLoneHead))
      }
      if (isEnd) return
      start = `${last}\x00`
      limit = Math.min(pageRows, 2 * limit)
    }
  }

  /**
   * The first rows of a range. After a read without an answer it reads fewer rows, down to one, since their versions may be large.
   *
   * @returns the rows, and the final limit
   */
  async #page(range: KeyRange, most: number): Promise<{ readonly found: readonly Row[]; readonly limit: number }> {
    for (let limit = most; ; limit = Math.ceil(limit / 2)) {
      try {
        return { found: await this.#databases.store.rows.scanRows({ range, limit, wanted }), limit }
      } catch (error) {
        if (limit === 1 || !(error instanceof DatastoreError) || !outOfTime.has(error.code)) throw error
      }
    }
  }

  /** Notes in a head that its group has no entities, or deletes it if the note is old. */
  async #sweepHead({ key, cells }: Row, horizon: bigint): Promise<void> {
    const { store } = this.#databases
    const head = cells.h?.[0]?.value
    if (head === undefined || cells.v !== undefined || cells.l !== undefined || cells.p !== undefined) return
    const { version, floor } = decodeHead(head)
    if (version > horizon || floor > horizon || !store.comparedClock.isRight(0n)) return
    const now = store.scheduler.nowMicros()
    const since = emptySince(head)
    if (since > 0n && !store.isOff('retention') && now - since < emptyMicros) return
    const change: CellChange =
      since > 0n ? { type: 'deleteRow' } : { type: 'set', family: 'h', at: 0n, value: emptyHead(head, now) }
    // The next sweep finds the outcome.
    await isKnownDone(store.rows.mutateRowIf(key, newestIs('h', head), [change]))
  }
}

function oldCells({ cells }: Row, horizon: bigint): readonly CellChange[] {
  const changes: CellChange[] = []
  const { v = [], l = [] } = cells
  const shown = v.find(({ at }) => at <= horizon)
  if (shown !== undefined) {
    const until = shown.value.length === 0 ? shown.at + 1n : shown.at
    if (oldest(v) < until) changes.push({ type: 'delete', family: 'v', until })
  }
  if (oldest(l) <= horizon) changes.push({ type: 'delete', family: 'l', until: horizon + 1n })
  return changes
}

function oldTransaction({ cells }: Row, until: bigint): readonly CellChange[] {
  const newest = cells.t?.[0]
  return newest !== undefined && newest.at < until ? [{ type: 'deleteRow' }] : []
}

/** Whether a row belongs to a descendant of a root. */
function isBelow(row: RowKey, root: RowKey): boolean {
  return row.startsWith(root.slice(0, -pathEnd.length))
}

/** The timestamp of the oldest cell; without cells, later than all. */
function oldest(cells: readonly Cell[]): bigint {
  return cells.at(-1)?.at ?? 2n ** 62n
}
