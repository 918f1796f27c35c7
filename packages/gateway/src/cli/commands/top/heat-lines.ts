/**
 * The heatmap in characters: the hottest key ranges in key order, time from left to right.
 *
 *   EntitiesByKind › ToDo › 7…        ░░▒▒▓▓████  1,234
 *
 * A time line below marks events of tablets: s (split), m (merge), → (move), c (compaction), x (a refused split).
 *
 * The colour is the square root of a cell's rate relative to the hottest cell, so that warm ranges differ from cold ones next to a hot
 * one.
 */
import type { HeatReport, HeatRow, TabletEventKind } from '@sixtables/engine'
import { cut, ink, type Line, line, type Segment, type Size } from './line.ts'
import { rate, timeOfDay } from './units.ts'

const rateWidth = 7

export function heatLines({ rows, columns, events }: HeatReport, { width, height }: Size): readonly Line[] {
  const loaded = rows.filter((row) => total(row) > 0)
  if (loaded.length === 0) return [line(ink('faint', '  no row was touched in this time'))]
  const labelWidth = Math.min(Math.max(...loaded.map(({ label }) => label.length)), Math.floor(width * 0.45))
  const cells = Math.max(1, width - labelWidth - rateWidth - 2)
  const shown = hottest(loaded, height - 1)
  const slots = slotsOf(columns.length, cells)
  const grid = shown.map((row) => slots.map((slot) => mean(row, slot)))
  const most = Math.max(...grid.flat())
  // The last one that is complete.
  const last = Math.max(0, columns.length - 2)
  const lines = shown.map((row, i) =>
    line(
      `${cut(row.label, labelWidth).padEnd(labelWidth)} `,
      ...heatCells(grid[i] ?? [], most),
      rate(mean(row, [last, last + 1])).padStart(rateWidth),
    ),
  )
  return [...lines, timeLine({ columns, events }, slots, labelWidth)]
}

/** The columns of each character, as [first, end). With fewer columns than characters, columns are stretched. */
function slotsOf(columns: number, cells: number): readonly (readonly [number, number])[] {
  if (columns <= cells) {
    const each = Math.max(1, Math.floor(cells / columns))
    return Array.from({ length: columns * each }, (_, i) => [Math.floor(i / each), Math.floor(i / each) + 1] as const)
  }
  return Array.from({ length: cells }, (_, i) => {
    const first = Math.floor((i * columns) / cells)
    return [first, Math.max(first + 1, Math.floor(((i + 1) * columns) / cells))] as const
  })
}

function mean(row: HeatRow, [first, end]: readonly [number, number]): number {
  let sum = 0
  for (let i = first; i < end; i++) sum += (row.reads[i] ?? 0) + (row.writes[i] ?? 0)
  return sum / (end - first)
}

/** Cells, with neighbours of one colour as one segment. */
function heatCells(rates: readonly number[], most: number): readonly Segment[] {
  const segments: { text: string; heat: number }[] = []
  for (const value of rates) {
    const heat = value === 0 ? 0 : Math.max(1, Math.round(Math.sqrt(value / most) * 10)) / 10
    const last = segments.at(-1)
    if (last?.heat === heat) last.text += ' '
    else segments.push({ text: ' ', heat })
  }
  return segments
}

/** The `count` rows with the most load, in key order. */
function hottest(rows: readonly HeatRow[], count: number): readonly HeatRow[] {
  if (rows.length <= count) return rows
  const kept = new Set([...rows].sort((a, b) => total(b) - total(a)).slice(0, count))
  return rows.filter((row) => kept.has(row))
}

function total({ reads, writes }: HeatRow): number {
  return sum(reads) + sum(writes)
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}

const marks: Readonly<Record<TabletEventKind, string>> = {
  split: 's',
  'split-refused': 'x',
  merge: 'm',
  move: '→',
  compaction: 'c',
}

/** Marks in order of importance: of two events at one place, the first of these is drawn. */
const markOrder = 'xsm→c'

function timeLine(
  { columns, events }: Pick<HeatReport, 'columns' | 'events'>,
  slots: readonly (readonly [number, number])[],
  labelWidth: number,
): Line {
  const characters = slots.map(() => '─')
  for (const { atMs, kind } of events) {
    const place = slots.findIndex(([first, end]) => {
      const next = columns[end] ?? Number.POSITIVE_INFINITY
      return atMs >= (columns[first] ?? 0) && atMs < next
    })
    const there = characters[place]
    if (there === undefined) continue
    const mark = marks[kind]
    if (there === '─' || markOrder.indexOf(mark) < markOrder.indexOf(there)) characters[place] = mark
  }
  const from = columns[0] === undefined ? '' : `${timeOfDay(columns[0])} `
  return line(ink('faint', `${from.padStart(labelWidth)} `), ink('faint', characters.join('')), ink('faint', ' now'))
}
