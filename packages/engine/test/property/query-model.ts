/**
 * What a query must answer, by brute force: every entity is looked at, every combination of its values is a row, rows are
 * filtered and sorted by compareValues and compareKeys. Nothing here knows codes, plans or positions.
 */
import { type Key, kindOf } from '../../src/model/key.ts'
import type { Filter, PropertyOperator, Query } from '../../src/model/query.ts'
import type { IndexableValue } from '../../src/model/value.ts'
import type { ModelEntity } from '../../src/testing/query-world.ts'
import { compareKeys, compareValues } from './model-order.ts'

/** A result in words, so that lists compare readably. */
export interface ModelRow {
  readonly key: Key
  /** The values of the order, then of the projection. */
  readonly values: readonly IndexableValue[]
}

interface ModelAtom {
  readonly property: string
  readonly operator: PropertyOperator
  readonly values: readonly IndexableValue[]
}

export interface ModelOrder {
  readonly property: string
  readonly sign: 1 | -1
  /** Orders of one part may stand in any order and direction. */
  readonly part?: number | undefined
}

function unfold(filter: Filter | undefined): readonly (readonly ModelAtom[])[] {
  if (filter === undefined) return [[]]
  if (filter.type === 'composite') {
    const parts = filter.filters.map(unfold)
    if (filter.operator === 'or') return parts.flat()
    return parts.reduce((all, part) => all.flatMap((left) => part.map((right) => [...left, ...right])), [[]])
  }
  const { property, operator, value } = filter
  const values = (value.type === 'array' ? value.values : [value]) as readonly IndexableValue[]
  if (operator === 'in') return values.map((each) => [{ property, operator: 'equal', values: [each] }])
  return [[{ property, operator, values }]]
}

/** Distinct indexed values of a property. */
function valuesOf(entity: ModelEntity, property: string): readonly IndexableValue[] {
  const value = entity.properties.get(property)
  if (value === undefined || value.excludeFromIndexes) return []
  const members = (value.type === 'array' ? value.values : [value]) as readonly IndexableValue[]
  const distinct: IndexableValue[] = []
  for (const member of members) {
    if (!member.excludeFromIndexes && !distinct.some((other) => compareValues(other, member) === 0))
      distinct.push(member)
  }
  return distinct
}

function holds(comparison: number, operator: PropertyOperator): boolean {
  switch (operator) {
    case 'equal':
      return comparison === 0
    case 'lessThan':
      return comparison < 0
    case 'lessThanOrEqual':
      return comparison <= 0
    case 'greaterThan':
      return comparison > 0
    case 'greaterThanOrEqual':
      return comparison >= 0
    default:
      return comparison !== 0
  }
}

const fits = (atom: ModelAtom, value: IndexableValue): boolean =>
  atom.values.every((other) => holds(compareValues(value, other), atom.operator))

const isInequality = (atom: ModelAtom): boolean =>
  atom.property !== '__key__' && atom.operator !== 'equal' && atom.operator !== 'hasAncestor'

/** An inequality beside an equality that implies it says nothing. */
function reduce(conjunction: readonly ModelAtom[]): readonly ModelAtom[] {
  const unequal = (property: string) => conjunction.filter((a) => a.property === property && isInequality(a))
  return conjunction.filter(
    (atom) =>
      !isInequality(atom) ||
      !conjunction.some(
        (other) =>
          other.property === atom.property &&
          other.operator === 'equal' &&
          unequal(atom.property).every((each) => fits(each, other.values[0] as IndexableValue)),
      ),
  )
}

function orders(query: Query, conjunctions: readonly (readonly ModelAtom[])[]): readonly ModelOrder[] {
  const unequal = conjunctions.flat().filter(isInequality)
  const fixed = (property: string): boolean =>
    !unequal.some((atom) => atom.property === property) &&
    (conjunctions[0] ?? []).some(
      (first) =>
        first.property === property &&
        first.operator === 'equal' &&
        conjunctions.every((conjunction) =>
          conjunction.some(
            (a) =>
              a.property === property &&
              a.operator === 'equal' &&
              compareValues(a.values[0] as IndexableValue, first.values[0] as IndexableValue) === 0,
          ),
        ),
    )
  const result: ModelOrder[] = []
  const add = (property: string, sign: 1 | -1, part?: number) => {
    if (!result.some((order) => order.property === property)) result.push({ property, sign, part })
  }
  const addOrders = () => {
    for (const { property, direction } of query.order) {
      if (!fixed(property)) add(property, direction === 'ascending' ? 1 : -1)
    }
  }
  if (!fixed('__key__')) addOrders()
  const parts: { readonly names: readonly string[]; readonly isFree: boolean }[] = [
    { names: query.distinctOn.filter((name) => !fixed(name)), isFree: true },
    { names: unequal.map((atom) => atom.property), isFree: false },
    { names: query.projection.filter((name) => name !== '__key__'), isFree: true },
  ]
  const isOfKeys = ({ property, operator }: ModelAtom): boolean => property === '__key__' && operator !== 'hasAncestor'
  const asksForKeys = !fixed('__key__') && conjunctions.flat().some(isOfKeys)
  for (const [i, { names, isFree }] of parts.entries()) {
    if (i === 2 && asksForKeys) add('__key__', 1)
    // Behind the key the rest has its direction, and its own order.
    const key = result.find(({ property }) => property === '__key__')
    for (const name of [...names].sort()) add(name, key?.sign ?? 1, isFree && key === undefined ? i : undefined)
  }
  add('__key__', 1)
  // Beside one key an order orders nothing, but an entity must have the property.
  addOrders()
  return result
}

/** Every order that a query leaves open: what is distinct or projected and not ordered, in all orders and directions. */
export function openOrders(query: Query): readonly (readonly ModelOrder[])[] {
  const natural = orders(query, unfold(query.filter).map(reduce))
  let all: readonly (readonly ModelOrder[])[] = [[]]
  for (let at = 0; at < natural.length; ) {
    const { part } = natural[at] as ModelOrder
    const end = part === undefined ? at + 1 : natural.findLastIndex((order) => order.part === part) + 1
    const ways = part === undefined ? [natural.slice(at, end)] : waysOf(natural.slice(at, end))
    all = all.flatMap((before) => ways.map((way) => [...before, ...way]))
    at = end
  }
  return all
}

/** All orders of some columns, each column in both directions. */
function waysOf(columns: readonly ModelOrder[]): readonly (readonly ModelOrder[])[] {
  if (columns.length === 0) return [[]]
  return columns.flatMap((first) => {
    const rest = waysOf(columns.filter((column) => column !== first))
    return ([1, -1] as const).flatMap((sign) => rest.map((way) => [{ ...first, sign }, ...way]))
  })
}

/**
 * All results of a query, in order; offset, limit and cursors are left out of account.
 *
 * @param open - one of the orders that the query leaves open; by default what is not ordered rises, by name
 */
export function answer(
  entities: readonly ModelEntity[],
  query: Query,
  open?: readonly ModelOrder[],
): readonly ModelRow[] {
  const conjunctions = unfold(query.filter).map(reduce)
  const order = open ?? orders(query, conjunctions)
  const columns = order.filter(({ property }) => property !== '__key__')
  const compare = (a: ModelRow, b: ModelRow): number => {
    for (const { property, sign } of order) {
      const i = columns.findIndex((column) => column.property === property)
      const difference =
        i < 0 ? compareKeys(a.key, b.key) : compareValues(a.values[i] as IndexableValue, b.values[i] as IndexableValue)
      if (difference !== 0) return difference * sign
    }
    return 0
  }
  const expand = query.projection.some((name) => name !== '__key__')
  const results: ModelRow[] = []
  for (const entity of entities) {
    if (entity.key.partition.namespaceId !== query.partition.namespaceId) continue
    if (query.kind !== undefined && kindOf(entity.key) !== query.kind) continue
    const rows = conjunctions.flatMap((conjunction) => rowsIn(entity, conjunction, columns, expand)).sort(compare)
    for (const [i, row] of rows.entries()) {
      const before = rows[i - 1]
      if (before === undefined || (expand && compare(before, row) !== 0)) results.push(row)
    }
  }
  results.sort(compare)
  if (query.distinctOn.length === 0) return results
  const distinct = [...columns.keys()].filter((c) => query.distinctOn.includes((columns[c] as ModelOrder).property))
  return results.filter((row, i) => {
    const before = results[i - 1]
    if (before === undefined) return true
    return distinct.some(
      (c) => compareValues(row.values[c] as IndexableValue, before.values[c] as IndexableValue) !== 0,
    )
  })
}

function rowsIn(
  entity: ModelEntity,
  conjunction: readonly ModelAtom[],
  columns: readonly ModelOrder[],
  expand: boolean,
): readonly ModelRow[] {
  for (const atom of conjunction) {
    if (atom.operator === 'hasAncestor') {
      const ancestor = atom.values[0]
      if (ancestor?.type !== 'key') return []
      const depth = ancestor.key.path.length
      const start = { partition: entity.key.partition, path: entity.key.path.slice(0, depth) }
      if (compareKeys(start, ancestor.key) !== 0) return []
    } else if (atom.property === '__key__') {
      if (!fits(atom, { type: 'key', key: entity.key })) return []
    } else if (atom.operator === 'equal' && !valuesOf(entity, atom.property).some((value) => fits(atom, value))) {
      return []
    }
  }
  let rows: readonly ModelRow[] = [{ key: entity.key, values: [] }]
  for (const { property, sign } of columns) {
    const mine = conjunction.filter((atom) => atom.property === property)
    const unequal = mine.filter(isInequality)
    let allowed = valuesOf(entity, property)
    if (unequal.length > 0) allowed = allowed.filter((value) => unequal.every((atom) => fits(atom, value)))
    else if (mine.length > 0) {
      const first = [...mine].sort(
        // Where each row is a result, a query and its reverse have the same rows.
        (a, b) => (expand ? 1 : sign) * compareValues(a.values[0] as IndexableValue, b.values[0] as IndexableValue),
      )[0] as ModelAtom
      allowed = allowed.filter((value) => fits(first, value))
    }
    rows = rows.flatMap((row) => allowed.map((value) => ({ key: row.key, values: [...row.values, value] })))
  }
  return rows
}
