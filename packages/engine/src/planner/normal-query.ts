/**
 * A query in its one canonical form: checked, its filter as an OR of ANDs, its order complete.
 *
 * Every result of a query has a **position**: one string of codes by which results sort, and which is all that a cursor
 * needs to know.
 *
 *   position = <code of column 1> … <code of column n> <path code>
 *
 * Columns are the properties by which the query orders, then those of its distinct, its inequalities and its projection. Of
 * what is distinct or projected, and not ordered, the query says neither order nor direction: there the columns stand as in the
 * index that serves it. Each is coded in its own direction, so that results in order are positions in order: ascending when the last order, the
 * key's, is ascending, and otherwise descending with every column coded the other way round (`reverse`). Positions are the
 * suffixes of index rows after a fixed prefix, of any index that can serve the query; hence a cursor survives a change of
 * plan, scans join by comparing strings, and no operator decodes a value.
 *
 * An order on the key may stand before other columns: these are *late*, since no table's rows begin with a key. Where every
 * row of an entity is a result, their codes follow the path, and with `reverse` they are inverted like the others:
 *
 *   position = <code of column 1> … <path code> <code of late column 1> …
 *
 * Otherwise they say only which entities match, and stand in no position.
 *
 * Q1  An entity stands in the result once (but see projection), at the first of its rows that match: in each column, its
 *     first value in the column's direction that the filters allow.
 * Q2  A projection query has a result for each index row.
 * Q3  Two queries of equal `shape` have positions of the same columns in the same order. Their columns may be coded in different
 *     directions, and they may read positions both ways.
 */
import type { IndexOptions } from '../encoding/index-entries.ts'
import type { Key, PartitionId } from '../model/key.ts'
import type { PropertyOrder, ResultType } from '../model/query.ts'
import type { Span } from './spans.ts'

export interface Column {
  readonly property: string
  readonly direction: PropertyOrder['direction']
  /** Whether its codes in positions are the inverted ones: descending, or ascending in a reverse query. */
  readonly inverted: boolean
}

/** Some columns that stand next to each other. */
export interface ColumnPart {
  readonly width: number
  /** Whether they may stand in any order, and each in either direction. */
  readonly isFree: boolean
}

/** An entity matches when one of its values of `property` has the (not inverted) value code `code`. */
export interface Equality {
  readonly property: string
  readonly code: string
}

/** One AND of the filter's OR. */
export interface Disjunct {
  /** Without repetitions; sorted by property and code. */
  readonly equalities: readonly Equality[]
  /** For each column the allowed rests; `undefined` = all. */
  readonly columnSpans: readonly (readonly Span[] | undefined)[]
  /** The same for each late column. */
  readonly lateSpans: readonly (readonly Span[] | undefined)[]
  /** Allowed path codes; `undefined` = all. The ancestor is not in here. */
  readonly pathSpans: readonly Span[] | undefined
}

export interface NormalQuery {
  readonly partition: PartitionId
  readonly kind: string | undefined
  readonly ancestor: Key | undefined
  readonly columns: readonly Column[]
  /** Directions of the columns, first to last. None is free in a reverse query. */
  readonly parts: readonly ColumnPart[]
  /** Columns that are ordered after the key. */
  readonly lateColumns: readonly Column[]
  /** Whether each row of an entity is a result, and not the entity once. */
  readonly everyRow: boolean
  /** Whether results are in descending order of positions. */
  readonly reverse: boolean
  /** Empty: the filter can match nothing. */
  readonly disjuncts: readonly Disjunct[]
  readonly resultType: ResultType
  /** Names of the projected properties, as asked; all are columns. */
  readonly projection: readonly string[]
  /** One result for each combination of that many first columns; `undefined` = all results. */
  readonly distinctColumns: number | undefined
  readonly indexOptions: IndexOptions
  /** A 32-bit hash of the columns of positions, their directions not among it. */
  readonly shape: number
  /** The same query with its columns in another order, which the free parts allow. */
  readonly arrange: (columns: readonly Column[]) => NormalQuery
}
