/**
 * A plan: how a query's rows are found, as plain data that can be printed as JSON.
 *
 *   scan        rows of one table under one prefix; their suffixes are positions (normal-query.ts)
 *   mergeJoin   rows whose position all inputs have: equality filters, by zigzag
 *   union       rows of all inputs, each position once: OR and IN
 *   filter      rows whose columns or path are in ranges that do not limit a scan
 *   late        rows of entities that have the properties ordered after the key; reads each entity
 *   empty       nothing: the filter contradicts itself
 *
 * `owner = "ada" AND done = false` is a mergeJoin of two scans of EntitiesByPropertyAsc. All inputs of a node give positions
 * of the query's form and in its order. The tree does not contain the work of every plan (first rows of arrays, distinct,
 * offset and limit, entities); the executor adds it from the fields of Plan. A plan without join and filter reads the rows
 * that it gives, and at most a batch more.
 */
import type { IndexDefinition } from '../model/index-definition.ts'
import type { RowKey } from '../storage/kv.ts'
import type { TableId } from '../tables/table.ts'
import type { Equality, NormalQuery } from './normal-query.ts'
import type { Span } from './spans.ts'

export interface ScanNode {
  readonly type: 'scan'
  readonly table: TableId
  /** The prefix of all rows; a position follows. */
  readonly prefix: RowKey
  /** Ranges of the positions to read. In a join or under a filter too, no row outside is read. */
  readonly spans: readonly Span[]
  /** Whether rows contain the inverted position, and so are in the opposite order: an index with `__key__ desc`. */
  readonly mirrored: boolean
  /** The conditions that the prefix fixes, for explanations. */
  readonly equalities: readonly Equality[]
  readonly index?: IndexDefinition
}

export interface FilterNode {
  readonly type: 'filter'
  readonly input: PlanNode
  /** For each column the allowed rests of positions; `undefined` = all. */
  readonly columnSpans: readonly (readonly Span[] | undefined)[]
  readonly pathSpans: readonly Span[] | undefined
}

export interface LateNode {
  readonly type: 'late'
  /** Rows without late columns. */
  readonly input: PlanNode
  /** For each late column the allowed values; `undefined` = all. */
  readonly lateSpans: readonly (readonly Span[] | undefined)[]
}

export type PlanNode =
  | ScanNode
  | { readonly type: 'mergeJoin' | 'union'; readonly inputs: readonly PlanNode[] }
  | FilterNode
  | LateNode
  | { readonly type: 'empty' }

export interface Plan extends Omit<NormalQuery, 'ancestor' | 'parts' | 'arrange'> {
  readonly partitionCode: string
  readonly ancestorPath: string | undefined
  /** Whether an entity may have several positions, of which only the first is a result. */
  readonly firstRowOnly: boolean
  readonly source: PlanNode
}

export function inputsOf(node: PlanNode): readonly PlanNode[] {
  switch (node.type) {
    case 'mergeJoin':
    case 'union':
      return node.inputs
    case 'filter':
    case 'late':
      return [node.input]
    case 'scan':
    case 'empty':
      return []
  }
}

export function scansOf(node: PlanNode): readonly ScanNode[] {
  return node.type === 'scan' ? [node] : inputsOf(node).flatMap(scansOf)
}
