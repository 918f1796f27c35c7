/** Notes of calls, in the words of the API, for an observer that looks for patterns (observe/findings). */
import type { Key, PartitionId } from '../model/key.ts'

/** A commit as asked for, before anything of it is decided. Keys may be incomplete. */
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
  /** Properties it filters or orders by, or projects. */
  readonly properties: readonly string[]
  /** Composite indexes that the plan reads, as formatIndex() writes them. */
  readonly indexes: readonly string[]
  readonly returned: number
  readonly skipped: number
}

/** Nothing here waits or fails. */
export interface CallNotes {
  noteCommit(fact: CommitAskedFact): void
  noteLookup(fact: LookupFact): void
  noteQuery(fact: QueryFact): void
}
