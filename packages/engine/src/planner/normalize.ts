/**
 * From a query as asked to its canonical form (normal-query.ts): checks everything that is wrong in any state of the
 * store, completes the order, and turns values into codes.
 *
 * Order, first to last (known: the planning rules of the App Engine SDK; widened for several inequalities):
 *   1. the orders asked for, without repetitions, without properties that have one and the same equality everywhere, up to
 *      an order on __key__; none at all when __key__ itself has an equality
 *   2. distinct properties not ordered yet, by name
 *   3. properties of inequalities not ordered yet, by name
 *   4. projected properties not ordered yet, by name
 *   5. __key__, ascending unless an order says otherwise
 *
 * Ours: an inequality that is implied by an equality on the same property is dropped; `IN` on a column is a set of ranges
 * of that column, so that results come in the column's order and not value by value.
 */
import { invert } from '../encoding/bytes.ts'
import type { IndexOptions } from '../encoding/index-entries.ts'
import { validatePartition } from '../encoding/validate-key.ts'
import { invalidArgument, unimplemented } from '../errors.ts'
import { limits } from '../limits.ts'
import type { PropertyOrder, Query, ResultType } from '../model/query.ts'
import { type Atom, type Conjunction, keyProperty, readFilter } from './filters.ts'
import type { Column, Disjunct, Equality, NormalQuery } from './normal-query.ts'
import { inSpans, intersectSpans, pointSpans, type Span, spansOf } from './spans.ts'

/** The database that the query is put to. */
export interface QueryDatabase {
  readonly projectId: string
  readonly databaseId: string
  /** How the database's entities are indexed: the executor indexes single ones again (executor/first-row.ts). */
  readonly indexOptions?: IndexOptions
}

/** The canonical form. Throws INVALID_ARGUMENT for what no query may ask, UNIMPLEMENTED for what is not built. */
export function normalize(query: Query, database: QueryDatabase): NormalQuery {
  validatePartition(query.partition, database)
  checkCounts(query)
  const { ancestor, conjunctions, components } = readFilter(query.filter, query.partition)
  if (components + query.order.length > limits.queryComponentsMax) {
    throw invalidArgument(
      `the query has ${components} filters and ${query.order.length} orders; at most ${limits.queryComponentsMax} together are allowed`,
    )
  }
  if (query.kind === '') throw invalidArgument('the kind of the query is empty: leave it out to query all kinds')
  if (query.kind === undefined) checkKindless(query, conjunctions)

  const resultType = resultTypeOf(query.projection)
  const projection = query.projection.filter((name) => name !== keyProperty)
  checkProjection(query.projection, conjunctions)

  const reduced = separateEqualitiesFromInequalities(conjunctions)
  const ordering = orderColumns(query, reduced, projection)
  const disjuncts: Disjunct[] = []
  for (const conjunction of reduced) addDisjuncts(conjunction, ordering.columns, disjuncts)

  return {
    partition: query.partition,
    kind: query.kind,
    ancestor,
    columns: ordering.columns,
    reverse: ordering.reverse,
    disjuncts,
    resultType,
    projection,
    distinctColumns: ordering.distinctColumns,
    indexOptions: database.indexOptions ?? {},
    shape: shapeOf(query, ancestor !== undefined, ordering, conjunctions),
  }
}

function resultTypeOf(projection: readonly string[]): ResultType {
  if (projection.length === 0) return 'full'
  return projection.length === 1 && projection[0] === keyProperty ? 'keyOnly' : 'projection'
}

function checkCounts(query: Query): void {
  if (query.limit !== undefined && query.limit < 0) {
    throw invalidArgument(`the limit is ${query.limit}; it must not be negative: leave it out for no limit`)
  }
  if (query.offset < 0) throw invalidArgument(`the offset is ${query.offset}; it must not be negative`)
}

function checkKindless(query: Query, conjunctions: readonly Conjunction[]): void {
  for (const conjunction of conjunctions) {
    for (const atom of conjunction) {
      if (atom.property !== keyProperty) {
        throw invalidArgument(
          `a query without kind may filter on ${keyProperty} only, not on ${atom.property}: name a kind`,
        )
      }
    }
  }
  for (const order of query.order) {
    if (order.property !== keyProperty || order.direction !== 'ascending') {
      throw invalidArgument(
        `a query without kind may order by ${keyProperty} ascending only, not by ${order.property} ${order.direction}: name a kind`,
      )
    }
  }
  for (const name of [...query.projection, ...query.distinctOn]) {
    if (name !== keyProperty) throw invalidArgument(`a query without kind may not project ${name}: name a kind`)
  }
}

function checkProjection(projection: readonly string[], conjunctions: readonly Conjunction[]): void {
  for (const [i, name] of projection.entries()) {
    if (name === '') throw invalidArgument('a projected property has an empty name')
    if (projection.indexOf(name) !== i) throw invalidArgument(`the property ${name} is projected twice`)
    if (name === keyProperty) continue
    if (name.startsWith('__') && name.endsWith('__')) {
      throw invalidArgument(`the property ${name} is reserved and cannot be projected`)
    }
    if (conjunctions.some((conjunction) => hasEquality(conjunction, name))) {
      throw invalidArgument(
        `the property ${name} is projected and has an equality filter, which fixes its value: leave one out`,
      )
    }
  }
}

function hasEquality(conjunction: Conjunction, property: string): boolean {
  return conjunction.some((atom) => atom.operator === 'equal' && atom.property === property)
}

function isInequality(atom: Atom): boolean {
  return atom.operator !== 'equal' && atom.operator !== 'in' && atom.property !== keyProperty
}

/**
 * Makes sure that a property with an inequality has no IN beside it (it is multiplied out), and no equality that implies
 * the inequality (that is dropped). What stays, such as `p = 1 AND p > 2`, can match arrays only.
 */
function separateEqualitiesFromInequalities(conjunctions: readonly Conjunction[]): readonly Conjunction[] {
  if (!conjunctions.some((conjunction) => conjunction.some(isInequality))) return conjunctions
  return conjunctions.flatMap((conjunction) => {
    const unequal = new Set(conjunction.filter(isInequality).map((atom) => atom.property))
    return multiplyOut(conjunction, (atom) => unequal.has(atom.property)).map(dropImplied)
  })
}

function dropImplied(conjunction: Conjunction): Conjunction {
  const implied = (atom: Atom) =>
    isInequality(atom) &&
    conjunction.some(
      (other) =>
        other.operator === 'equal' &&
        other.property === atom.property &&
        inSpans(inequalitySpans(conjunction, atom.property, false), other.codes[0] as string),
    )
  return conjunction.some(implied) ? conjunction.filter((atom) => !implied(atom)) : conjunction
}

/** The conjunctions that arise when each chosen IN is replaced by its values in turn. */
function multiplyOut(conjunction: Conjunction, choose: (atom: Atom) => boolean): readonly Conjunction[] {
  const at = conjunction.findIndex((atom) => atom.operator === 'in' && choose(atom))
  const atom = conjunction[at]
  if (atom === undefined) return [conjunction]
  return atom.codes.flatMap((code) =>
    multiplyOut(conjunction.with(at, { property: atom.property, operator: 'equal', codes: [code] }), choose),
  )
}

/** What the inequalities on `property` allow together: one value has to satisfy all of them. */
function inequalitySpans(conjunction: Conjunction, property: string, inverted: boolean): readonly Span[] {
  let spans: readonly Span[] | undefined
  for (const atom of conjunction) {
    if (atom.property !== property || atom.operator === 'equal' || atom.operator === 'in') continue
    for (const code of atom.codes) {
      const operator = atom.operator === 'notIn' ? 'notEqual' : atom.operator
      const allowed = spansOf(operator, inverted ? invert(code) : code, inverted)
      spans = spans === undefined ? allowed : intersectSpans(spans, allowed)
    }
  }
  return spans ?? []
}

interface Ordering {
  readonly columns: readonly Column[]
  readonly reverse: boolean
  readonly distinctColumns: number | undefined
}

const noColumns: Ordering = { columns: [], reverse: false, distinctColumns: undefined }

function orderColumns(query: Query, conjunctions: readonly Conjunction[], projection: readonly string[]): Ordering {
  const unequal = inequalityProperties(conjunctions)
  if (query.order.length === 0 && unequal.length === 0 && projection.length === 0 && query.distinctOn.length === 0) {
    return noColumns
  }
  const ordered: PropertyOrder[] = []
  const has = (property: string) => ordered.some((order) => order.property === property)
  const fixed = (property: string) => isFixed(conjunctions, property)
  let keyDirection: PropertyOrder['direction'] | undefined
  const oneKey = fixed(keyProperty)
  for (const order of query.order) {
    if (order.property === '') throw invalidArgument('an order names no property: its name is empty')
    if (oneKey || keyDirection !== undefined) continue
    if (order.property === keyProperty) keyDirection = order.direction
    else if (!has(order.property) && !(fixed(order.property) && !unequal.includes(order.property))) ordered.push(order)
  }

  const distinct = query.distinctOn.filter((name) => name !== keyProperty && !fixed(name))
  checkDistinct(ordered, distinct)
  const missing = [distinct, unequal, projection].flatMap((names) => [...names].sort(compareNames))
  for (const property of missing) {
    if (has(property)) continue
    if (keyDirection !== undefined) {
      throw unimplemented(
        `${property} would have to be ordered after ${keyProperty}, which is not built: order by ${property} before ${keyProperty}`,
      )
    }
    ordered.push({ property, direction: 'ascending' })
  }

  const reverse = keyDirection === 'descending'
  return {
    columns: ordered.map(({ property, direction }) => ({
      property,
      direction,
      inverted: (direction === 'descending') !== reverse,
    })),
    reverse,
    distinctColumns: query.distinctOn.length === 0 ? undefined : distinctWidth(query.distinctOn, distinct),
  }
}

/** How many columns tell distinct results apart; `undefined` when the key is among them, since keys are distinct anyway. */
function distinctWidth(asked: readonly string[], columns: readonly string[]): number | undefined {
  return asked.includes(keyProperty) ? undefined : new Set(columns).size
}

function checkDistinct(ordered: readonly PropertyOrder[], distinct: readonly string[]): void {
  if (distinct.length === 0) return
  const leading = ordered.slice(0, new Set(distinct).size)
  const stranger = leading.find((order) => !distinct.includes(order.property))
  if (stranger !== undefined) {
    throw invalidArgument(
      `the orders must start with the distinct-on properties (${distinct.join(', ')}), but ${stranger.property} comes before them`,
    )
  }
}

function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function inequalityProperties(conjunctions: readonly Conjunction[]): readonly string[] {
  const names: string[] = []
  for (const conjunction of conjunctions) {
    for (const atom of conjunction) {
      if (isInequality(atom) && !names.includes(atom.property)) names.push(atom.property)
    }
  }
  return names
}

/** Whether all conjunctions have one and the same equality on the property, so that ordering by it orders nothing. */
function isFixed(conjunctions: readonly Conjunction[], property: string): boolean {
  const codes = (conjunctions[0] ?? []).filter((a) => a.property === property && a.operator === 'equal')
  return codes.some(({ codes: [code] }) =>
    conjunctions.every((conjunction) =>
      conjunction.some((a) => a.property === property && a.operator === 'equal' && a.codes[0] === code),
    ),
  )
}

/** Adds the disjuncts of one conjunction; none when it cannot be satisfied. */
function addDisjuncts(conjunction: Conjunction, columns: readonly Column[], disjuncts: Disjunct[]): void {
  const asSpans = (atom: Atom) =>
    columns.some((column) => column.property === atom.property) &&
    !conjunction.some((other) => other !== atom && other.property === atom.property)
  for (const each of multiplyOut(conjunction, (atom) => atom.property !== keyProperty && !asSpans(atom))) {
    const disjunct = disjunctOf(each, columns)
    if (disjunct !== undefined) disjuncts.push(disjunct)
  }
}

function disjunctOf(conjunction: Conjunction, columns: readonly Column[]): Disjunct | undefined {
  const equalities: Equality[] = []
  let pathSpans: readonly Span[] | undefined
  for (const atom of conjunction) {
    if (atom.property === keyProperty) {
      const allowed = keySpans(atom)
      pathSpans = pathSpans === undefined ? allowed : intersectSpans(pathSpans, allowed)
    } else if (atom.operator === 'equal') {
      const code = atom.codes[0] as string
      if (!equalities.some((e) => e.property === atom.property && e.code === code)) {
        equalities.push({ property: atom.property, code })
      }
    }
  }
  equalities.sort((a, b) => compareNames(a.property, b.property) || compareNames(a.code, b.code))
  const columnSpans = columns.map((column) => spansOfColumn(column, conjunction, equalities))
  if (pathSpans?.length === 0 || columnSpans.some((spans) => spans?.length === 0)) return undefined
  return { equalities, columnSpans, pathSpans }
}

function keySpans(atom: Atom): readonly Span[] {
  if (atom.operator === 'in') return pointSpans(atom.codes)
  return atom.codes
    .map((code) => spansOf(atom.operator === 'notIn' ? 'notEqual' : (atom.operator as 'equal'), code, false))
    .reduce(intersectSpans)
}

/** Takes out of `equalities` what it expresses by ranges of the column. */
function spansOfColumn(column: Column, conjunction: Conjunction, equalities: Equality[]): readonly Span[] | undefined {
  const { property, inverted } = column
  if (conjunction.some((atom) => atom.property === property && isInequality(atom))) {
    return inequalitySpans(conjunction, property, inverted)
  }
  const among = conjunction.find((atom) => atom.property === property && atom.operator === 'in')
  if (among !== undefined) return pointSpans(inverted ? among.codes.map(invert) : among.codes)
  const mine = equalities.filter((equality) => equality.property === property)
  const first = column.direction === 'ascending' ? mine[0] : mine[mine.length - 1]
  if (first === undefined) return undefined
  equalities.splice(equalities.indexOf(first), 1)
  return pointSpans([inverted ? invert(first.code) : first.code])
}

/**
 * FNV-1a over everything that decides what a position means: partition, kind, names and directions, but no values, so
 * that a cursor still fits when only values of filters change.
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
  let hash = 0x811c9dc5
  const mix = (text: string) => {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    hash = Math.imul(hash ^ 0x1ffff, 0x01000193)
  }
  mix(projectId)
  mix(databaseId)
  mix(namespaceId)
  mix(query.kind === undefined ? '' : `=${query.kind}`)
  mix(`${ancestor ? 'a' : '-'}${ordering.reverse ? 'r' : 'f'}${ordering.distinctColumns ?? '-'}`)
  for (const column of ordering.columns) mix((column.direction === 'ascending' ? '<' : '>') + column.property)
  for (const name of equal.sort()) mix(`=${name}`)
  for (const name of unequal.sort()) mix(`~${name}`)
  return hash >>> 0
}
