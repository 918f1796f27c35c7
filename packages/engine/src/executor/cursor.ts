/**
 * Cursors: a place between the positions of results, as bytes.
 *
 *   format(1) place(1) shape(4, big-endian) position
 *
 *   place     0 below all positions, 1 just below the position, 2 just above it, 3 above all, for an ascending first column
 *   shape     a hash of the columns (planner/normal-query.ts): a cursor of another query is refused
 *   position  column codes and path code; no reference to an index row, so it survives deletes and a change of plan
 *
 * A cursor is also valid for the query with its directions changed: each column's code shows whether it is inverted. The place is
 * then at the same result, just behind it if the first column (without one, the key) has the same direction, else just before it.
 * The cursor behind ToDo:3, which `order by priority` gave, means in other queries:
 *
 *   order by priority desc, __key__ desc   ToDo:3 is next, then all results before it, backwards
 *   order by priority desc                 ToDo:3 is next, then the later keys of its priority, then lower priorities
 *
 * P1  The results of a query behind a cursor, and those of its reverse behind the same cursor, are all results, each once.
 *     test/property/cursors.test.ts
 *
 * Known: a cursor contains index values, key and a before flag for the ascending first order; it may be used with the orders
 * reversed. Measured on both of Google's emulators: both rules, P1 for distinct results too. Ours: the bytes.
 */
import { Buffer } from 'node:buffer'
import { byteString, invert } from '../encoding/bytes.ts'
import { skipPath } from '../encoding/key-codec.ts'
import { isInvertedValue, skipValue } from '../encoding/value-codec.ts'
import { invalidArgument } from '../errors.ts'
import { InvariantError } from '../invariant.ts'
import type { Query } from '../model/query.ts'
import type { Column } from '../planner/normal-query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { codesEnd, type Span } from '../planner/spans.ts'
import { afterAll, columnOffset } from './position.ts'
import type { PositionedRow } from './row-stream.ts'

type PlaceName = 'bottom' | 'below' | 'above' | 'top'

export interface CursorPlace {
  readonly place: PlaceName
  /** Empty for the bottom and the top. */
  readonly position: string
  /** The first position above the place. With distinct results no place separates equal ones. */
  readonly bound: string
}

const format = 2
/** The format before: its shape included the directions of orders. */
const formatBefore = 1
const headLength = 6
const placeNames: readonly PlaceName[] = ['bottom', 'below', 'above', 'top']
const placeMax = placeNames.length - 1

/** The shape in the query's cursors, right or wrong; `undefined` without a cursor. */
export function shapeOfCursors({ startCursor, endCursor }: Query): number | undefined {
  const cursor = startCursor?.length ? startCursor : endCursor
  return cursor === undefined || cursor.length < headLength ? undefined : Buffer.from(cursor).readUInt32BE(2)
}

/** The common start of cursors at a place; the position follows. By default the place is behind a result of the query. */
export function cursorHead(
  { shape, columns, reverse }: Pick<Plan, 'shape' | 'columns' | 'reverse'>,
  place: PlaceName = reverse ? 'below' : 'above',
): string {
  const number = placeNames.indexOf(place)
  return String.fromCharCode(
    format,
    columns[0]?.inverted ? placeMax - number : number,
    shape >>> 24,
    (shape >>> 16) & 0xff,
    (shape >>> 8) & 0xff,
    shape & 0xff,
  )
}

/** The cursor at a place; by default before all results of the query. */
export function encodeCursor(
  plan: Pick<Plan, 'shape' | 'columns' | 'reverse'>,
  { place, position }: Omit<CursorPlace, 'bound'> = { place: plan.reverse ? 'top' : 'bottom', position: '' },
): Uint8Array {
  return cursorBytes(cursorHead(plan, place), position)
}

/**
 * Every result has a cursor, so the bytes are from Node's pool: memory of its own costs a large one a microsecond (measured,
 * Node 20).
 */
export function cursorBytes(head: string, position: string): Uint8Array {
  return Buffer.from(head + position, 'latin1')
}

/** Decodes a client's cursor. @throws INVALID_ARGUMENT for bytes that are no cursor, or one of another query */
export function decodeCursor(plan: Plan, bytes: Uint8Array, which: 'start' | 'end'): CursorPlace {
  const text = byteString(bytes)
  const number = text.charCodeAt(1)
  const place = placeNames[plan.columns[0]?.inverted ? placeMax - number : number]
  if (text.length < headLength || text.charCodeAt(0) !== format || place === undefined) {
    if (text.charCodeAt(0) !== formatBefore) throw broken(which)
    throw invalidArgument(
      `the ${which} cursor is of an earlier version of sixtables: begin the query again without it`,
      'cursor does not match query',
    )
  }
  if (!text.startsWith(cursorHead(plan, place))) {
    throw invalidArgument(
      `the ${which} cursor belongs to another query: it is a place among the values that its own query filters, orders or projects. ` +
        'Use it with the same kind and namespace, and the same properties in filters, orders and projection; directions of orders may differ',
      'cursor does not match query',
    )
  }
  if (place === 'bottom' || place === 'top') {
    if (text.length > headLength) throw broken(which)
    return { place, position: '', bound: place === 'top' ? codesEnd : '' }
  }
  const position = positionIn(plan, text.slice(headLength))
  if (position === undefined) throw broken(which)
  const { columns, distinctColumns } = plan
  const start = position.slice(0, distinctColumns && columnOffset(columns, position, distinctColumns))
  return { place, position, bound: place === 'below' ? start : afterAll(start, false) }
}

/** A cursor's position with each column coded as in the plan; `undefined` if the bytes are no position of the plan. */
function positionIn({ columns, lateColumns, everyRow }: Plan, given: string): string | undefined {
  try {
    let position = ''
    let at = 0
    const take = (column: Column): void => {
      const inverted = isInvertedValue(given, at)
      const end = skipValue(given, at, inverted)
      const code = given.slice(at, end)
      position += inverted === column.inverted ? code : invert(code)
      at = end
    }
    columns.forEach(take)
    const pathAt = at
    at = skipPath(given, at)
    position += given.slice(pathAt, at)
    if (everyRow) lateColumns.forEach(take)
    return at === given.length ? position : undefined
  } catch (error) {
    // Here a broken invariant of a codec means malformed bytes from the client.
    if (error instanceof InvariantError) return undefined
    throw error
  }
}

function broken(which: 'start' | 'end') {
  return invalidArgument(
    `the ${which} cursor cannot be read: pass on the bytes of a result's cursor unchanged`,
    'Error parsing protocol message',
  )
}

/** The positions behind a cursor, in result order; `undefined` = all. */
export function boundsFrom(plan: Plan, { bound }: CursorPlace): Span | undefined {
  if (bound === (plan.reverse ? codesEnd : '')) return undefined
  return plan.reverse ? { lower: '', upper: bound } : { lower: bound, upper: codesEnd }
}

export function isBehind({ reverse }: Plan, position: string, { bound }: CursorPlace): boolean {
  return reverse ? position < bound : position >= bound
}

/** The rows before a cursor, in result order; all of them without one. */
export function rowsBefore(
  plan: Plan,
  rows: readonly PositionedRow[],
  end: CursorPlace | undefined,
): readonly PositionedRow[] {
  const behind = end === undefined ? -1 : rows.findIndex(({ position }) => isBehind(plan, position, end))
  return behind < 0 ? rows : rows.slice(0, behind)
}
