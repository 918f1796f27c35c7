/**
 * All transactions of an engine: the open ones by id, and for a while the state in which others ended (42: committed).
 *
 * A token names at most one transaction of one database, also after a restart. An expired transaction is ended by the next
 * begin, commit or call of any transaction, or by a wait for it (expiry.ts).
 *
 * Measured: a call in an unknown, ended or expired transaction is INVALID_ARGUMENT; so is a read-only one as the transaction to
 * retry.
 */
import { type Scheduler, steadyMicros } from '../clock.ts'
import { DatastoreError, invalidArgument } from '../errors.ts'
import { abortedError } from './deadlock-detection.ts'
import { type EndedTransaction, EndedTransactions } from './ended-transactions.ts'
import { Expiry } from './expiry.ts'
import type { ReadBudget } from './read-set.ts'
import {
  decodeToken,
  Transaction,
  type TransactionDatabase,
  type TransactionOwner,
  type TransactionState,
} from './transaction.ts'

/** Ours: each keeps its read set. Ten times the number in a busy service, and some hundred megabytes. */
const openMaxDefault = 100_000
/** Ours: as much as running requests may have. */
const readBytesDefault = 512 * 1024 * 1024

export interface BeginOptions {
  readonly mode: 'readWrite' | 'readOnly'
  /** The token of the transaction that this one retries. */
  readonly previousTransaction?: Uint8Array
  readonly readTime?: bigint
}

export interface RegistryLimits {
  readonly openTransactionsMax?: number | undefined
  readonly transactionBytesMax?: number | undefined
}

export class TransactionRegistry implements TransactionOwner {
  readonly #scheduler: Scheduler
  /** By their number in this run, 32 bits of it: maps are fastest with small integers. */
  readonly #open = new Map<number, Transaction>()
  readonly #recentlyEnded = new EndedTransactions()
  readonly #firstId: number
  #lastId: number
  readonly #openMax: number
  readonly budget: ReadBudget
  readonly expiry: Expiry

  constructor(scheduler: Scheduler, limits: RegistryLimits) {
    const { openTransactionsMax = openMaxDefault, transactionBytesMax = readBytesDefault } = limits
    this.#scheduler = scheduler
    this.#openMax = openTransactionsMax
    this.budget = { bytes: 0, bytesMax: transactionBytesMax }
    this.expiry = new Expiry(scheduler, () => this.#open.values())
    // Ids start at the clock, so tokens of an earlier run name nothing.
    this.#firstId = Number(scheduler.nowMicros())
    this.#lastId = this.#firstId
  }

  openCount = 0

  /** The id of the newest transaction; later ones have larger ids. */
  get lastId(): number {
    return this.#lastId
  }

  open(): Iterable<Transaction> {
    return this.#open.values()
  }

  begin({ code, settings }: TransactionDatabase, options: BeginOptions): Transaction {
    const { mode, previousTransaction, readTime } = options
    const now = this.expiry.endDue()
    const previous = previousTransaction === undefined ? undefined : this.#previous(code, previousTransaction)
    if (this.#open.size >= this.#openMax) {
      throw new DatastoreError(
        'RESOURCE_EXHAUSTED',
        `${this.#openMax} transactions are open already; commit some or roll them back, or start the server with a higher ` +
          '--max-transactions',
      )
    }
    this.#lastId++
    const transaction = new Transaction({
      database: code,
      mode: settings.concurrency,
      readOnly: mode === 'readOnly',
      readTime,
      id: this.#lastId,
      age: previous?.age ?? this.#lastId,
      beganAt: now,
      owner: this,
      budget: this.budget,
    })
    this.#open.set(this.#numberOf(transaction.id), transaction)
    this.openCount = this.#open.size
    return transaction
  }

  /** The stand-in of a write outside of transactions, for waits: unknown to clients, older than all. */
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

  /** The open transaction of a token, if any; this does not extend its time. */
  openOne({ code }: TransactionDatabase, token: Uint8Array): Transaction | undefined {
    const transaction = this.#openById(decodeId(token))
    return transaction?.database === code ? transaction : undefined
  }

  /** The open transaction of a token. @throws INVALID_ARGUMENT; ABORTED if it lost a conflict */
  find({ code }: TransactionDatabase, token: Uint8Array): Transaction {
    const id = decodeId(token)
    const now = this.expiry.endDue()
    const transaction = this.#openById(id)
    if (transaction !== undefined && transaction.database === code) {
      if (!transaction.hasExpired(now)) {
        transaction.usedAt = now
        return transaction
      }
      transaction.end('expired')
    }
    const ended = this.#recentlyEnded.find(id)
    if (ended === undefined || ended.database !== code) {
      throw invalidArgument(
        'the transaction is unknown here: begin one, and use it in the database it was begun in',
        transactionGone,
      )
    }
    throw endedError(ended)
  }

  /** Ends a transaction without effect. No error if it has ended without a commit. */
  rollback(database: TransactionDatabase, token: Uint8Array): void {
    const id = decodeId(token)
    if (this.#openById(id) === undefined) {
      const ended = this.#recentlyEnded.find(id)
      if (ended !== undefined && ended.database === database.code && ended.state !== 'committed') return
    }
    this.find(database, token).end('rolledBack')
  }

  /** Ends the transaction that a retry names. Unknown ones are accepted: they may have ended long ago. */
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

  /** Moves a transaction from the open ones to the ended ones, before its waiters wake. */
  ended(transaction: Transaction): void {
    this.#open.delete(this.#numberOf(transaction.id))
    this.openCount = this.#open.size
    this.#recentlyEnded.add(transaction)
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
