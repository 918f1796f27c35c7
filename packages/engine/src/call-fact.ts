/**
 * The request of a call in the terms of the API, noted in the call's ledger and told to observers with its rows at its end
 * (database/database-parts.ts). Keys of a commit may be incomplete.
 */
import type { Key, PartitionId } from './model/key.ts'

export interface CommitFact {
  readonly call: 'commit'
  readonly mutations: readonly { readonly key: Key }[]
  /** The first key that it names twice, once that is found. */
  repeated?: Key
  readonly isTransactional: boolean
}

export interface LookupFact {
  readonly call: 'lookup'
  readonly keys: readonly Key[]
  readonly isTransactional: boolean
}

export interface QueryFact {
  readonly call: 'query'
  readonly partition: PartitionId
  readonly kind: string | undefined
  /** Properties in its filters, orders or projection. */
  readonly properties: readonly string[]
  /** Composite indexes of its plan, as formatIndex() writes them. */
  readonly indexes: readonly string[]
  /** Results; an aggregation has none. */
  readonly returned: number
  readonly skipped: number
}

export type CallFact = CommitFact | LookupFact | QueryFact
