/**
 * Makes the plan of a normal query: built-in tables if they suffice, else composite indexes.
 *
 *   no kind                                   Entities
 *   kind, in key order                        EntitiesByKind
 *   equalities, in key order                  EntitiesByPropertyAsc once for each, joined; an index for several at once
 *   one column, no equality, no ancestor      EntitiesByPropertyAsc or …Desc
 *   anything else                             EntitiesByCompositeProperty, indexes with equal columns joined
 *   columns after the key                     as without them; then each entity is read for them
 *
 * `owner = "ada" AND done = false` has two equalities and no column (an order or inequality): a scan of the rows owner="ada" and
 * one of the rows done=false, joined.
 *
 * Known: which queries the built-in rows serve, and the zigzag merge join over indexes with equal suffixes ("Index Selection
 * and Advanced Search"). Ours: descending key order needs no index, since scans run in both directions.
 */
import { partitionCode, pathCode, pathPrefix } from '../encoding/key-codec.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { RowKey } from '../storage/kv.ts'
import { kindPrefix } from '../tables/entities-by-kind.ts'
import { propertyPrefix } from '../tables/entities-by-property.ts'
import { rowsOf } from '../tables/rows.ts'
import type { TableId } from '../tables/table.ts'
import { arrangementsOf, coverByComposites, type IndexChoice } from './index-selection.ts'
import { MissingIndexError, orMissing, perfectIndex } from './missing-index.ts'
import type { Disjunct, Equality, NormalQuery } from './normal-query.ts'
import type { Plan, PlanNode, ScanNode } from './plan-node.ts'
import { everything, intersectSpans, pointSpans, type Span } from './spans.ts'

/**
 * The plan of a query, with its columns in the given order or, if no index serves that, in the first order that one serves.
 *
 * @param indexes - composite indexes of the database that may be read
 * @param shape - of the query's cursors: if several orders of columns are possible, that of the page before is used
 * @throws MissingIndexError (FAILED_PRECONDITION) with the definition of the index that the query needs
 */
export function plan(query: NormalQuery, indexes: readonly CompositeIndex[], shape: number = query.shape): Plan {
  if (shape !== query.shape) {
    const begun = arrangementsOf(query, indexes).find((arranged) => arranged.shape === shape)
    const planned = begun && orMissing(() => planArranged(begun, indexes))
    if (planned !== undefined && !(planned instanceof MissingIndexError)) return planned
  }
  const given = orMissing(() => planArranged(query, indexes))
  if (!(given instanceof MissingIndexError)) return given
  for (const arranged of arrangementsOf(query, indexes)) {
    const planned = orMissing(() => planArranged(arranged, indexes))
    if (!(planned instanceof MissingIndexError)) return planned
  }
  throw given
}

function planArranged(query: NormalQuery, indexes: readonly CompositeIndex[]): Plan {
  const code = partitionCode(query.partition)
  const sources = query.disjuncts.map((disjunct) => planDisjunct(query, disjunct, code, indexes))
  return {
    partition: query.partition,
    partitionCode: code,
    kind: query.kind,
    ancestorPath: query.ancestor && pathCode(query.ancestor.path),
    columns: query.columns,
    lateColumns: query.lateColumns,
    everyRow: query.everyRow,
    reverse: query.reverse,
    disjuncts: query.disjuncts,
    firstRowOnly: query.columns.length > 0 && !query.everyRow,
    resultType: query.resultType,
    projection: query.projection,
    distinctColumns: query.distinctColumns,
    indexOptions: query.indexOptions,
    shape: query.shape,
    source: sources.length > 1 ? { type: 'union', inputs: sources } : (sources[0] ?? { type: 'empty' }),
  }
}

function planDisjunct(
  query: NormalQuery,
  disjunct: Disjunct,
  code: string,
  indexes: readonly CompositeIndex[],
): PlanNode {
  const { columnSpans, pathSpans, lateSpans } = disjunct
  const { columns, ancestor } = query
  // The positions to which every scan is limited: by the first column, or by the path if there is none.
  let spans: readonly Span[]
  if (columns.length > 0) spans = columnSpans[0] ?? everything
  else if (ancestor === undefined) spans = pathSpans ?? everything
  else spans = intersectSpans(pathSpans ?? everything, pointSpans([pathPrefix(ancestor.path)]))
  if (spans.length === 0) return { type: 'empty' }
  const scans = chooseScans(query, disjunct, code, indexes, spans)
  const source: PlanNode = scans.length === 1 ? (scans[0] as ScanNode) : { type: 'mergeJoin', inputs: scans }
  const filtered = columns.length === 0 ? source : withFilter(disjunct, source)
  return lateSpans.length === 0 ? filtered : { type: 'late', input: filtered, lateSpans }
}

/** The first column needs no filter: it limits the scans already. */
function withFilter({ columnSpans, pathSpans }: Disjunct, input: PlanNode): PlanNode {
  const further = columnSpans.map((allowed, i) => (i === 0 ? undefined : allowed))
  if (pathSpans === undefined && further.every((allowed) => allowed === undefined)) return input
  return { type: 'filter', input, columnSpans: further, pathSpans }
}

function chooseScans(
  query: NormalQuery,
  { equalities }: Disjunct,
  code: string,
  indexes: readonly CompositeIndex[],
  spans: readonly Span[],
): readonly ScanNode[] {
  const { kind, columns } = query
  if (kind === undefined) return [scan('Entities', rowsOf('Entities', code).start, spans)]
  const [column] = columns
  if (column === undefined && equalities.length === 0) return [scan('EntitiesByKind', kindPrefix(code, kind), spans)]
  if (column !== undefined && columns.length === 1 && equalities.length === 0 && query.ancestor === undefined) {
    const table = column.inverted ? 'EntitiesByPropertyDesc' : 'EntitiesByPropertyAsc'
    return [scan(table, propertyPrefix(table, code, kind, column.property), spans)]
  }
  // In key order each equality has a scan of its own, unless an index serves several at once.
  const byProperty = (equality: Equality): ScanNode => {
    const prefix = propertyPrefix('EntitiesByPropertyAsc', code, kind, equality.property) + equality.code
    return scan('EntitiesByPropertyAsc', prefix, spans, [equality])
  }
  if (column === undefined && (equalities.length === 1 || indexes.length === 0)) return equalities.map(byProperty)
  const cover = coverByComposites(query, equalities, indexes)
  const isWhole = cover.choices.length > 0 && cover.uncovered.length === 0 && !cover.ancestorMissing
  if (column !== undefined && !isWhole) throw new MissingIndexError(perfectIndex(query, equalities))
  return [...cover.choices.map((choice) => compositeScan(choice, spans)), ...cover.uncovered.map(byProperty)]
}

const noEqualities: readonly Equality[] = []

function scan(
  table: TableId,
  prefix: RowKey,
  spans: readonly Span[],
  equalities: readonly Equality[] = noEqualities,
): ScanNode {
  return { type: 'scan', table, prefix, spans, mirrored: false, equalities }
}

function compositeScan({ index, prefix, mirrored, equalities }: IndexChoice, spans: readonly Span[]): ScanNode {
  const { kind, ancestor, properties } = index
  // Written out: with a spread V8 takes 3 µs.
  return {
    type: 'scan',
    table: 'EntitiesByCompositeProperty',
    prefix,
    spans,
    mirrored,
    equalities,
    index: { kind, ancestor, properties },
  }
}
