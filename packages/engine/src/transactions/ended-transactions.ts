/**
 * The transactions that ended most recently, for error messages and for the rank of retries. A transaction is found here until
 * `kept` others have ended after it.
 */
import { nameOf, type Transaction } from './transaction.ts'

export type EndedTransaction = Pick<
  Transaction,
  'id' | 'database' | 'readOnly' | 'age' | 'state' | 'abortReason' | 'name'
>

const keptDefault = 10_000

export class EndedTransactions {
  readonly #kept: number
  /** Two rings: a number is found in the array of ids in some microseconds. */
  readonly #ids: number[] = []
  readonly #ended: Omit<EndedTransaction, 'name'>[] = []
  #next = 0

  constructor(kept: number = keptDefault) {
    this.#kept = kept
  }

  add({ id, database, readOnly, age, state, abortReason }: Transaction): void {
    this.#ids[this.#next] = id
    this.#ended[this.#next] = { id, database, readOnly, age, state, abortReason }
    this.#next = (this.#next + 1) % this.#kept
  }

  find(id: number): EndedTransaction | undefined {
    const ended = this.#ended[this.#ids.indexOf(id)]
    return ended && { ...ended, name: nameOf(id) }
  }
}
