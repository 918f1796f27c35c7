/**
 * The syntax tree of a GQL statement: plain data, without positions in the text and without bound values.
 *
 *   SELECT a FROM K WHERE 1 < b LIMIT @n
 *   { type: 'select', fields: ['a'], kind: 'K', where: { type: 'comparison', property: 'b', operator: '>', operand: … }, … }
 *
 * Equal statements have one tree: a comparison has its property on the left, `CONTAINS` and `IS NULL` become `IN` and `=`, the short form of an
 * aggregation becomes the long one. Grouping parentheses are kept, because the answer of a query repeats its filter with the same nesting.
 *
 * G1  parse(print(tree)) is the same tree.                           print.test.ts
 */
import type { Query, Value } from '@sixtables/engine'

export type Statement = SelectStatement | AggregateStatement

export interface SelectStatement {
  readonly type: 'select'
  /** Property names; empty = `*`. */
  readonly fields: readonly string[]
  /** `true`: all of `fields`; a list: that of `DISTINCT ON (…)`. */
  readonly distinct: false | true | readonly string[]
  readonly kind: string | undefined
  readonly where: Condition | undefined
  readonly order: readonly Order[]
  /** None, one, or the two of `FIRST(…)`. */
  readonly limit: readonly ResultPosition[]
  /** None, one, or the two of `OFFSET … + …`. */
  readonly offset: readonly ResultPosition[]
}

export interface AggregateStatement {
  readonly type: 'aggregate'
  readonly aggregations: readonly AggregationTerm[]
  readonly over: SelectStatement
}

export type AggregationTerm =
  | { readonly operator: 'count'; readonly upTo: bigint | undefined; readonly alias: string | undefined }
  | { readonly operator: 'sum' | 'avg'; readonly property: string; readonly alias: string | undefined }

export type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>=' | 'IN' | 'NOT IN' | 'HAS ANCESTOR'

export type Condition =
  | {
      readonly type: 'comparison'
      readonly property: string
      readonly operator: ComparisonOperator
      readonly operand: Operand
    }
  /** At least two conditions. */
  | { readonly type: 'and' | 'or'; readonly conditions: readonly Condition[] }

export type Order = Query['order'][number]

/** A value of a type that has a literal: keys and arrays have forms of their own, the others only a binding. */
export type PlainLiteral = Exclude<Value, { readonly type: 'key' | 'array' | 'geoPoint' | 'entity' }>

export interface KeyLiteral {
  readonly type: 'keyLiteral'
  /** `undefined`: that of the query. If one part is given, the others are empty (measured). */
  readonly partition: Readonly<Record<PartitionDimension, string>> | undefined
  readonly path: readonly KeyLiteralElement[]
}

export type PartitionDimension = 'projectId' | 'databaseId' | 'namespaceId'

export interface KeyLiteralElement {
  readonly kind: string
  readonly idOrName: bigint | string
}

/** The place of a binding: `@name` or, counted from 1, `@1`. */
export interface BindingSite {
  readonly type: 'binding'
  readonly site: string | number
}

export type Scalar = PlainLiteral | KeyLiteral | BindingSite

export type Operand = Scalar | { readonly type: 'arrayLiteral'; readonly values: readonly Scalar[] }

/** An integer, or a binding for an integer or a cursor. */
export type ResultPosition = { readonly type: 'count'; readonly value: bigint } | BindingSite
