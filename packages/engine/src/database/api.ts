/**
 * The verbs of a database as data: requests and answers, without transport. The gateway's handlers translate to and from
 * these; users in the same process call them directly.
 */
import type { AggregateTerm } from '../executor/aggregate.ts'
import type { ResultPage } from '../executor/result-page.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Key } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import type { Conflict } from '../transactions/conflict.ts'
import type { MutationOutcome } from '../transactions/mutations.ts'
import type { PropertyTransform } from '../transactions/property-transform.ts'
import type { BeginOptions as TransactionOptions } from '../transactions/transaction-registry.ts'

export type { PageResult as QueryResult } from '../executor/result-page.ts'
export type { Conflict as ConflictCheck } from '../transactions/conflict.ts'
export type { MutationOutcome as MutationResult } from '../transactions/mutations.ts'
export type { PropertyTransform } from '../transactions/property-transform.ts'
export type { BeginOptions as TransactionOptions } from '../transactions/transaction-registry.ts'

export type ReadConsistency = 'strong' | 'eventual'

/** The moment and consistency of a read. With nothing set, the database's mode decides. */
export interface ReadOptions {
  readonly consistency?: ReadConsistency
  readonly transaction?: Uint8Array
  readonly newTransaction?: TransactionOptions
  /** Microseconds since the epoch. */
  readonly readTime?: bigint
  /** Reads as if all pending commits were applied, and applies none. Not in transactions or with a read time. */
  readonly ahead?: boolean
}

export interface LookupRequest {
  /** Complete keys. */
  readonly keys: readonly Key[]
  /** Paths of the properties to return; absent = all. */
  readonly propertyMask?: readonly string[]
  readonly read?: ReadOptions
}

export interface FoundEntity {
  readonly key: Key
  readonly image: EntityImage
}

export interface LookupResult {
  /** In request order, without duplicates. */
  readonly found: readonly FoundEntity[]
  readonly missing: readonly Key[]
  /** Keys without an answer because the answer grew too large: request them again. */
  readonly deferred: readonly Key[]
  readonly readTime: bigint
  readonly transaction?: Uint8Array | undefined
}

export interface RunQueryRequest {
  readonly query: Query
  /** Paths of the properties to return; absent = all. Not with a projection. */
  readonly propertyMask?: readonly string[]
  readonly read?: ReadOptions
}

export interface QueryBatch extends ResultPage {
  readonly readTime: bigint
  readonly transaction?: Uint8Array | undefined
}

/** One aggregation over the results of a query. The default aliases are property_1, property_2, … */
export type Aggregation = AggregateTerm & { readonly alias?: string | undefined }

export interface RunAggregationQueryRequest {
  readonly query: Query
  readonly aggregations: readonly Aggregation[]
  readonly read?: ReadOptions
}

export interface AggregationBatch {
  /** By alias, in request order. A count is an integer, a sum an integer or a double, an average a double or null. */
  readonly values: ReadonlyMap<string, Value>
  readonly readTime: bigint
  readonly transaction?: Uint8Array | undefined
}

/**
 * One change. `entity` is a serialized google.datastore.v1.Entity with its key, whose last element may be incomplete for insert
 * and upsert. It is validated here: a caller passes the client's bytes unchanged.
 */
export type Mutation =
  | {
      readonly operation: 'insert' | 'update' | 'upsert'
      readonly entity: Uint8Array
      readonly conflict?: Conflict
      /** Paths of the properties to write, or to delete if `entity` lacks them; absent = all. */
      readonly propertyMask?: readonly string[]
      /** Applied in order after the write, whatever the mask has. */
      readonly transforms?: readonly PropertyTransform[]
    }
  | {
      readonly operation: 'delete'
      readonly key: Key
      readonly conflict?: Conflict
      /** Ignored. */
      readonly propertyMask?: readonly string[]
    }

export interface CommitRequest {
  /** `transactional` = all or nothing; it needs `transaction` or `singleUse`. */
  readonly mode: 'transactional' | 'nonTransactional'
  readonly transaction?: Uint8Array
  readonly singleUse?: TransactionOptions
  readonly mutations: readonly Mutation[]
}

export interface CommitResult {
  /** One for each mutation, in order. */
  readonly mutationResults: readonly MutationOutcome[]
  /** Index rows written and deleted. */
  readonly indexUpdates: number
  /** Microseconds since the epoch; absent for a non-transactional commit, as the API says. */
  readonly commitTime?: bigint | undefined
}
