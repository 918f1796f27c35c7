/** A commit as the log gets it, and the log's answer. */
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
  /** Whether a reset has put another in its place, as its rows and definitions are gone. */
  readonly isSuperseded?: boolean
}

/** Thrown before the append of a commit whose database was superseded since it began: it is made again, in the other one. */
export class Superseded extends Error {}

/** Reads the newest committed Entities cell of an entity, from its codes and its row in Entities (commit-log/L4). */
export type CommittedReader = (codes: KeyCodes, row: RowKey) => MaybePromise<Uint8Array | undefined>

export interface CommitInput<T> {
  readonly context: RequestContext
  readonly database: LogDatabase
  readonly transaction: Uint8Array
  /**
   * Decides what the commit does, from the committed state alone. It must not write. What it throws is the commit's
   * answer, with nothing written.
   */
  readonly evaluate: (read: CommittedReader, version: bigint) => MaybePromise<Evaluation<T>>
  /** Groups that it is about to write to, as its request names them. */
  readonly groups?: (() => readonly GroupCode[]) | undefined
  /** The last word before the append: throws when the commit must not, or not yet, go through. */
  readonly admit?: ((footprint: Footprint) => void) | undefined
  /** Throws when it is known before the evaluation that the commit must fail. */
  readonly recheck?: (() => void) | undefined
  /** Groups whose logs it moves besides those it writes to. */
  readonly alsoMoves?: readonly GroupCode[] | undefined
}

/** The rows and groups that a commit will change. */
export interface Footprint {
  /** Rows of Entities that it writes or deletes. */
  readonly entityRows: readonly RowKey[]
  /** Index rows that it writes or deletes; listed at each call. */
  indexRows(): readonly RowKey[]
  /** Groups that it writes to. */
  readonly groups: readonly GroupCode[]
  /** Whole ranges of rows that go, where it is a reset. */
  readonly ranges?: readonly KeyRange[]
}

/** A commit whose records are being written from now on. */
export interface Append {
  readonly context: RequestContext
  /** Made at the call. */
  footprint(): Footprint
  readonly alsoMoves: readonly GroupCode[]
  readonly records: readonly PendingRecord[]
  /** Deletions of old records that ride with it, and the bytes of those. */
  readonly trimmed: readonly KvWrite[]
  readonly trimmedBytes: number
  /** Token of its transaction; empty for a write outside of transactions. */
  readonly transaction: Uint8Array
  /** Resolves, or rejects, when it is in the store; `undefined` when it is there already. */
  readonly written: Promise<void> | undefined
}

/** Simulated tablets, which may delay and refuse commits (observe/tablets/append-queue.ts). */
export interface CommitGate {
  /** Whether commits of one group wait for each other's appends. */
  readonly isQueueing: boolean
  /** Runs `commit` when its turn comes. @param groups - of the commit */
  inTurn<T>(
    input: Pick<CommitInput<unknown>, 'context' | 'recheck'>,
    groups: readonly GroupCode[],
    commit: () => MaybePromise<T>,
  ): Promise<T>
  /** Throws when these records may not be written. */
  admit(context: RequestContext, records: readonly PendingRecord[]): void
}

export interface Evaluation<T> {
  /** New states, at most one an entity; unchanged entities are left out. */
  readonly states: readonly EntityDelta[]
  readonly result: T
}

/** A commit at the end of its turn: its answer is given when it is written. */
export interface Appended<T> {
  readonly acknowledged: MaybePromise<void>
  readonly committed: MaybePromise<Committed<T>>
}

/** The end of a turn in which nothing was written: rejects with the reason when what it saw is written. */
export type Refused = Appended<never>

export interface Committed<T> {
  readonly version: bigint
  readonly result: T
  /** Index rows that come or go with this commit (tables/entity-rows.ts). */
  readonly indexUpdates: number
}
