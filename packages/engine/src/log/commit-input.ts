/** The input of the commit log, and its answer. */
import type { RequestContext } from '../context.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, KvWrite, RowKey } from '../storage/kv.ts'
import type { EntityDelta, IndexRules } from '../tables/entity-rows.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { ApplyPolicy } from './apply-policy.ts'
import type { PendingRecord } from './pending.ts'

/** The properties of a database that the log needs. */
export interface LogDatabase extends IndexRules {
  /** Code of project and database. */
  readonly code: string
  readonly applyPolicy: ApplyPolicy
  /** Whether a reset has replaced this database, because its rows and definitions are deleted. */
  readonly isSuperseded?: boolean
}

/** Thrown before the append if a reset has replaced the database; the caller repeats the commit in the new database. */
export class Superseded extends Error {}

/** Reads the newest committed Entities cell of an entity, from its codes and its row in Entities (commit-log/L4). */
export type CommittedReader = (codes: KeyCodes, row: RowKey) => MaybePromise<Uint8Array | undefined>

export interface CommitInput<T> {
  readonly context: RequestContext
  readonly database: LogDatabase
  readonly transaction: Uint8Array
  /** Decides the changes from the committed state alone; writes nothing. An error here is the answer of the commit. */
  readonly evaluate: (read: CommittedReader, version: bigint) => MaybePromise<Evaluation<T>>
  /** Groups that the commit will write to, if known from its request. */
  readonly groups?: (() => readonly GroupCode[]) | undefined
  /** The last check before the append. Throws if the commit must be refused or must wait. */
  readonly admit?: ((footprint: Footprint) => void) | undefined
  /** Throws if the commit is known to fail before it is evaluated. */
  readonly recheck?: (() => void) | undefined
  /** Groups whose version changes too, although the commit writes no entity there. */
  readonly alsoMoves?: readonly GroupCode[] | undefined
}

/** The rows and groups that a commit will change. */
export interface Footprint {
  /** Rows of Entities to write or delete. */
  readonly entityRows: readonly RowKey[]
  /** Index rows to write or delete; computed at each call. */
  indexRows(): readonly RowKey[]
  /** Groups to write to. */
  readonly groups: readonly GroupCode[]
  /** Whole ranges to delete, for a reset. */
  readonly ranges?: readonly KeyRange[]
}

/** A commit whose records are being written. */
export interface Append {
  readonly context: RequestContext
  /** Computed at each call. */
  footprint(): Footprint
  readonly alsoMoves: readonly GroupCode[]
  readonly records: readonly PendingRecord[]
  /** Deletions of old records in the same batch, and the bytes of these records. */
  readonly trimmed: readonly KvWrite[]
  readonly trimmedBytes: number
  /** Token of its transaction; empty outside of transactions. */
  readonly transaction: Uint8Array
  /** Settles when the store has the commit or has failed; `undefined` if the store has it already. */
  readonly written: Promise<void> | undefined
}

/** Simulated tablets, which can delay and refuse commits (observe/tablets/append-queue.ts). */
export interface CommitGate {
  /** Whether commits of one group wait for each other's appends. */
  readonly isQueueing: boolean
  /** Runs `commit` when the queues of its groups allow it. @param groups - of the commit */
  inTurn<T>(
    input: Pick<CommitInput<unknown>, 'context' | 'recheck'>,
    groups: readonly GroupCode[],
    commit: () => MaybePromise<T>,
  ): Promise<T>
  /** Throws if these records must be refused. */
  admit(context: RequestContext, records: readonly PendingRecord[]): void
}

export interface Evaluation<T> {
  /** New states, at most one for each entity, without unchanged entities. */
  readonly states: readonly EntityDelta[]
  readonly result: T
}

/** A commit at the end of its turn; it is answered when it is written. */
export interface Appended<T> {
  readonly acknowledged: MaybePromise<void>
  readonly committed: MaybePromise<Committed<T>>
}

/** The end of a turn that wrote nothing; rejects with the reason when all commits that it read are written. */
export type Refused = Appended<never>

export interface Committed<T> {
  readonly version: bigint
  readonly result: T
  /** Index rows written and deleted by this commit (tables/entity-rows.ts). */
  readonly indexUpdates: number
}
