/**
 * Cursors: a place between two results, as bytes.
 *
 *   format(1) place(1) shape(4, big-endian) position
 *
 *   place     0 before all results, 1 just before the position, 2 just after it
 *   shape     Q3 of planner/normal-query.ts: a cursor of another query is refused
 *   position  column codes and path code; no row of an index, so it outlives a change of plan and what is deleted around it
 *
 * Known: a cursor holds index values, key and a before flag. Ours: the bytes.
 */
import { Buffer } from 'node:buffer'
import { byteString } from '../encoding/bytes.ts'
import { skipPath } from '../encoding/key-codec.ts'
import { invalidArgument } from '../errors.ts'
import { InvariantError } from '../invariant.ts'
import type { Plan } from '../planner/plan-node.ts'
import { codesEnd, type Span } from '../planner/spans.ts'
import { afterAll, columnOffset, lateOffset } from './position.ts'

export type CursorPlace =
  | { readonly place: 'start' }
  | { readonly place: 'before' | 'after'; readonly position: string }

const format = 1
const headLength = 6
const placeBytes = { start: 0, before: 1, after: 2 } as const

/** The bytes that cursors of a query and place have in common; the position follows. */
export function cursorHead(shape: number, place: CursorPlace['place']): string {
  return String.fromCharCode(
    format,
    placeBytes[place],
    shape >>> 24,
    (shape >>> 16) & 0xff,
    (shape >>> 8) & 0xff,
    shape & 0xff,
  )
}

export function encodeCursor(shape: number, cursor: CursorPlace): Uint8Array {
  return cursorBytes(cursorHead(shape, cursor.place), cursor.place === 'start' ? '' : cursor.position)
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
  const place = text.charCodeAt(1)
  if (text.length < headLength || text.charCodeAt(0) !== format || place > placeBytes.after) {
    throw broken(which)
  }
  const head = cursorHead(plan.shape, place === 0 ? 'start' : place === 1 ? 'before' : 'after')
  if (!text.startsWith(head)) {
    throw invalidArgument(
      `the ${which} cursor belongs to another query: use it with the kind, filters and orders of the query that gave it`,
    )
  }
  const position = text.slice(headLength)
  if (place === placeBytes.start) {
    if (position !== '') throw broken(which)
    return { place: 'start' }
  }
  checkPosition(plan, position, which)
  return { place: place === placeBytes.before ? 'before' : 'after', position }
}

function checkPosition(plan: Plan, position: string, which: 'start' | 'end'): void {
  try {
    const end = plan.everyRow
      ? lateOffset(plan, position, plan.lateColumns.length)
      : skipPath(position, columnOffset(plan.columns, position, plan.columns.length))
    if (end === position.length) return
  } catch (error) {
    // What the codecs call a broken invariant is here a client's broken bytes.
    if (!(error instanceof InvariantError)) throw error
  }
  throw broken(which)
}

function broken(which: 'start' | 'end') {
  return invalidArgument(`the ${which} cursor cannot be read: pass on the bytes of a result's cursor unchanged`)
}

/** The positions from a cursor on, in result order; `undefined` = all. */
export function boundsFrom(plan: Plan, cursor: CursorPlace): Span | undefined {
  if (cursor.place === 'start') return undefined
  const { position } = cursor
  if (cursor.place === 'before') {
    return plan.reverse ? { lower: '', upper: position + codesEnd } : { lower: position, upper: codesEnd }
  }
  // After a distinct result comes the next combination.
  const passed =
    plan.distinctColumns === undefined
      ? position
      : position.slice(0, columnOffset(plan.columns, position, plan.distinctColumns))
  return plan.reverse ? { lower: '', upper: passed } : { lower: afterAll(passed, false), upper: codesEnd }
}

/** Whether a result at `position` lies behind the cursor, in result order. */
export function isBehind(plan: Plan, position: string, cursor: CursorPlace): boolean {
  if (cursor.place === 'start') return true
  if (position === cursor.position) return cursor.place === 'before'
  return plan.reverse ? position < cursor.position : position > cursor.position
}
