/** The parts of a position (planner/normal-query.ts), and how positions compare. */
import { invert } from '../encoding/bytes.ts'
import type { IndexEntry } from '../encoding/index-entries.ts'
import { skipPath } from '../encoding/key-codec.ts'
import { skipValue } from '../encoding/value-codec.ts'
import type { Column } from '../planner/normal-query.ts'
import { codesEnd } from '../planner/spans.ts'

export interface PositionForm {
  readonly columns: readonly Column[]
  readonly lateColumns: readonly Column[]
}

/** The offset of column number `index`; for the number of columns, that of the path. */
export function columnOffset(columns: readonly Column[], position: string, index: number): number {
  let at = 0
  for (let i = 0; i < index; i++) {
    at = skipValue(position, at, columns[i]?.inverted)
  }
  return at
}

/** The offset of late column number `index`, in a position with late columns; for their number, its end. */
export function lateOffset({ columns, lateColumns }: PositionForm, position: string, index: number): number {
  let at = skipPath(position, columnOffset(columns, position, columns.length))
  for (let i = 0; i < index; i++) {
    at = skipValue(position, at, lateColumns[i]?.inverted)
  }
  return at
}

export function codeInColumn({ inverted }: Column, { valueCode }: IndexEntry): string {
  return inverted ? invert(valueCode) : valueCode
}

/** The place of a property's value: among the columns, or behind the path. */
export interface ValuePlace {
  readonly inverted: boolean
  /** Its type byte in the cell of a row, counted from the end. */
  readonly fromEnd: number
  offset(position: string): number
  end(position: string): number
}

export function placeOf(form: PositionForm, property: string): ValuePlace | undefined {
  const { columns, lateColumns } = form
  const isMine = (column: Column): boolean => column.property === property
  const i = columns.findIndex(isMine)
  const late = i < 0 ? lateColumns.findIndex(isMine) : -1
  const column = columns[i] ?? lateColumns[late]
  if (column === undefined) return undefined
  const offsetOf = (position: string, next: 0 | 1): number =>
    i < 0 ? lateOffset(form, position, late + next) : columnOffset(columns, position, i + next)
  return {
    inverted: column.inverted,
    fromEnd: lateColumns.length + (i < 0 ? -late : columns.length - i),
    offset: (position) => offsetOf(position, 0),
    end: (position) => offsetOf(position, 1),
  }
}

/** The path code in a position of a plan, with or without its late columns. */
export function pathIn(plan: PositionForm & { readonly everyRow: boolean }, position: string): string {
  const { columns, lateColumns, everyRow } = plan
  if (columns.length + lateColumns.length === 0) return position
  const end = everyRow && lateColumns.length > 0 ? lateOffset(plan, position, 0) : undefined
  return position.slice(columnOffset(columns, position, columns.length), end)
}

export function isBefore(a: string, b: string, reverse: boolean): boolean {
  return reverse ? a > b : a < b
}

/** The target of a seek, from inside the positions that begin with `start`, to the first one behind them. */
export function afterAll(start: string, reverse: boolean): string {
  return reverse ? start : start + codesEnd
}
