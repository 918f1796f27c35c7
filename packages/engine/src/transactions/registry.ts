/**
 * Which transactions there are: the open ones by id, and for a while the fate of those that have ended.
 *
 * G1  A token names at most one transaction, of one database, also after a restart.
 * G2  An expired transaction is ended when a call names it or waits for it, or when another transaction is begun or used, or a
 *     commit made (expiry.ts).
 *
 * Measured: unknown, ended and expired transactions are refused as INVALID_ARGUMENT, and a read-only one as one to retry.
 */
import { type Scheduler, steadyMicros } from '../clock.ts'
import { DatastoreError, invalidArgument } from '../errors.ts'
import { abortedError } from './deadlock-detection.ts'
import { type EndedTransaction, EndedTransactions } from './ended-transactions.ts'
import { Expiry } from './expiry.ts'
import { ReadBudget } from './read-set.ts'
import {
  type ConcurrencyMode,
  decodeToken,
  Transaction,
  type TransactionOwner,
  type TransactionState,
} from './transaction.ts'

/** Ours: each keeps what it read. Ten times what a busy service has, and some hundred megabytes. */
const openMaxDefault = 100_000

export interface RegistryStart {
  /** Code of the database. */
  readonly database: string
  readonly mode: ConcurrencyMode
  readonly readOnly: boolean
  readonly readTime: bigint | undefined
  /** The token of the transaction that this one tries again. */
  readonly previous: Uint8Array | undefined
}

export interface RegistryLimits {
  /** Transactions that may be open at a time. */
  readonly openTransactionsMax?: number | undefined
  /** Bytes of the keys and key ranges that all of them together have read. */
  readonly transactionBytesMax?: number | undefined
}

export class TransactionRegistry implements TransactionOwner {
  readonly #scheduler: Scheduler
  readonly #onEnd: (transaction: Transaction) => void
  /** By their number in this run, 32 bits of it: small integers are what a map finds soonest. */
  readonly #open = new Map<number, Transaction>()
  readonly #recentlyEnded = new EndedTransactions()
  readonly #firstId: number
  #lastId: number
  readonly #openMax: number
  /** That of the read sets of all transactions. */
  readonly budget: ReadBudget
  readonly expiry: Expiry

  /** @param onEnd - told of each that has ended, before its waiters */
  constructor(
    scheduler: Scheduler,
    { openTransactionsMax = openMaxDefault, transactionBytesMax }: RegistryLimits,
    onEnd: (transaction: Transaction) => void,
  ) {
    this.#scheduler = scheduler
    this.#onEnd = onEnd
    this.#openMax = openTransactionsMax
    this.budget = new ReadBudget(transactionBytesMax)
    this.expiry = new Expiry(scheduler, () => this.#open.values())
    // G1: ids go on from the clock, so that tokens of an earlier run name nothing.
    this.#firstId = Number(scheduler.nowMicros())
    this.#lastId = this.#firstId
  }

  get openCount(): number {
    return this.#open.size
  }

  /** The id of the transaction that was begun last: those begun later have larger ones. */
  get lastId(): number {
    return this.#lastId
  }

  open(): Iterable<Transaction> {
    return this.#open.values()
  }

  begin(start: RegistryStart): Transaction {
    const now = this.expiry.endDue()
    const previous = start.previous === undefined ? undefined : this.#previous(start.database, start.previous)
    if (this.#open.size >= this.#openMax) {
      throw new DatastoreError(
        'RESOURCE_EXHAUSTED',
        `${this.#openMax} transactions are open already; commit some or roll them back, or start the server with a higher ` +
          '--max-transactions',
      )
    }
    this.#lastId++
    // Written out: to spread `start` took 5 µs, a tenth of a transaction in the engine.
    const transaction = new Transaction({
      database: start.database,
      mode: start.mode,
      readOnly: start.readOnly,
      readTime: start.readTime,
      id: this.#lastId,
      age: previous?.age ?? this.#lastId,
      beganAt: now,
      owner: this,
      budget: this.budget,
    })
    this.#open.set(this.#numberOf(transaction.id), transaction)
    return transaction
  }

  /** Stands for a write outside of transactions in waits: unknown to clients, older than all. */
  standIn(database: string): Transaction {
    return new Transaction({
      id: 0,
      database,
      mode: 'pessimistic',
      readOnly: false,
      readTime: undefined,
      age: 0,
      beganAt: steadyMicros(this.#scheduler),
    })
  }

  /** The open transaction that a token names, if there is one; it counts as no use of it. */
  openOne(database: string, token: Uint8Array): Transaction | undefined {
    const transaction = this.#openById(decodeId(token))
    return transaction?.database === database ? transaction : undefined
  }

  /** The open transaction that a token names. @throws INVALID_ARGUMENT; ABORTED when it lost a conflict */
  find(database: string, token: Uint8Array): Transaction {
    const id = decodeId(token)
    const now = this.expiry.endDue()
    const transaction = this.#openById(id)
    if (transaction !== undefined && transaction.database === database) {
      if (!transaction.hasExpired(now)) {
        transaction.usedAt = now
        return transaction
      }
      transaction.end('expired')
    }
    const ended = this.#recentlyEnded.find(id)
    if (ended === undefined || ended.database !== database) {
      throw invalidArgument(
        'the transaction is unknown here: begin one, and use it in the database it was begun in',
        transactionGone,
      )
    }
    throw endedError(ended)
  }

  /** Ends a transaction without effect. Rolling back one that has ended without a commit is harmless. */
  rollback(database: string, token: Uint8Array): void {
    const id = decodeId(token)
    if (this.#openById(id) === undefined) {
      const ended = this.#recentlyEnded.find(id)
      if (ended !== undefined && ended.database === database && ended.state !== 'committed') return
    }
    this.find(database, token).end('rolledBack')
  }

  /** The transaction that a retry follows; it ends now. Unknown ones are accepted: they may be long gone. */
  #previous(database: string, token: Uint8Array): EndedTransaction | undefined {
    const id = decodeId(token)
    const open = this.#openById(id)
    const previous = open ?? this.#recentlyEnded.find(id)
    if (previous === undefined || previous.database !== database) return undefined
    if (previous.readOnly) {
      throw invalidArgument(
        `${previous.name} is read-only: there is nothing to retry; begin without previous_transaction`,
      )
    }
    open?.end('rolledBack')
    return previous
  }

  /** A transaction of this registry has ended: from now on only its fate is known. */
  ended(transaction: Transaction): void {
    this.#open.delete(this.#numberOf(transaction.id))
    this.#recentlyEnded.add(transaction)
    this.#onEnd(transaction)
  }

  #numberOf(id: number): number {
    return (id - this.#firstId) | 0
  }

  #openById(id: number): Transaction | undefined {
    const transaction = this.#open.get(this.#numberOf(id))
    return transaction?.id === id ? transaction : undefined
  }
}

const stateInWords: Readonly<Record<TransactionState, string>> = {
  active: 'open',
  committed: 'committed already',
  rolledBack: 'rolled back already',
  expired: 'expired (60 s without use, or 270 s in all)',
  aborted: 'aborted',
}

/** Throws what a transaction that is not open any more answers. */
export function refuseEnded(transaction: Transaction): void {
  if (transaction.state !== 'active') throw endedError(transaction)
}

const transactionGone = 'The referenced transaction has expired or is no longer valid.'

function endedError(fate: EndedTransaction): DatastoreError {
  if (fate.state === 'aborted') return abortedError(fate)
  return invalidArgument(`${fate.name} is ${stateInWords[fate.state]}; begin a new one`, transactionGone)
}

function decodeId(token: Uint8Array): number {
  const id = decodeToken(token)
  if (id === undefined)
    throw invalidArgument(
      'the transaction bytes do not decode; use those that BeginTransaction gave',
      'Invalid transaction.',
    )
  return id
}
