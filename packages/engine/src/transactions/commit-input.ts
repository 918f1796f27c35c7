/** A commit whose mutations are checked and whose keys are complete: the input of a store, and its answer. */
import type { RequestContext } from '../context.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import type { Evaluated, EvaluationRules, PreparedMutation } from './mutations.ts'
import type { TransactionDatabase } from './transaction.ts'

export interface CommitInput {
  readonly context: RequestContext
  readonly database: TransactionDatabase
  /** Token of its transaction; empty outside of transactions. */
  readonly transaction: Uint8Array
  readonly mutations: readonly PreparedMutation[]
  readonly rules: EvaluationRules
  /** The groups of its mutations; absent = the commit does not queue for them in a simulation, and reports no contention. */
  readonly groups?: (() => readonly GroupCode[]) | undefined
}

export interface Committed extends Pick<Evaluated, 'outcomes' | 'failure'> {
  readonly version: bigint
  /** Index rows written and deleted by this commit (tables/entity-rows.ts). */
  readonly indexUpdates: number
}
