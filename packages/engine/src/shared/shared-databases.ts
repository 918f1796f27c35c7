/** The state of a process for each database of a shared store: its clock row, and the parts that work with it. Calls need none of it later. */
import { ClockRow } from './clock-row.ts'
import { Resolver } from './resolve.ts'
import { SharedCommits } from './shared-commit.ts'
import { SharedReads } from './shared-reads.ts'
import type { SharedStore } from './shared-store.ts'
import { SharedTransactions } from './shared-transactions.ts'
import { TransactionRows } from './transaction-rows.ts'

export interface SharedDatabase {
  readonly clock: ClockRow
  readonly resolver: Resolver
  readonly reads: SharedReads
  readonly transactions: SharedTransactions
}

export class SharedDatabases {
  readonly store: SharedStore
  readonly #adopt: (database: string) => Promise<void>
  readonly #byCode = new Map<string, SharedDatabase>()

  /** @param adopt - reads what is stored of a database anew: its epoch was raised */
  constructor(store: SharedStore, adopt: (database: string) => Promise<void>) {
    this.store = store
    this.#adopt = adopt
  }

  of(code: string): SharedDatabase {
    let database = this.#byCode.get(code)
    if (database === undefined) {
      const { store } = this
      const clock = new ClockRow(store, code, this.#adopt)
      const resolver = new Resolver(store, clock)
      const reads = new SharedReads(store, clock, resolver)
      const commits = new SharedCommits(store, clock, resolver)
      const rows = new TransactionRows(store, code)
      const transactions = new SharedTransactions({ reads, commits, rows })
      database = { clock, resolver, reads, transactions }
      this.#byCode.set(code, database)
    }
    return database
  }

  all(): readonly SharedDatabase[] {
    return [...this.#byCode.values()]
  }
}
