/**
 * One transaction: what it is, what it has read, and how it ends.
 *
 *   active ──commit──▶ committed        active ──rollback──▶ rolledBack
 *   active ──idle or total time over──▶ expired        active ──lost to another──▶ aborted
 *
 * T1  A transaction that is not active holds nothing: its read set is empty, its marks are given back.
 * T2  It ends once. Who waits for it is told at that moment.
 * T3  It does not expire while its commit runs: what becomes of it then is the commit's to say.
 *
 * Known: 60 s idle and 270 s in all (documented; measured on the Firestore emulator).
 */
import type { MaybePromise } from '../maybe-promise.ts'
import { ReadSet } from './read-set.ts'

export type ConcurrencyMode = 'pessimistic' | 'optimistic' | 'optimisticWithEntityGroups'

export type TransactionState = 'active' | 'committed' | 'rolledBack' | 'expired' | 'aborted'

export const idleMicrosMax = 60_000_000n
export const totalMicrosMax = 270_000_000n

export interface TransactionStart {
  readonly id: bigint
  /** Code of the database. */
  readonly database: string
  readonly mode: ConcurrencyMode
  readonly readOnly: boolean
  /** Read-only: the moment to read at, microseconds; `undefined` = the first read decides. */
  readonly readTime: bigint | undefined
  /** Rank by first begin: lower is older. A retry keeps the rank of the transaction it follows. */
  readonly age: bigint
  readonly beganAt: bigint
}

export class Transaction {
  readonly id: bigint
  readonly database: string
  readonly mode: ConcurrencyMode
  readonly readOnly: boolean
  readonly readTime: bigint | undefined
  readonly age: bigint
  readonly beganAt: bigint
  readonly reads: ReadSet = new ReadSet()
  /** Why it was aborted, for the answer to whatever it asks next. */
  abortReason: string | undefined
  /** The transactions that it waits for now. */
  waitsFor: readonly Transaction[] = []
  usedAt: bigint
  /** Its commit has begun. */
  committing = false
  #state: TransactionState = 'active'
  #atEnd: (() => void)[] = []

  constructor(start: TransactionStart) {
    this.id = start.id
    this.database = start.database
    this.mode = start.mode
    this.readOnly = start.readOnly
    this.readTime = start.readTime
    this.age = start.age
    this.beganAt = start.beganAt
    this.usedAt = start.beganAt
  }

  get state(): TransactionState {
    return this.#state
  }

  /** `transaction 42`, as messages name it. */
  get name(): string {
    return this.id === 0n ? 'a write outside of transactions' : `transaction ${this.id}`
  }

  /** When it expires if nobody uses it before. */
  get expiresAt(): bigint {
    const idle = this.usedAt + idleMicrosMax
    const total = this.beganAt + totalMicrosMax
    return idle < total ? idle : total
  }

  /** Whether it has been left alone, or open, for too long (T3). */
  hasExpired(now: bigint): boolean {
    return !this.committing && now > this.expiresAt
  }

  /** Runs `task` when the transaction ends, whatever way. */
  atEnd(task: () => void): void {
    this.#atEnd.push(task)
  }

  /** Takes a task of {@link atEnd} back. */
  notAtEnd(task: () => void): void {
    this.#atEnd = this.#atEnd.filter((other) => other !== task)
  }

  end(state: Exclude<TransactionState, 'active'>, reason?: string): void {
    if (this.#state !== 'active') return
    this.#state = state
    this.abortReason = reason
    this.reads.clear()
    this.waitsFor = []
    const tasks = this.#atEnd
    this.#atEnd = []
    for (const task of tasks) task()
  }
}

const tokenBytes = 9
const tokenTag = 0x11

/** The bytes by which clients name a transaction: as both of Google's emulators write them (measured). */
export function encodeToken(id: bigint): Uint8Array {
  const token = Buffer.alloc(tokenBytes)
  token[0] = tokenTag
  token.writeBigUInt64LE(id, 1)
  return token
}

/** The id in a token; `undefined` when the bytes are no token. */
export function decodeToken(token: Uint8Array): bigint | undefined {
  if (token.length !== tokenBytes || token[0] !== tokenTag) return undefined
  return Buffer.from(token).readBigUInt64LE(1)
}

/** A read in a transaction: `view` notes what is read. */
export type TransactionalRead<T, V> = (view: V) => MaybePromise<T>
