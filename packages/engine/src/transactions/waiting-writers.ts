/**
 * Writers that wait for readers' locks, and the rows they are about to change.
 *
 *   R1, R2 hold a lock on X        W waits for both        R3 wants to read X: it waits for W
 *
 * Q1  Whoever would newly lock a row that a writer waits for comes after that writer: so the readers before it run dry, and a
 *     row that is read all the time is written all the same.
 * Q2  A transaction that the writer waits for already is not held up by it: that would be a deadlock of our own making.
 *
 * Ours: the emulators let readers pass, and their writers starve.
 */
import type { RowKey } from '../storage/kv.ts'
import type { ReadSet } from './read-set.ts'
import type { Transaction } from './transaction.ts'

export interface WaitingWriter {
  /** The transaction that writes, or what stands for a write outside of one. */
  readonly holder: Transaction
  readonly row: RowKey
}

export class WaitingWriters {
  readonly #rows = new Map<Transaction, readonly RowKey[]>()

  /** A writer waits; it is taken off the list when `holder` ends. */
  add(holder: Transaction, rows: readonly RowKey[]): void {
    if (!this.#rows.has(holder)) holder.atEnd(() => this.#rows.delete(holder))
    this.#rows.set(holder, rows)
  }

  /** The writer that a reader must let pass before it locks `reads`; `undefined` = none. */
  before(reader: Transaction, reads: ReadSet): WaitingWriter | undefined {
    for (const [holder, rows] of this.#rows) {
      if (holder === reader || holder.database !== reader.database) continue
      const row = reads.firstHit(rows)
      if (row !== undefined && reader.reads.firstHit(rows) === undefined) return { holder, row }
    }
    return undefined
  }
}
