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
import { RowIndex } from './row-index.ts'
import type { Transaction } from './transaction.ts'

export interface WaitingWriter {
  /** The transaction that writes, or what stands for a write outside of one. */
  readonly holder: Transaction
  readonly row: RowKey
}

export class WaitingWriters {
  readonly #waiting = new Map<Transaction, Footprint>()
  /** The same writers by each row of their footprints. */
  readonly #byRow = new RowIndex<Set<Transaction>>()
  /** Writers whose index rows are not in `#byRow`: only key ranges have such rows. */
  readonly #withoutIndexRows = new Set<Transaction>()

  /** A writer waits; it is taken off the list when `holder` ends. */
  add(holder: Transaction, footprint: Footprint): void {
    if (this.#waiting.has(holder)) this.#remove(holder)
    else holder.atEnd(() => this.#remove(holder))
    this.#waiting.set(holder, footprint)
    this.#withoutIndexRows.add(holder)
    this.#list(holder, footprint.entityRows)
  }

  /** The writer that a reader must let pass before it locks `reads`; `undefined` = none. */
  before(reader: Transaction, reads: ReadSet): WaitingWriter | undefined {
    if (this.#waiting.size === 0) return undefined
    // Each writer of a row that the reader has locked already waits for the reader (Q2).
    for (const [, holders] of this.#of(reads, reader.reads)) {
      for (const holder of holders) {
        if (holder === reader) continue
        const footprint = this.#waiting.get(holder) as Footprint
        if (reader.reads.hitBy(footprint) !== undefined) continue
        const row = reads.hitBy(footprint)
        if (row !== undefined) return { holder, row }
      }
    }
    return undefined
  }

  /** The writers that are about to change what a transaction has read; a writer may be among them more than once. */
  *over(reads: ReadSet): Generator<Transaction> {
    if (this.#waiting.size > 0) for (const [, holders] of this.#of(reads)) yield* holders
  }

  #of(reads: ReadSet, aside?: ReadSet): readonly (readonly [RowKey, ReadonlySet<Transaction>])[] {
    if (reads.hasSpans) {
      for (const holder of this.#withoutIndexRows) {
        this.#list(holder, (this.#waiting.get(holder) as Footprint).indexRows())
      }
      this.#withoutIndexRows.clear()
    }
    return this.#byRow.of(reads, aside)
  }

  #list(holder: Transaction, rows: readonly RowKey[]): void {
    for (const row of rows) {
      const holders = this.#byRow.get(row)
      if (holders === undefined) this.#byRow.set(row, new Set([holder]))
      else holders.add(holder)
    }
  }

  #remove(holder: Transaction): void {
    const footprint = this.#waiting.get(holder) as Footprint
    this.#waiting.delete(holder)
    this.#unlist(holder, footprint.entityRows)
    if (!this.#withoutIndexRows.delete(holder)) this.#unlist(holder, footprint.indexRows())
  }

  #unlist(holder: Transaction, rows: readonly RowKey[]): void {
    for (const row of rows) {
      const holders = this.#byRow.get(row)
      if (holders?.delete(holder) === true && holders.size === 0) this.#byRow.delete(row)
    }
  }
}
