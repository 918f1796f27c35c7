/**
 * What became of the transactions that ended last: for good answers to whoever still names one, and for the rank of retries.
 *
 * A ring in columns. Of the transactions themselves nothing is kept, so that they go with the young objects that they are:
 * kept whole, ten thousand of them were moved twice by the collector and then lay in memory.
 *
 * F1  A transaction is found here from its end on, until so many others have ended.        fates.test.ts
 *
 * Ours.
 */
import { nameOf, type Transaction } from './transaction.ts'

/** What is known of a transaction that has ended. */
export type Fate = Pick<Transaction, 'id' | 'database' | 'readOnly' | 'age' | 'state' | 'abortReason' | 'name'>

const keptDefault = 10_000

export class Fates {
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

  /** The youngest are looked at first: mostly one of them is asked for. */
  find(id: number): Fate | undefined {
    const { length } = this.#ids
    for (let back = 1; back <= length; back++) {
      const at = (this.#next - back + length) % length
      if (this.#ids[at] === id) return this.#fateAt(at)
    }
    return undefined
  }

  #fateAt(at: number): Fate {
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
