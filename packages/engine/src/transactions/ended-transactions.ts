/**
 * The most recently ended transactions, for error messages and for the rank of retries.
 *
 * A ring buffer with one array a field. It keeps no transaction object: ten thousand kept objects would outlive the garbage
 * collector's young generation and be copied twice.
 *
 * F1  A transaction is found here from its end until `kept` others have ended.        ended-transactions.test.ts
 *
 * Ours.
 */
import { nameOf, type Transaction } from './transaction.ts'

/** The fields kept of a transaction that has ended. */
export type EndedTransaction = Pick<
  Transaction,
  'id' | 'database' | 'readOnly' | 'age' | 'state' | 'abortReason' | 'name'
>

const keptDefault = 10_000

export class EndedTransactions {
  readonly #kept: number
  #next = 0
  readonly #ids: number[] = []
  readonly #databases: string[] = []
  readonly #readOnly: boolean[] = []
  readonly #ages: number[] = []
  readonly #states: Transaction['state'][] = []
  readonly #reasons: (string | undefined)[] = []

  constructor(kept: number = keptDefault) {
    this.#kept = kept
  }

  /** A transaction has ended. */
  add({ id, database, readOnly, age, state, abortReason }: Transaction): void {
    const at = this.#next
    this.#ids[at] = id
    this.#databases[at] = database
    this.#readOnly[at] = readOnly
    this.#ages[at] = age
    this.#states[at] = state
    this.#reasons[at] = abortReason
    this.#next = (at + 1) % this.#kept
  }

  /** Searches from the newest to the oldest: most look-ups name a recent transaction. */
  find(id: number): EndedTransaction | undefined {
    const { length } = this.#ids
    for (let back = 1; back <= length; back++) {
      const at = (this.#next - back + length) % length
      if (this.#ids[at] === id) return this.#fateAt(at)
    }
    return undefined
  }

  #fateAt(at: number): EndedTransaction {
    const id = this.#ids[at] as number
    return {
      id,
      database: this.#databases[at] as string,
      readOnly: this.#readOnly[at] as boolean,
      age: this.#ages[at] as number,
      state: this.#states[at] as Transaction['state'],
      abortReason: this.#reasons[at],
      name: nameOf(id),
    }
  }
}
