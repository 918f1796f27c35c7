/**
 * Cells of a recording as a dense plane: one value for each column and row of the axis; and the plane as pixels.
 *
 *   cells ──▶ plane (rates, columns × rows) ──▶ pixels (the greatest value of the cells under each)
 *
 * Waits are no sums but means of operations: they are not spread, and the greatest one stays.
 *
 * P1  A cell that covers several rows is spread evenly over them: sums of a column stay.                recorded-heat.test.ts
 * P3  A pixel has the greatest value of all cells under it: no peak is lost however far one zooms out.  recorded-heat.test.ts
 */
import type { HeatAxis } from './heat-axis.ts'
import { lowerBound } from './lower-bound.ts'
import { type Column, measureCount } from './recorded-heat.ts'

export const metrics = ['operations', 'reads', 'writes', 'bytes', 'wait', 'refused', 'tombstones'] as const
export type Metric = (typeof metrics)[number]

const placeOf = { reads: 0, writes: 1, bytes: 2, wait: 3, refused: 4, tombstones: 5 } as const

/** Value of a cell of a column: a rate a second; of `wait` milliseconds of one operation. */
export function cellValue({ values, stepMs }: Column, cell: number, metric: Metric): number {
  const at = cell * measureCount
  const of = (measure: number): number => values[at + measure] as number
  const operations = of(placeOf.reads) + of(placeOf.writes)
  if (metric === 'wait') return operations === 0 ? 0 : of(placeOf.wait) / operations
  return (metric === 'operations' ? operations : of(placeOf[metric])) / (stepMs / 1000)
}

export interface Plane {
  readonly rows: number
  /** The time that was recorded; within it a time without a column had no load. */
  readonly fromMs: number
  readonly toMs: number
  readonly starts: Float64Array
  readonly ends: Float64Array
  /** Column after column, each with a value for each row. */
  readonly values: Float32Array
  /** The load of all keys in each column; of waits the longest. */
  readonly totals: Float32Array
  readonly most: number
}

/** @param columns - oldest first */
export function planeOf(
  columns: readonly Column[],
  axis: HeatAxis,
  metric: Metric,
  { fromMs, toMs }: Pick<Plane, 'fromMs' | 'toMs'>,
): Plane {
  const rows = axis.count
  const values = new Float32Array(columns.length * rows)
  let most = 0
  for (const [c, column] of columns.entries()) most = Math.max(most, fill(values, c * rows, column, axis, metric))
  const add = metric === 'wait' ? Math.max : (sum: number, one: number): number => sum + one
  const totalOf = (c: number): number =>
    values.subarray(c * rows, (c + 1) * rows).reduce((sum, one) => add(sum, one), 0)
  return {
    rows,
    fromMs,
    toMs,
    totals: Float32Array.from(columns, (_, c) => totalOf(c)),
    starts: Float64Array.from(columns, ({ atMs }) => atMs),
    ends: Float64Array.from(columns, ({ atMs, stepMs }) => atMs + stepMs),
    values,
    most,
  }
}

/** Adds the cells of a column to the rows that they cover. @returns the greatest value */
function fill(values: Float32Array, at: number, column: Column, axis: HeatAxis, metric: Metric, times = 1): number {
  const { ends } = column
  const rows = axis.rowsOf(column.bounds)
  const isMean = metric === 'wait'
  let most = 0
  for (let cell = 0; 2 * cell < ends.length; cell++) {
    const value = cellValue(column, cell, metric) * times
    if (value === 0) continue
    const from = rows.starts[ends[2 * cell] as number] as number
    const to = Math.max(from + 1, rows.ends[ends[2 * cell + 1] as number] as number)
    const each = isMean ? value : value / (to - from)
    for (let row = at + from; row < at + to; row++) {
      const before = values[row] as number
      const now = isMean ? Math.max(before, each) : before + each
      values[row] = now
      if (now > most) most = now
    }
  }
  return most
}

/** Operations of each row of an axis over all columns: what a compaction goes by. */
export function rowLoads(columns: readonly Column[], axis: HeatAxis): Float32Array {
  const loads = new Float32Array(axis.count)
  for (const column of columns) fill(loads, 0, column, axis, 'operations', column.stepMs / 1000)
  return loads
}

/** The part of a plane that a picture shows; rows may be parts of rows. */
export interface Window {
  readonly fromMs: number
  readonly toMs: number
  readonly fromRow: number
  readonly toRow: number
}

/** Pixels of a window, line by line; -1 where nothing was recorded. @param pixels - width × height, reused from frame to frame */
export function pixelsOf(plane: Plane, window: Window, width: number, height: number, pixels: Float32Array): void {
  const { rows, starts, ends, values } = plane
  const { fromMs, toMs, fromRow, toRow } = window
  const firstRow = Math.max(0, Math.floor(fromRow))
  const lastRow = Math.min(rows, Math.ceil(toRow))
  const line = new Float32Array(rows)
  const rowAt = Int32Array.from({ length: height + 1 }, (_, y) =>
    Math.floor(fromRow + ((toRow - fromRow) * y) / height),
  )
  const msPerPixel = (toMs - fromMs) / width
  let column = lowerBound(ends.length, (place) => (ends[place] as number) <= fromMs)
  for (let x = 0; x < width; x++) {
    const [beginMs, endMs] = [fromMs + x * msPerPixel, fromMs + (x + 1) * msPerPixel]
    while (column < ends.length && (ends[column] as number) <= beginMs) column++
    let found = false
    for (let c = column; c < starts.length && (starts[c] as number) < endMs; c++) {
      const at = c * rows
      if (!found) line.set(values.subarray(at + firstRow, at + lastRow), firstRow)
      else {
        for (let row = firstRow; row < lastRow; row++) {
          const value = values[at + row] as number
          if (value > (line[row] as number)) line[row] = value
        }
      }
      found = true
    }
    const isRecorded = found || (endMs > plane.fromMs && beginMs < plane.toMs)
    for (let y = 0; y < height; y++) {
      let most = isRecorded ? 0 : -1
      if (found) {
        const from = rowAt[y] as number
        const to = Math.max(from + 1, rowAt[y + 1] as number)
        for (let row = from; row < to; row++) {
          const value = line[row] ?? 0
          if (value > most) most = value
        }
      }
      pixels[y * width + x] = most
    }
  }
}
