/**
 * Writers that wait for locks of readers, and the rows that they will change.
 *
 *   readers 1, 2 hold a lock on X      writer W waits for both      reader 3 wants to read X: it waits for W
 *
 * Q1  A reader that would newly lock a row waits for the writers that already wait for that row. So the earlier readers finish, and a row
 *     that is read all the time can still be written.                                  transactions.test.ts
 * Q2  A transaction that the writer waits for does not wait for the writer: that would be a deadlock.   transactions.test.ts
 *
 * Ours: in the emulators later readers overtake, and writers starve.
 */
import { getOrInsert } from '../get-or-insert.ts'
import type { Footprint } from '../log/footprint.ts'
import type { TreeRow } from '../storage/btree-scan.ts'
import type { RowKey } from '../storage/kv.ts'
import type { ReadSet } from './read-set.ts'
import { RowIndex } from './row-index.ts'
import type { Transaction } from './transaction.ts'

export interface WaitingWriter {
  /** The writing transaction, or the stand-in of a write outside of transactions. */
  readonly holder: Transaction
  readonly row: RowKey
}

export class WaitingWriters {
  readonly #waiting = new Map<Transaction, Footprint>()
  readonly #byRow = new RowIndex<Set<Transaction>>()
  /** Writers whose index rows are not in `#byRow`: only searches by key range need them. */
  readonly #withoutIndexRows = new Set<Transaction>()

  /** Adds a writer until `holder` ends. */
  add(holder: Transaction, footprint: Footprint): void {
    if (this.#waiting.has(holder)) this.#remove(holder)
    else holder.atEnd(() => this.#remove(holder))
    this.#waiting.set(holder, footprint)
    this.#withoutIndexRows.add(holder)
    this.#list(holder, footprint.entityRows)
  }

  /** The writer that must go before this reader locks `reads`; `undefined` = none. */
  before(reader: Transaction, reads: ReadSet): WaitingWriter | undefined {
    if (this.#waiting.size === 0) return undefined
    // Each writer of a row that the reader has locked already waits for the reader (Q2).
    for (const { value: holders } of this.#of(reads, reader.reads)) {
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

  /** The writers that will change rows in `reads`, without those of rows in `seen`, to which the rows are added. */
  *over(reads: ReadSet, seen: Set<object>): Generator<Transaction> {
    if (this.#waiting.size === 0) return
    for (const { value: holders } of this.#of(reads)) if (seen.size < seen.add(holders).size) yield* holders
  }

  #of(reads: ReadSet, aside?: ReadSet): readonly TreeRow<ReadonlySet<Transaction>>[] {
    if (reads.hasSpans) {
      for (const holder of this.#withoutIndexRows) {
        this.#list(holder, (this.#waiting.get(holder) as Footprint).indexRows())
      }
      this.#withoutIndexRows.clear()
    }
    return this.#byRow.of(reads, aside)
  }

  #list(holder: Transaction, rows: Iterable<RowKey>): void {
    for (const row of rows) getOrInsert(this.#byRow, row, () => new Set()).add(holder)
  }

  #remove(holder: Transaction): void {
    const footprint = this.#waiting.get(holder) as Footprint
    this.#waiting.delete(holder)
    this.#unlist(holder, footprint.entityRows)
    if (!this.#withoutIndexRows.delete(holder)) this.#unlist(holder, footprint.indexRows())
  }

  #unlist(holder: Transaction, rows: Iterable<RowKey>): void {
    for (const row of rows) {
      const holders = this.#byRow.get(row)
      if (holders?.delete(holder) === true && holders.size === 0) this.#byRow.delete(row)
    }
  }
}
