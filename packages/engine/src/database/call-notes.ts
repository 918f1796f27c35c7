/** Notes of calls, in the terms of the API, for an observer that looks for patterns (observe/findings). */
import type { Key, PartitionId } from '../model/key.ts'

/** A requested commit, before its evaluation. Keys may be incomplete. */
export interface CommitAskedFact {
  readonly mutations: readonly { readonly key: Key }[]
  readonly isTransactional: boolean
}

export interface LookupFact {
  readonly keys: readonly Key[]
  readonly isTransactional: boolean
}

export interface QueryFact {
  readonly partition: PartitionId
  readonly kind: string | undefined
  /** Properties in its filters, orders or projection. */
  readonly properties: readonly string[]
  /** Composite indexes of its plan, as formatIndex() writes them. */
  readonly indexes: readonly string[]
  readonly returned: number
  readonly skipped: number
}

/** Its functions neither wait nor fail. */
export interface CallNotes {
  noteCommit(fact: CommitAskedFact): void
  noteLookup(fact: LookupFact): void
  noteQuery(fact: QueryFact): void
}
