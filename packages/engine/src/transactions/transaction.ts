/**
 * One transaction: its settings, its read set and its end.
 *
 *   active ──commit──▶ committed        active ──rollback──▶ rolledBack
 *   active ──idle or total time over──▶ expired        active ──lost to another──▶ aborted
 *
 * A transaction ends once, and wakes its waiters at that instant. From then on it holds nothing: its read set is empty, its
 * marks and locks are released (many locks in slices, lock-table.ts). It does not expire during its commit; the commit decides
 * its end.
 *
 * Known: 60 s idle and 270 s in total (documented; measured on the Firestore emulator).
 */
import { asBuffer } from '../encoding/wire.ts'
import { limits } from '../limits.ts'
import type { Footprint } from '../log/footprint.ts'
import type { LogDatabase } from '../log/log-database.ts'
import type { RowKey } from '../storage/kv.ts'
import { type ReadBudget, ReadSet } from './read-set.ts'

/** The wording of production, for legacy databases. */
export const tooManyGroups: string = 'operating on too many entity groups in a single transaction.'

export type ConcurrencyMode = 'pessimistic' | 'optimistic' | 'optimisticWithEntityGroups'

export type TransactionState = 'active' | 'committed' | 'rolledBack' | 'expired' | 'aborted'

/** Times of transactions are numbers: microseconds since the epoch stay exact in them until the year 2255. */
export const idleMicrosMax: number = limits.transactionIdleMsMax * 1000
export const totalMicrosMax: number = limits.transactionTotalMsMax * 1000

export interface TransactionSettings {
  readonly concurrency: ConcurrencyMode
  /** How long a writer waits for the lock of a reader. */
  readonly lockTimeoutMs: number
  /** Maximum number of entity groups of a transaction; `undefined` = any number. */
  readonly entityGroupsMax: number | undefined
}

export interface TransactionDatabase extends LogDatabase {
  readonly settings: LogDatabase['settings'] & TransactionSettings
}

/** Callback when a transaction has ended, before its waiters wake. */
export interface TransactionOwner {
  ended(transaction: Transaction): void
}

type TransactionStart = Pick<Transaction, 'id' | 'database' | 'mode' | 'readOnly' | 'readTime' | 'age' | 'beganAt'> & {
  readonly owner?: TransactionOwner
  readonly budget?: ReadBudget
}

/** The goal of a wait: a row of a footprint is free, or another transaction has ended. */
export type WaitsFor =
  | { readonly row: RowKey; readonly footprint: Omit<Footprint, 'groups'> }
  | { readonly row: RowKey; readonly holder: Transaction }

/** The waits for one goal. */
export interface Waits {
  /** The waiting transactions, and what wakes them. */
  readonly wakes: Map<Transaction, Set<() => void>>
  /** When a holder last released the row, microseconds; 0 = never. */
  releasedAt: number
}

const noWaits: readonly WaitsFor[] = []

export class Transaction {
  /** A safe integer. */
  readonly id: number
  readonly database: string
  readonly mode: ConcurrencyMode
  readonly readOnly: boolean
  /** Read-only: the moment to read, microseconds; `undefined` = the moment of the first read. */
  readonly readTime: bigint | undefined
  /** Rank by first begin: lower is older. A retry keeps the rank of its predecessor. */
  readonly age: number
  readonly beganAt: number
  readonly reads: ReadSet
  /** Why it was aborted, for the answers to its later calls. */
  abortReason: string | undefined
  /** Ids of the transactions that it was aborted for; 0 is a write outside of transactions. */
  abortedBy: readonly number[] | undefined
  /** The goals of its waits; several where calls of it wait at the same time. */
  waitsFor: readonly WaitsFor[] = noWaits
  awaited: Waits | undefined
  usedAt: number
  committing = false
  #state: TransactionState = 'active'
  #token: Uint8Array | undefined
  #owner: TransactionOwner | undefined
  #atEnd: (() => void)[] | undefined

  constructor(start: TransactionStart) {
    this.id = start.id
    this.database = start.database
    this.mode = start.mode
    this.readOnly = start.readOnly
    this.readTime = start.readTime
    this.age = start.age
    this.beganAt = start.beganAt
    this.usedAt = start.beganAt
    this.reads = new ReadSet(start.budget)
    this.#owner = start.owner
  }

  get state(): TransactionState {
    return this.#state
  }

  get token(): Uint8Array {
    this.#token ??= encodeToken(this.id)
    return this.#token
  }

  /** `transaction 42`, for messages. */
  get name(): string {
    return nameOf(this.id)
  }

  get expiresAt(): number {
    return Math.min(this.usedAt + idleMicrosMax, this.beganAt + totalMicrosMax)
  }

  /** Whether it was idle, or open, for too long. Never during its commit. */
  hasExpired(now: number): boolean {
    return !this.committing && now > this.expiresAt
  }

  get takesLocks(): boolean {
    return this.mode === 'pessimistic' && !this.readOnly
  }

  atEnd(task: () => void): void {
    if (this.#atEnd === undefined) this.#atEnd = [task]
    else this.#atEnd.push(task)
  }

  notAtEnd(task: () => void): void {
    this.#atEnd = this.#atEnd?.filter((other) => other !== task)
  }

  end(state: Exclude<TransactionState, 'active'>, reason?: string): void {
    if (this.#state !== 'active') return
    this.#state = state
    this.abortReason = reason
    const tasks = this.#atEnd
    this.#atEnd = undefined
    this.#owner?.ended(this)
    this.#owner = undefined
    this.reads.clear()
    if (tasks !== undefined) for (const task of tasks) task()
  }
}

/** The name of a transaction in messages; id 0 is a write outside of transactions. */
export function nameOf(id: number): string {
  return id === 0 ? 'a write outside of transactions' : `transaction ${id}`
}

const tokenBytes = 9
const tokenTag = 0x11

/** The token of an id, as both of Google's emulators write it (measured). */
function encodeToken(id: number): Uint8Array {
  const token = Buffer.allocUnsafe(tokenBytes)
  const low = id >>> 0
  token[0] = tokenTag
  token.writeUInt32LE(low, 1)
  token.writeUInt32LE((id - low) / 0x1_0000_0000, 5)
  return token
}

/** The id in a token, rounded if the token is not ours; `undefined` if the bytes are no token. */
export function decodeToken(token: Uint8Array): number | undefined {
  if (token.length !== tokenBytes || token[0] !== tokenTag) return undefined
  const bytes = asBuffer(token)
  return bytes.readUInt32LE(1) + bytes.readUInt32LE(5) * 0x1_0000_0000
}
