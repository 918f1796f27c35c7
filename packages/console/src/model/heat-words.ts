/** Cells, ranges and values of heat in words: what a pointer is told, and a screen reader. */
import type { HeatBound } from '@sixtables/engine'
import type { HeatAxis } from './heat-axis.ts'
import { cellValue, type Metric, metrics } from './heat-plane.ts'
import { type TabletSpan, tabletAt } from './heat-tablets.ts'
import { lowerBound } from './lower-bound.ts'
import { bytesInWords, durationInWords, inWords, timeWords } from './numbers.ts'
import { boundsOf, type Column, type HeatRecording } from './recorded-heat.ts'

export const metricTitles: Readonly<Record<Metric, string>> = {
  operations: 'Reads and writes',
  reads: 'Reads',
  writes: 'Writes',
  bytes: 'Bytes',
  wait: 'Wait',
  refused: 'Refused',
  tombstones: 'Deleted rows read past',
}

/** `1,230/s`, `12 ms each` */
export function valueWords(value: number, metric: Metric): string {
  const rounded = Number(value.toPrecision(3))
  if (metric === 'bytes') return `${bytesInWords(Math.round(rounded))}/s`
  if (metric === 'wait') return `${durationInWords(rounded)} each`
  return `${inWords(rounded)}/s`
}

/** A bound without its table, and without the version of a record of the log. */
export function boundWords({ words }: HeatBound): string {
  const at = words.indexOf(' › ')
  const row = at < 0 ? words : words.slice(at + 3)
  return words.startsWith('Log › ') ? row.replace(/ › \d+$/, '') : row
}

/** `p › ToDo:1 to before p › ToDo:9` */
export function rangeWords(start: HeatBound, end: HeatBound): string {
  const [from, to] = [boundWords(start), boundWords(end)]
  if (from === '' && to === '') return 'all keys'
  const common = commonPlaces(from, to)
  return `${from === '' ? 'the first key' : from} to ${to === '' ? 'the last key' : `before ${to.slice(common)}`}`
}

function commonPlaces(from: string, to: string): number {
  let common = 0
  for (let at = to.indexOf(' › '); at >= 0; at = to.indexOf(' › ', at + 1)) {
    if (!from.startsWith(to.slice(0, at + 3))) break
    common = at + 3
  }
  return common
}

export interface Place {
  readonly recording: HeatRecording
  readonly table: string
  readonly axis: HeatAxis
  readonly spans: readonly TabletSpan[]
  readonly row: number
  readonly ms: number
}

/** One moment and key of a picture: range, tablet, server, and all measures of what was there. */
export function placeWords({ recording, table, axis, spans, row, ms }: Place, metric: Metric): string {
  const columns = recording.tables.get(table) ?? []
  const column = columnOf(columns, ms)
  const hex = axis.hexAt(row)
  const cell = column === undefined ? -1 : cellOf(column, axis, row)
  const tablet = tabletAt(spans, hex, ms)
  const where = tablet === undefined ? [] : [`tablet ${tablet.id} on server ${tablet.server}`]
  const time = timeWords(ms)
  if (column === undefined || cell < 0) {
    const range = rangeWords(axis.boundAt(row), axis.boundAt(row + 1))
    return [range, time, ms < recording.fromMs ? 'nothing recorded' : 'no load', ...where].join(' · ')
  }
  return [
    rangeWords(...boundsOf(column, cell)),
    column.stepMs > 1000 ? `${time}, of ${durationInWords(column.stepMs)}` : time,
    ...cellWords(column, cell, metric),
    ...where,
  ].join(' · ')
}

/** The chosen measure first; then all others that are not 0. */
function cellWords(column: Column, cell: number, metric: Metric): readonly string[] {
  const words = (one: Metric): string => {
    const value = valueWords(cellValue(column, cell, one), one)
    if (one === 'bytes') return value
    if (one === 'wait') return `waited ${value}`
    return value.replace('/s', ` ${one === 'tombstones' ? 'deleted rows read past' : one}/s`)
  }
  const others = metrics.filter((one) => one !== metric && cellValue(column, cell, one) > 0)
  return [words(metric), ...others.map(words)]
}

function columnOf(columns: readonly Column[], ms: number): Column | undefined {
  const isOver = ({ atMs, stepMs }: Column): boolean => atMs + stepMs <= ms
  const found = columns[lowerBound(columns.length, (at) => isOver(columns[at] as Column))]
  return found !== undefined && found.atMs <= ms ? found : undefined
}

/** The cell of a column that covers a row of the axis; -1: there was no load. */
function cellOf({ bounds, ends }: Column, axis: HeatAxis, row: number): number {
  const rows = axis.rowsOf(bounds)
  for (let cell = 0; 2 * cell < ends.length; cell++) {
    const from = rows.starts[ends[2 * cell] as number] as number
    const to = Math.max(from + 1, rows.ends[ends[2 * cell + 1] as number] as number)
    if (row >= from && row < to) return cell
  }
  return -1
}
