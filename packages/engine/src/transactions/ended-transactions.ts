/**
 * The transactions that ended most recently, for error messages and for the rank of retries. A transaction is found here until
 * `kept` others have ended after it.
 *
 * A ring buffer with one array per field, instead of transaction objects: ten thousand long-lived objects would cost the
 * garbage collector two copies each.
 */
import { nameOf, type Transaction } from './transaction.ts'

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
