/**
 * Converts a query to its canonical form (normal-query.ts): checks all that does not depend on the state of the store,
 * completes the order (orders.ts), and turns the filter into disjuncts of codes (filters.ts, disjuncts.ts).
 *
 * Measured on both of Google's emulators: which queries are refused. Ours: an inequality that an equality on the same
 * property implies is dropped; `IN` on a column is a set of ranges of that column, so that results are in the column's order.
 */
import type { IndexOptions } from '../encoding/index-entries.ts'
import { validateNameBytes, validatePartition } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { fnv, fnvStart, fnvStep } from '../fnv.ts'
import { limits } from '../limits.ts'
import type { DatabaseName } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { addDisjuncts, separateEqualitiesFromInequalities } from './disjuncts.ts'
import { type Conjunction, countFilters, keyProperty, readFilter } from './filters.ts'
import type { Disjunct, NormalQuery, Ordering } from './normal-query.ts'
import { orderColumns } from './orders.ts'

export interface QueryDatabase extends DatabaseName {
  /** How the database's entities are indexed: the executor indexes single ones again (executor/first-row.ts). */
  readonly indexOptions?: IndexOptions
}

/**
 * The canonical form. Throws INVALID_ARGUMENT for an invalid query.
 *
 * @param aggregated - properties of sums and averages, which become columns like projected ones but may have equality filters
 */
export function normalize(query: Query, database: QueryDatabase, aggregated: readonly string[] = []): NormalQuery {
  validatePartition(query.partition, database)
  checkParts(query)
  const filter = readFilter(query.filter, query.partition)
  const { ancestor, conjunctions } = filter
  if (query.kind === '') throw invalidArgument('the kind of the query is empty: leave it out to query all kinds')
  if (query.kind === undefined) checkKindless(query, conjunctions)

  const projection = query.projection.filter((name) => name !== keyProperty)
  const resultType = query.projection.length === 0 ? 'full' : projection.length === 0 ? 'keyOnly' : 'projection'
  if (resultType !== 'full') checkProjection(query.projection, conjunctions)

  const reduced = filter.unequal.length === 0 ? filter : separateEqualitiesFromInequalities(conjunctions)
  const everyRow = resultType === 'projection' || aggregated.length > 0
  const normalIn = (ordering: Ordering): NormalQuery => {
    const disjuncts: Disjunct[] = []
    const { columns, lateColumns } = ordering
    for (const conjunction of reduced.conjunctions)
      addDisjuncts(conjunction, { columns, lateColumns, everyRow }, disjuncts)
    // Written out: with a spread of `ordering` V8 makes a slow object, and a query by one property takes 35 µs instead of 24.
    return {
      partition: query.partition,
      kind: query.kind,
      ancestor,
      columns,
      parts: ordering.parts,
      lateColumns,
      everyRow,
      reverse: ordering.reverse,
      disjuncts,
      resultType,
      projection,
      distinctColumns: ordering.distinctColumns,
      indexOptions: database.indexOptions ?? {},
      shape: shapeOf(query, ancestor !== undefined, ordering, conjunctions),
      arrange: (arranged) => normalIn({ ...ordering, columns: arranged }),
    }
  }
  return normalIn(orderColumns(query, reduced, [...projection, ...aggregated]))
}

/** The number of parts first, then each by itself. */
function checkParts({ kind = '', filter, projection, order, distinctOn, limit, offset }: Query): void {
  checkPartCount(partLimits.queryComponents, countFilters(filter) + order.length)
  checkPartCount(partLimits.projectedProperties, projection.length)
  checkPartCount(partLimits.distinctProperties, distinctOn.length)
  if (limit !== undefined && limit < 0) {
    throw invalidArgument(
      `the limit is ${limit}; it must not be negative: leave it out for no limit`,
      'Limit must be non-negative.',
    )
  }
  if (offset < 0)
    throw invalidArgument(`the offset is ${offset}; it must not be negative`, 'Offset must be non-negative.')
  validateNameBytes(kind, limits.kindBytesMax, 'the kind of the query', 'kind')
  const { propertyNameBytesMax: max } = limits
  for (const { property } of order) validateNameBytes(property, max, 'the name of an ordered property')
  for (const name of projection) validateNameBytes(name, max, 'the name of a projected property')
  for (const name of distinctOn) validateNameBytes(name, max, 'the name of a distinct-on property')
}

function checkKindless(query: Query, conjunctions: readonly Conjunction[]): void {
  for (const conjunction of conjunctions) {
    for (const atom of conjunction) {
      if (atom.property !== keyProperty) {
        throw invalidArgument(
          `a query without kind may filter on ${keyProperty} only, not on ${atom.property}: name a kind`,
          `kind is required for filter: ${atom.property}`,
        )
      }
    }
  }
  for (const order of query.order) {
    if (order.property !== keyProperty || order.direction !== 'ascending') {
      throw invalidArgument(
        `a query without kind may order by ${keyProperty} ascending only, not by ${order.property} ${order.direction}: name a kind`,
        `kind is required for all orders except ${keyProperty} ascending`,
      )
    }
  }
  for (const name of [...query.projection, ...query.distinctOn]) {
    if (name !== keyProperty)
      throw invalidArgument(`a query without kind may not project ${name}: name a kind`, 'kind is required')
  }
}

function checkProjection(projection: readonly string[], conjunctions: readonly Conjunction[]): void {
  for (const [i, name] of projection.entries()) {
    if (name === '') throw invalidArgument('a projected property has an empty name')
    // The key may be projected twice (measured, both of Google's emulators).
    if (name === keyProperty) continue
    if (projection.indexOf(name) !== i)
      throw invalidArgument(`the property ${name} is projected twice`, 'Cannot project a property multiple times.')
    if (name.startsWith('__') && name.endsWith('__')) {
      throw invalidArgument(
        `the property ${name} is reserved and cannot be projected`,
        `projections are not supported for the property: ${name}`,
      )
    }
    if (conjunctions.flat().some(({ operator, property }) => property === name && ['equal', 'in'].includes(operator))) {
      throw invalidArgument(
        `the property ${name} is projected and has an equality filter (= or IN), which fixes its value: leave one out`,
        'Cannot use projection on a property with an equality filter.',
      )
    }
  }
}

/**
 * FNV-1a over the parts of positions: partition, kind, and the names of columns in order. A cursor remains valid if values of
 * filters or directions of orders change, since they are not hashed. The direction of a free column is hashed: it is not in
 * the query, and the next page must use the same index.
 */
function shapeOf(query: Query, ancestor: boolean, ordering: Ordering, conjunctions: readonly Conjunction[]): number {
  const { projectId, databaseId, namespaceId } = query.partition
  const equal: string[] = []
  const unequal: string[] = []
  for (const conjunction of conjunctions) {
    for (const { property, operator } of conjunction) {
      const names = operator === 'equal' || operator === 'in' ? equal : unequal
      if (!names.includes(property)) names.push(property)
    }
  }
  const columns = [...ordering.columns]
  const kind = query.kind === undefined ? '' : `=${query.kind}`
  const texts = [projectId, databaseId, namespaceId, kind, `${ancestor ? 'a' : '-'}f${ordering.distinctColumns ?? '-'}`]
  for (const part of ordering.parts) {
    for (const { property, inverted } of columns.splice(0, part.width))
      texts.push((part.isFree && inverted ? '>' : '<') + property)
  }
  if (ordering.lateColumns.length > 0) texts.push('__key__')
  for (const { property } of ordering.lateColumns) texts.push(`<${property}`)
  for (const name of equal.sort()) texts.push(`=${name}`)
  for (const name of unequal.sort()) texts.push(`~${name}`)
  let hash = fnvStart
  for (const text of texts) hash = fnvStep(fnv(text, hash), 0x1ffff)
  return hash >>> 0
}
