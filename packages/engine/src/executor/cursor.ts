/**
 * Cursors: a place among positions, as bytes.
 *
 *   format(1) place(1) shape(4, big-endian) position
 *
 *   place     0 below all positions, 1 just below the position, 2 just above it, 3 above all
 *   shape     normal-query/Q3: a cursor of another query is refused
 *   position  column codes and path code; no row of an index, so it outlives what is deleted around it, and a change of plan
 *
 * A place lies in the ascending order of positions, whichever way a query reads them. So a query whose last order is the key's
 * and the same with every order turned round share their cursors: the one goes back from where the other one stopped.
 *
 * P1  What a query gives behind a cursor, and what its reverse gives behind the same cursor, are all results, each once.
 *     test/property/cursors.test.ts
 *
 * Known: a cursor holds index values, key and a before flag; it may be used with the orders reversed. Measured on both of
 * Google's emulators: P1, for distinct results too. Ours: the bytes.
 */
import { Buffer } from 'node:buffer'
import { byteString } from '../encoding/bytes.ts'
import { skipPath } from '../encoding/key-codec.ts'
import { invalidArgument } from '../errors.ts'
import { InvariantError } from '../invariant.ts'
import type { Query } from '../model/query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { codesEnd, type Span } from '../planner/spans.ts'
import { afterAll, columnOffset, lateOffset } from './position.ts'

type PlaceName = 'bottom' | 'below' | 'above' | 'top'

export interface CursorPlace {
  readonly place: PlaceName
  /** Empty for the bottom and the top. */
  readonly position: string
  /** The first position that could lie above the place; where results are distinct, no place divides equal ones. */
  readonly bound: string
}

const format = 1
const headLength = 6
const placeNames: readonly PlaceName[] = ['bottom', 'below', 'above', 'top']

/** The shape of the queries that a cursor is of, be it as it may; `undefined` without one. */
export function shapeOfCursors({ startCursor, endCursor }: Query): number | undefined {
  const cursor = startCursor?.length ? startCursor : endCursor
  return cursor === undefined || cursor.length < headLength ? undefined : Buffer.from(cursor).readUInt32BE(2)
}

/** The place before all results of a query. */
export function beginningOf({ reverse }: Plan): CursorPlace {
  return reverse ? { place: 'top', position: '', bound: codesEnd } : { place: 'bottom', position: '', bound: '' }
}

/** The bytes that the cursors behind the results of a query have in common; the position follows. */
export function cursorHead({ shape, reverse }: Plan): string {
  return headOf(shape, reverse ? 'below' : 'above')
}

function headOf(shape: number, place: PlaceName): string {
  return String.fromCharCode(
    format,
    placeNames.indexOf(place),
    shape >>> 24,
    (shape >>> 16) & 0xff,
    (shape >>> 8) & 0xff,
    shape & 0xff,
  )
}

export function encodeCursor(shape: number, { place, position }: Omit<CursorPlace, 'bound'>): Uint8Array {
  return cursorBytes(headOf(shape, place), position)
}

/** Every result has a cursor: from the pool, since memory of its own costs a large one a microsecond (measured, Node 20). */
export function cursorBytes(head: string, position: string): Uint8Array {
  return Buffer.from(head + position, 'latin1')
}

/**
 * The place that a client's cursor names.
 *
 * @param which - names the cursor in messages
 * @throws INVALID_ARGUMENT when these are no cursor's bytes, or those of a query of another shape
 */
export function decodeCursor(plan: Plan, bytes: Uint8Array, which: 'start' | 'end'): CursorPlace {
  const text = byteString(bytes)
  const place = placeNames[text.charCodeAt(1)]
  if (text.length < headLength || text.charCodeAt(0) !== format || place === undefined) throw broken(which)
  if (!text.startsWith(headOf(plan.shape, place))) {
    throw invalidArgument(
      `the ${which} cursor belongs to another query: use it with the kind, filters and orders of the query that gave it, or with all orders reversed`,
      'cursor does not match query',
    )
  }
  const position = text.slice(headLength)
  if (place === 'bottom' || place === 'top') {
    if (position !== '') throw broken(which)
    return { place, position, bound: place === 'top' ? codesEnd : '' }
  }
  checkPosition(plan, position, which)
  return { place, position, bound: boundOf(plan, place, position) }
}

function boundOf({ columns, distinctColumns }: Plan, place: 'below' | 'above', position: string): string {
  const start =
    distinctColumns === undefined ? position : position.slice(0, columnOffset(columns, position, distinctColumns))
  return place === 'below' ? start : afterAll(start, false)
}

function checkPosition(plan: Plan, position: string, which: 'start' | 'end'): void {
  try {
    const end = plan.everyRow
      ? lateOffset(plan, position, plan.lateColumns.length)
      : skipPath(position, columnOffset(plan.columns, position, plan.columns.length))
    if (end === position.length) return
  } catch (error) {
    // A broken invariant of the codecs means broken bytes of the client here.
    if (!(error instanceof InvariantError)) throw error
  }
  throw broken(which)
}

function broken(which: 'start' | 'end') {
  return invalidArgument(
    `the ${which} cursor cannot be read: pass on the bytes of a result's cursor unchanged`,
    'Error parsing protocol message',
  )
}

/** The positions from a cursor on, in result order; `undefined` = all. */
export function boundsFrom(plan: Plan, { bound }: CursorPlace): Span | undefined {
  if (bound === beginningOf(plan).bound) return undefined
  return plan.reverse ? { lower: '', upper: bound } : { lower: bound, upper: codesEnd }
}

/** Whether a result at `position` lies behind the cursor, in result order. */
export function isBehind({ reverse }: Plan, position: string, { bound }: CursorPlace): boolean {
  return reverse ? position < bound : position >= bound
}
