/**
 * The complete order of a query: its columns, and the direction of its key.
 *
 * First to last (known: the planning rules of the App Engine SDK; extended for several inequalities; measured: 4, on both of Google's
 * emulators, and for IN, != and OR on that of Firestore):
 *   1. the orders of the query, without repetitions and without properties that have the same equality in every conjunction
 *   2. distinct properties not ordered yet, by name
 *   3. properties of inequalities not ordered yet, by name
 *   4. __key__, ascending, if a filter asks for several keys, as in `__key__ > ToDo:1` or one branch of an OR
 *   5. projected properties not ordered yet, by name
 *   6. __key__, ascending, unless it came before
 *
 * `priority > 3 order by due` has the columns due, priority and then the key. The columns of 2 and 5 may take the order and
 * direction of an index. A column without an order is ascending; behind an order on __key__ it has that order's direction. So
 * a query with all orders turned round, including the key's, gives the same rows backwards.
 *
 * An order after one on __key__, or beside an equality on it, orders only the rows of one entity; but an entity without the
 * property is no result (measured: Google's Firestore emulator in Datastore mode, which then returns entities with arrays
 * several times; ours: once).
 */
import { invalidArgument } from '../errors.ts'
import type { PropertyOrder, Query } from '../model/query.ts'
import { type Conjunction, type FilterTerms, keyProperty } from './filters.ts'
import type { Column, ColumnPart, Ordering } from './normal-query.ts'

const noColumns: Ordering = { columns: [], parts: [], lateColumns: [], reverse: false, distinctColumns: undefined }

/** Throws INVALID_ARGUMENT for distinct properties behind others. */
export function orderColumns(
  query: Query,
  { conjunctions, unequal }: FilterTerms,
  projection: readonly string[],
): Ordering {
  if (query.order.length === 0 && unequal.length === 0 && projection.length === 0 && query.distinctOn.length === 0) {
    return noColumns
  }
  const ordered: PropertyOrder[] = []
  const late: PropertyOrder[] = []
  const has = (property: string) => [...ordered, ...late].some((order) => order.property === property)
  const fixed = (property: string) => !unequal.includes(property) && isFixed(conjunctions, property)
  let keyDirection: PropertyOrder['direction'] | undefined
  const unordered = new Set([keyProperty, ...unequal, ...projection, ...query.distinctOn])
  const oneKey = fixed(keyProperty)
  for (const order of query.order) {
    if (order.property === '')
      throw invalidArgument('an order names no property: its name is empty', 'The property.name is the empty string.')
    if (oneKey && unordered.has(order.property)) continue
    if (order.property === keyProperty) keyDirection ??= order.direction
    else if (!has(order.property) && !fixed(order.property))
      (keyDirection === undefined && !oneKey ? ordered : late).push(order)
  }

  const distinct = query.distinctOn.filter((name) => name !== keyProperty && !fixed(name))
  checkDistinct(keyDirection === undefined ? ordered : [...ordered, { property: keyProperty }], distinct)
  const parts: ColumnPart[] = [{ width: ordered.length, isFree: false }]
  const missing = [
    { names: distinct, isFree: true },
    { names: unequal, isFree: false },
    { names: projection, isFree: true },
  ]
  const asksForKeys = !oneKey && conjunctions.some((atoms) => atoms.some(({ property }) => property === keyProperty))
  for (const { names, isFree } of missing) {
    if (names === projection && asksForKeys) keyDirection ??= 'ascending'
    const before = ordered.length
    for (const property of [...names].sort()) {
      if (has(property)) continue
      if (keyDirection === undefined) ordered.push({ property, direction: 'ascending' })
      else late.push({ property, direction: keyDirection })
    }
    parts.push({ width: ordered.length - before, isFree })
  }

  const reverse = keyDirection === 'descending'
  const columnOf = ({ property, direction }: PropertyOrder): Column => ({
    property,
    direction,
    inverted: (direction === 'descending') !== reverse,
  })
  // Keys are distinct anyway.
  const isDistinct = query.distinctOn.length > 0 && !query.distinctOn.includes(keyProperty)
  return {
    columns: ordered.map(columnOf),
    parts,
    lateColumns: late.map(columnOf),
    reverse,
    distinctColumns: isDistinct ? new Set(distinct).size : undefined,
  }
}

function checkDistinct(ordered: readonly Pick<PropertyOrder, 'property'>[], distinct: readonly string[]): void {
  if (distinct.length === 0) return
  const leading = ordered.slice(0, new Set(distinct).size)
  const stranger = leading.find((order) => !distinct.includes(order.property))
  if (stranger !== undefined) {
    throw invalidArgument(
      `the orders must start with the distinct-on properties (${distinct.join(', ')}), but ${stranger.property} comes before them`,
      'All group by properties must be ordered before any non group by properties.',
    )
  }
}

/** Whether all conjunctions have the same equality on the property, so that an order by it has no effect. */
function isFixed(conjunctions: readonly Conjunction[], property: string): boolean {
  const codes = (conjunctions[0] ?? []).filter((a) => a.property === property && a.operator === 'equal')
  return codes.some(({ codes: [code] }) =>
    conjunctions.every((conjunction) =>
      conjunction.some((a) => a.property === property && a.operator === 'equal' && a.codes[0] === code),
    ),
  )
}
