/** A query of the API, independent of its transport. planner/normalize.ts checks its parts. */
import type { PartitionId } from './key.ts'
import type { Value } from './value.ts'

export type PropertyOperator =
  | 'lessThan'
  | 'lessThanOrEqual'
  | 'greaterThan'
  | 'greaterThanOrEqual'
  | 'equal'
  | 'in'
  | 'notEqual'
  | 'hasAncestor'
  | 'notIn'

export type Filter =
  | { readonly type: 'property'; readonly property: string; readonly operator: PropertyOperator; readonly value: Value }
  | { readonly type: 'composite'; readonly operator: 'and' | 'or'; readonly filters: readonly Filter[] }

export interface PropertyOrder {
  readonly property: string
  readonly direction: 'ascending' | 'descending'
}

export type DistanceMeasure = 'euclidean' | 'cosine' | 'dotProduct'

/** Selects the results whose vectors are nearest to a given one, nearest first. */
export interface NearestQuery {
  readonly property: string
  /** An array of doubles with meaning 31. */
  readonly vector: Value
  readonly measure: DistanceMeasure
  /** `undefined` = the request has none, which is refused. */
  readonly limit: number | undefined
  /** The property of results that gets their distance; `undefined` = none. */
  readonly distanceProperty?: string | undefined
  /** The largest distance; for `dotProduct` the smallest product. */
  readonly threshold?: number | undefined
}

export interface Query {
  readonly partition: PartitionId
  /** `undefined` = kindless. */
  readonly kind?: string | undefined
  /** Property names; `['__key__']` alone = keys only; empty = whole entities. */
  readonly projection: readonly string[]
  readonly filter?: Filter | undefined
  readonly order: readonly PropertyOrder[]
  readonly distinctOn: readonly string[]
  readonly startCursor?: Uint8Array | undefined
  readonly endCursor?: Uint8Array | undefined
  readonly offset: number
  /** `undefined` = no limit. */
  readonly limit?: number | undefined
  /** The last stage: it selects from the results of all others. */
  readonly nearest?: NearestQuery | undefined
}

export type ResultType = 'full' | 'projection' | 'keyOnly'

export type MoreResults = 'notFinished' | 'moreResultsAfterLimit' | 'moreResultsAfterCursor' | 'noMoreResults'
