/**
 * A query in canonical form: checked, its filter as an OR of ANDs, its order complete.
 *
 * Every result has a **position**, a string of codes. Results are sorted by it, and a cursor is little more than a position.
 *
 *   position = <code of column 1> … <code of column n> <path code>
 *
 * For `order by priority`, ToDo:3 with priority = 5 has the position <code of 5> <path of ToDo:3>. Columns are the properties of
 * the orders, then those of distinct, inequalities and projection (orders.ts). Each is coded in its own direction, so that positions
 * ascend in result order if the last order, the key's, is ascending; otherwise they descend, with every column coded the other way
 * round (`reverse`). Positions are the suffixes of index rows behind a fixed prefix, for any index that serves the query. So a
 * cursor survives a change of plan, scans are joined by comparing strings, and no operator decodes a value.
 *
 * Columns behind an order on the key are *late*: no table has rows that begin with a key. If every row of an entity is a result,
 * their codes are behind the path, inverted like the others with `reverse`; otherwise they only decide which entities match.
 *
 *   position = <code of column 1> … <path code> <code of late column 1> …
 *
 * An entity is one result, at the first of its matching rows: in each column, at its first allowed value in the column's
 * direction. A projection query has a result for each index row instead.
 */
import type { IndexOptions } from '../encoding/index-entries.ts'
import type { Key, PartitionId } from '../model/key.ts'
import type { PropertyOrder, ResultType } from '../model/query.ts'
import type { Span } from './spans.ts'

export interface Column {
  readonly property: string
  readonly direction: PropertyOrder['direction']
  /** Whether its codes in positions are inverted: descending, or ascending in a reverse query. */
  readonly inverted: boolean
}

export interface ColumnPart {
  readonly width: number
  /** Whether they may be in any order, each in either direction. */
  readonly isFree: boolean
}

/** An entity matches if one of its values of `property` has the (not inverted) value code `code`. */
export interface Equality {
  readonly property: string
  readonly code: string
}

/** One AND of the filter's OR. */
export interface Disjunct {
  /** Without repetitions; sorted by property and code. */
  readonly equalities: readonly Equality[]
  /** For each column the allowed rests of positions; `undefined` = all. */
  readonly columnSpans: readonly (readonly Span[] | undefined)[]
  readonly lateSpans: readonly (readonly Span[] | undefined)[]
  /** Allowed path codes; `undefined` = all. Does not include the ancestor. */
  readonly pathSpans: readonly Span[] | undefined
}

export interface Ordering {
  readonly columns: readonly Column[]
  /** Directions of the columns, first to last. None is free in a reverse query. */
  readonly parts: readonly ColumnPart[]
  /** Columns that are ordered after the key. With `everyRow` their codes are behind the path in positions. */
  readonly lateColumns: readonly Column[]
  readonly reverse: boolean
  /** One result for each combination of this many first columns; `undefined` = all results. */
  readonly distinctColumns: number | undefined
}

export interface NormalQuery extends Ordering {
  readonly partition: PartitionId
  readonly kind: string | undefined
  readonly ancestor: Key | undefined
  /** Whether each row of an entity is a result, not the entity once. */
  readonly everyRow: boolean
  /** The condition for an entity to match; empty: the filter contradicts itself. */
  readonly disjuncts: readonly Disjunct[]
  readonly resultType: ResultType
  /** Names of the projected properties in the requested order; all are columns. */
  readonly projection: readonly string[]
  /** How entities of this database are indexed. */
  readonly indexOptions: IndexOptions
  /** A 32-bit hash of the columns of positions, without their directions. */
  readonly shape: number
  /** The same query with its columns in another order, which the free parts allow. */
  readonly arrange: (columns: readonly Column[]) => NormalQuery
}
