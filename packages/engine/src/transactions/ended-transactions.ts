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
  readonly #byId = new Map<number, Omit<EndedTransaction, 'name'>>()
  /** A ring of their ids: a Map finds its oldest entry slowly once others were deleted. */
  readonly #ids: number[] = []
  #next = 0

  constructor(kept: number = keptDefault) {
    this.#kept = kept
  }

  add({ id, database, readOnly, age, state, abortReason }: Transaction): void {
    const oldest = this.#ids[this.#next]
    if (oldest !== undefined) this.#byId.delete(oldest)
    this.#ids[this.#next] = id
    this.#next = (this.#next + 1) % this.#kept
    this.#byId.set(id, { id, database, readOnly, age, state, abortReason })
  }

  find(id: number): EndedTransaction | undefined {
    const ended = this.#byId.get(id)
    return ended && { ...ended, name: nameOf(id) }
  }
}
