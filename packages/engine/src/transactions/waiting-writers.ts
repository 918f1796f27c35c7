/**
 * Writers that wait for readers' locks, and the rows they are about to change.
 *
 *   readers 1, 2 hold a lock on X      W waits for both      reader 3 wants to read X: it waits for W
 *
 * Q1  A reader that would newly lock a row that a writer waits for comes after that writer. So the readers before it finish, and a
 *     row that is read all the time is written all the same.
 * Q2  A transaction that the writer waits for already is not held up by it: that would be a deadlock of our own making.
 *
 * Ours: the emulators let readers pass, and their writers starve.
 */
import type { Footprint } from '../log/commit-input.ts'
import type { RowKey } from '../storage/kv.ts'
import type { ReadSet } from './read-set.ts'
import type { Transaction } from './transaction.ts'

export interface WaitingWriter {
  /** The transaction that writes, or what stands for a write outside of one. */
  readonly holder: Transaction
  readonly row: RowKey
}

export class WaitingWriters {
  readonly #waiting = new Map<Transaction, Footprint>()

  /** A writer waits; it is taken off the list when `holder` ends. */
  add(holder: Transaction, footprint: Footprint): void {
    if (!this.#waiting.has(holder)) holder.atEnd(() => this.#waiting.delete(holder))
    this.#waiting.set(holder, footprint)
  }

  /** The writer that a reader must let pass before it locks `reads`; `undefined` = none. */
  before(reader: Transaction, reads: ReadSet): WaitingWriter | undefined {
    if (this.#waiting.size === 0) return undefined
    for (const [holder, footprint] of this.#waiting) {
      if (holder === reader || holder.database !== reader.database) continue
      const row = reads.hitBy(footprint)
      if (row !== undefined && reader.reads.hitBy(footprint) === undefined) return { holder, row }
    }
    return undefined
  }
}
