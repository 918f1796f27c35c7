/** Where the parts of a position lie (planner/normal-query.ts), and how positions compare. */
import { skipInvertedValue, skipValue } from '../encoding/value-codec.ts'
import type { Column } from '../planner/normal-query.ts'
import { codesEnd } from '../planner/spans.ts'

/** Where column number `index` starts; for the number of columns, where the path does. */
export function columnOffset(columns: readonly Column[], position: string, index: number): number {
  let at = 0
  for (let i = 0; i < index; i++) {
    at = columns[i]?.inverted ? skipInvertedValue(position, at) : skipValue(position, at)
  }
  return at
}

/** The path code in a position. */
export function pathOf(columns: readonly Column[], position: string): string {
  return columns.length === 0 ? position : position.slice(columnOffset(columns, position, columns.length))
}

/** Whether `a` comes before `b` in result order. */
export function isBefore(a: string, b: string, reverse: boolean): boolean {
  return reverse ? a > b : a < b
}

/** Where to seek for the first position that does not begin with `start`, once inside those that do. */
export function afterAll(start: string, reverse: boolean): string {
  return reverse ? start : start + codesEnd
}
