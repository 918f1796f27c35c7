/**
 * Deletion of old cells at a shared store: those that no read may ask for any more.
 *
 *   horizon            the low watermark - 1 as it was 70 minutes ago, by the clock of the process and by its monotonic one
 *   v                  cells below the newest one at or before the horizon; that one too, if it is empty
 *   l                  records at or before the horizon
 *   t                  rows of transactions from before the horizon
 *
 * One gateway walks over all rows of a database, once an hour. Moments stay readable for an hour (shared-reads.ts), transactions 270 s.
 * An old watermark leaves processes that stood still time to learn that others have finished their commits (shared-apply/SA1).
 *
 * SW1  No read at a moment after the horizon is changed.                                              sweep.test.ts
 * SW2  The deletions name timestamps, so one that lands late touches no newer cell. The one assumption of time: no write of a row lands
 *      later than 70 minutes after it was sent, or it might bring a deleted row back.
 */

import { entityTables } from '../row.ts'
import type { KeyRange } from '../storage/kv.ts'
import type { Cell, CellChange, Row, RowChange } from '../storage/rows.ts'
import { topicRowKey } from '../tables/metadata-rows.ts'
import { prefixRange } from '../tables/ranges.ts'
import { rowsOf } from '../tables/rows.ts'
import type { ClockRow } from './clock-row.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { readableMicros } from './shared-store.ts'

const lookEveryMs = 600_000
const sweepEveryMs = 3_600_000
const slackMicros = 600_000_000n
const keptMicros = readableMicros + slackMicros
const pageRows = 500

export class Sweep {
  readonly #databases: SharedDatabases
  /** Low watermarks of the last 70 minutes and the newest one before them, the oldest first. */
  readonly #seen = new Map<ClockRow, { readonly atMs: number; readonly low: bigint }[]>()

  constructor(databases: SharedDatabases) {
    this.#databases = databases
  }

  /** Sweeps every hour, if no other gateway does. */
  start(): void {
    const { store } = this.#databases
    store.inBackground(async () => {
      for (let dueMs = store.scheduler.steadyMs() + sweepEveryMs; ; ) {
        await store.sleep(lookEveryMs)
        this.#look()
        if (store.scheduler.steadyMs() < dueMs) continue
        dueMs = store.scheduler.steadyMs() + sweepEveryMs
        await store.persistently(async () => {
          // A little less than the time between two sweeps, so that the same gateway may go on.
          if (await this.#databases.leases.take('sweep', sweepEveryMs * 0.9)) await this.run()
        })
      }
    }, true)
  }

  /** Notes the low watermarks of now, which may be swept to later. */
  #look(): void {
    const { store } = this.#databases
    const keptMs = store.isOff('retention') ? 0 : Number(keptMicros / 1_000n)
    const atMs = store.scheduler.steadyMs()
    for (const { clock } of this.#databases.all()) {
      const seen = this.#seen.get(clock) ?? []
      seen.push({ atMs, low: clock.low })
      // The newest one that is old enough, and those after it.
      while (seen[1] !== undefined && atMs - seen[1].atMs >= keptMs) seen.shift()
      this.#seen.set(clock, seen)
    }
  }

  /** Sweeps all databases now. @returns how many rows were changed */
  async run(): Promise<number> {
    await this.#databases.find()
    let changed = 0
    for (const database of this.#databases.all()) changed += await this.#sweep(database)
    return changed
  }

  async #sweep({ clock }: SharedDatabase): Promise<number> {
    const { store } = this.#databases
    const kept = store.isOff('retention') ? 0n : keptMicros
    const [seen] = this.#seen.get(clock) ?? []
    if (seen === undefined || store.scheduler.steadyMs() - seen.atMs < Number(kept / 1_000n)) return 0
    const old = store.scheduler.nowMicros() - kept
    const horizon = seen.low - 1n < old ? seen.low - 1n : old
    if (horizon <= 0n) return 0
    let changed = 0
    for (const space of entityTables) {
      changed += await this.#sweepRange(rowsOf(space, clock.database), (row) => oldCells(row, horizon))
    }
    const transactions = prefixRange(topicRowKey(clock.database, 'transaction'))
    const until = horizon / 1000n
    return changed + (await this.#sweepRange(transactions, (row) => oldTransaction(row, until)))
  }

  async #sweepRange(range: KeyRange, changesOf: (row: Row) => readonly CellChange[]): Promise<number> {
    const { rows } = this.#databases.store
    let changed = 0
    for (let { start } = range; ; ) {
      const found = await rows.scanRows({
        range: { start, end: range.end },
        limit: pageRows,
        wanted: [{ family: 'v' }, { family: 'l', withoutValues: true }, { family: 't', withoutValues: true }],
      })
      const changes = found
        .map((row): RowChange => ({ key: row.key, changes: changesOf(row) }))
        .filter((row) => row.changes.length > 0)
      if (changes.length > 0) await rows.mutateRows(changes)
      changed += changes.length
      const last = found.at(-1)?.key
      if (last === undefined || found.length < pageRows) return changed
      start = `${last}\x00`
    }
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

/** The timestamp of the oldest cell; later than all where there is none. */
function oldest(cells: readonly Cell[]): bigint {
  return cells.at(-1)?.at ?? 2n ** 62n
}
