/**
 * Rows over which transactions met that had read them and wanted to write them: for a while they are locked by one
 * transaction at a time.
 *
 *   transactions 1, 2 … 16 read X        all hold a lock on it, and every one but the last to commit is a deadlock's victim
 *   X is contended             T17 reads X and holds it alone; T18 waits for T17's end before it reads, T19 for T18's …
 *
 * C1  A row is contended for a second after a writer that has read it met others that have, or a reader waited for its turn.
 * C2  Waiting here is a courtesy: a reader that has waited for the lock timeout shares the lock after all.
 *
 * C3  Who waits for a turn is told to the tablets, as a wait of the groups whose commits met there.
 *
 * Known: a lock for update instead of a shared one, of which the API cannot say that it is wanted. Ours: to know it from
 * what just happened. Measured, 16 clients adding to one counter through retries: 8 aborts an addition without this.
 */
import type { RequestContext } from '../context.ts'
import { DatastoreError } from '../errors.ts'
import type { RowKey } from '../storage/kv.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { LockWaits } from './deadlock-detection.ts'
import type { LockTable } from './lock-table.ts'
import type { ReadSet } from './read-set.ts'
import { RowIndex } from './row-index.ts'
import type { Transaction, WaitsFor } from './transaction.ts'

/** Told of commits that met others at a group. */
export interface Contention {
  /** They wait for their turn, or for a lock. */
  waited(groups: readonly GroupCode[]): void
  /** They ended with ABORTED. */
  conflicted(groups: readonly GroupCode[]): void
}

const contendedMs = 1_000

/** From this number of rows on, expired ones are removed whenever the number has doubled. */
const rowsKept = 64

interface Contended {
  /** Milliseconds of the steady clock. */
  until: number
  /** Groups of the commit that last met others here. */
  groups: readonly GroupCode[]
  /** Open transactions that have asked for the row: the holder, and who waits. */
  readonly line: Set<Transaction>
  /** The last in line. The next waits for this one alone, so that an end wakes one waiter and not all. */
  last: Transaction | undefined
}

export class ContendedRows {
  readonly #rows = new RowIndex<Contended>()
  readonly #locks: LockTable
  readonly #waits: LockWaits
  readonly #contention: Contention | undefined
  #sweepAt = rowsKept

  constructor(locks: LockTable, waits: LockWaits, contention?: Contention) {
    this.#locks = locks
    this.#waits = waits
    this.#contention = contention
  }

  /** A writer, which changes `groups`, must wait for others that have read `row`. */
  met({ clock }: RequestContext, writer: Transaction, row: RowKey, groups: readonly GroupCode[]): void {
    if (!writer.reads.has(row)) return
    const now = clock.steadyMs()
    const known = this.#rows.get(row)
    if (known !== undefined) {
      known.until = now + contendedMs
      known.groups = groups
    } else {
      if (this.#rows.size >= this.#sweepAt) this.#sweep(now)
      this.#rows.set(row, { until: now + contendedMs, groups, line: new Set(), last: undefined })
    }
  }

  /**
   * To be asked when a transaction is about to lock `reads`.
   *
   * @returns a promise when it has to wait, and then to read and ask again; else it may lock them now
   */
  turn(context: RequestContext, reader: Transaction, reads: ReadSet, timeoutMs: number): Promise<void> | undefined {
    if (this.#rows.size === 0 || reader.state !== 'active') return undefined
    const now = context.clock.steadyMs()
    for (const [row, contended] of this.#rows.of(reads, reader.reads)) {
      if (contended.until >= now) return this.#turnAt(context, reader, row, contended, timeoutMs)
      this.#rows.delete(row)
    }
    return undefined
  }

  #turnAt(
    context: RequestContext,
    reader: Transaction,
    row: RowKey,
    contended: Contended,
    timeoutMs: number,
  ): Promise<void> | undefined {
    const holder = this.#ahead(contended, reader)
    if (!contended.line.has(reader)) {
      contended.line.add(reader)
      contended.last = reader
      reader.atEnd(() => contended.line.delete(reader))
    }
    if (holder === undefined && !this.#locks.isHeld(row, reader)) return undefined
    contended.until = context.clock.steadyMs() + contendedMs
    if (!context.isUncounted) this.#contention?.waited(contended.groups)
    const goal: WaitsFor =
      holder === undefined ? { row, footprint: { entityRows: [row], indexRows: () => [] } } : { row, holder }
    return this.#waits.wait(context, reader, goal, timeoutMs).catch((error) => {
      if (!(error instanceof DatastoreError) || error.code !== 'ABORTED' || reader.state !== 'active') throw error
      if (this.#rows.get(row) === contended) this.#rows.delete(row)
    })
  }

  /** The transaction that a new reader waits for; `undefined` = none, or the reader has waited already. */
  #ahead({ line, last }: Contended, reader: Transaction): Transaction | undefined {
    return last !== undefined && line.has(last) && !line.has(reader) ? last : undefined
  }

  #sweep(now: number): void {
    for (const [row, { until }] of this.#rows.entries()) if (until < now) this.#rows.delete(row)
    this.#sweepAt = Math.max(rowsKept, 2 * this.#rows.size)
  }
}
