/**
 * The picture of `sixtables top`: one overview drawn into a number of lines and columns. A pure function, so that the live screen, the
 * plain text and the tests show the same.
 *
 *   head        server, time, requests, latency
 *   heat        a line per key range, a column per slot of time, the newest at the right
 *   tablets     the hottest                groups   those under contention                findings   in words
 *
 * Heat is most important: it has all its rows, or at least half of the lines between head and foot. Scrolling line by line shows every line of
 * the whole picture. A frame is exactly `height` lines of exactly `width` columns.
 */
import type {
  Finding,
  GroupReport,
  HeatReport,
  HeatRow,
  TabletEventKind,
  TabletReport,
  TabletsReport,
} from '@sixtables/engine'
import { columns, counted } from '../../framework/print.ts'
import { cut, fit, type Ink, ink, type Line, line, type Segment, type Size, wrap } from './line.ts'

/** The tablets' reports at one instant, which the server sends once per interval. */
export interface Overview {
  readonly report: TabletsReport
  readonly heat: HeatReport
  /** Busiest first. */
  readonly groups: readonly GroupReport[]
  readonly findings: readonly Finding[]
}

export interface View {
  readonly address: string
  readonly spanMs: number
  readonly table: string | undefined
  readonly paused: boolean
  /** Number of lines of the whole picture above the screen; 0 for a picture that fits. */
  readonly scroll: number
}

/** In a smaller terminal the frame only says that it is too small. */
export const sizeMin: Size = { width: 60, height: 12 }

export function frame(overview: Overview, view: View, size: Size): readonly Line[] {
  if (size.width < sizeMin.width || size.height < sizeMin.height) {
    return filled([line(`sixtables top needs ${sizeMin.width} × ${sizeMin.height} characters`)], size)
  }
  const head = headLines(overview, view)
  const foot = line(ink('faint', 'q quit  ↑↓ scroll  Tab table  + − span  p pause  c compact'))
  const room = size.height - head.length - 1
  let body: readonly Line[]
  if (view.scroll > 0) {
    const start = Math.min(view.scroll, scrollMax(overview, size))
    body = wholeBody(overview, size.width).slice(start, start + room)
  } else {
    const below = belowHeat(overview, size.width, Math.floor(room / 2))
    body = [...heatLines(overview.heat, { width: size.width, height: room - below.length }), ...below]
  }
  return [...filled([...head, ...body], { ...size, height: size.height - 1 }), fit(foot, size.width)]
}

export function wholePicture(overview: Overview, view: View, width: number): readonly Line[] {
  return [...headLines(overview, view), ...wholeBody(overview, width)].map((one) => fit(one, width))
}

export function scrollMax(overview: Overview, { width, height }: Size): number {
  return Math.max(0, wholeBody(overview, width).length - (height - headHeight - 1))
}

function wholeBody(overview: Overview, width: number): readonly Line[] {
  return [
    ...heatLines(overview.heat, { width, height: 42 }),
    ...tabletLines(overview.report, width, 10),
    ...groupLines(contended(overview.groups), 10),
    ...findingLines(overview.findings, width, 200),
  ]
}

/** The sections below the heat, in at most `height` lines; findings get the rest. */
function belowHeat(overview: Overview, width: number, height: number): readonly Line[] {
  const hasFindings = overview.findings.length > 0
  const groups = contended(overview.groups)
  const groupRows = Math.min(groups.length, Math.max(1, Math.floor(height / 8)))
  const groupHeight = groupRows === 0 ? 0 : groupRows + 1
  const findings = hasFindings ? findingLines(overview.findings, width, Math.floor((height - groupHeight) / 2)) : []
  const tabletRows = Math.max(
    1,
    Math.min(overview.report.tablets.length * 2, height - groupHeight - findings.length - 1),
  )
  return [...tabletLines(overview.report, width, tabletRows), ...groupLines(groups, groupRows), ...findings].slice(
    0,
    height,
  )
}

const headHeight = 3

function headLines({ report, heat }: Overview, view: View): readonly Line[] {
  const { requests, servers, tables, simulated, counted: isCounted, scale } = report
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  const tablets = tables.reduce((sum, table) => sum + table.tablets, 0)
  const rejected = requests.rejectedPerSecond
  const busiest = servers.reduce((most, server) => Math.max(most, server.queueMs), 0)
  return [
    line(
      ink('title', `sixtables top  ${view.address}`),
      `  ${timeOfDay(report.atMs)} UTC  `,
      simulated
        ? ink('good', `simulating; ${counted(servers.length, 'server')} in use`)
        : ink('faint', 'capacity not simulated'),
      scale === 1 ? '' : ink('faint', `, each operation weighs ${scale}`),
      view.paused ? ink('warning', '  PAUSED') : '',
    ),
    line(
      `${rate(requests.perSecond)} requests/s   p50 ${duration(requests.latencyP50Ms)}   p99 ${duration(requests.latencyP99Ms)}   `,
      ink(rejected > 0 ? 'bad' : 'faint', `${rate(rejected)} rejected/s`),
      isCounted ? `   ${count(rows)} rows in ${counted(tablets, 'tablet')}` : ink('faint', '   rows are not counted'),
      busiest > 0 ? ink('warning', `   longest queue ${duration(busiest)}`) : '',
    ),
    line(
      ink('title', `Heat by key range, ${duration(view.spanMs)}`),
      ink('faint', `  a column is ${duration(heat.stepMs)}; row operations a second at the right`),
      view.table === undefined ? '' : `  only ${view.table}`,
    ),
  ]
}

function filled(lines: readonly Line[], { width, height }: Size): Line[] {
  const shown = lines.slice(0, height).map((one) => fit(one, width))
  while (shown.length < height) shown.push(fit([], width))
  return shown
}

/** A rate per second: `0`, `0.4`, `17`, `1,234`, `56k`, `7.4M`; at most five characters. */
export function rate(value: number): string {
  return value > 0 && value < 9.95 ? value.toFixed(1) : count(value)
}

/** A count: `0`, `4`, `1,234`, `56k`, `7.4M`; at most five characters. */
export function count(value: number): string {
  if (value < 9999.5) return Math.round(value).toLocaleString('en')
  if (value < 999_500) return `${Math.round(value / 1000)}k`
  return `${(value / 1e6).toFixed(1)}M`
}

/** `12 B`, `3.4 KiB`, `56 MiB`. */
export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let size = value
  let unit = 0
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 || size >= 99.5 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`
}

/** `0.3 ms`, `12 ms`, `1.5 s`, `10 min`. */
export function duration(ms: number): string {
  if (ms < 9.95) return `${Number(ms.toFixed(1))} ms`
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  if (ms < 3_600_000) return `${Number((ms / 60_000).toFixed(1))} min`
  return `${Number((ms / 3_600_000).toFixed(1))} h`
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** The time of day in UTC: `12:34:56`. */
export function timeOfDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(11, 19)
}

const rateWidth = 7

/**
 * The hottest key ranges in key order, time from left to right:
 *
 *   EntitiesByKind › ToDo › 7…        ░░▒▒▓▓████  1,234
 *
 * The colour is the square root of a cell's rate relative to the hottest cell, so that warm ranges differ from cold ones next to a hot one.
 * A time line below marks events of tablets: s (split), m (merge), → (move), c (compaction), x (a refused split).
 */
function heatLines({ rows, columns, events }: HeatReport, { width, height }: Size): readonly Line[] {
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
  return [...reads, ...writes].reduce((all, value) => all + value, 0)
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

/** A title and at most `rows` tablets, hottest first, each with remarks. */
function tabletLines(
  { tablets, atMs, simulated, counted }: TabletsReport,
  width: number,
  rows: number,
): readonly Line[] {
  const hottest = [...tablets].sort((a, b) => load(b) - load(a) || b.rows - a.rows).slice(0, rows)
  if (hottest.length === 0) return []
  const rangeWidth = Math.max(16, width - (simulated ? 84 : 76))
  const cells = hottest.map((tablet) => [
    `  ${tablet.table}`,
    cut(rangeInWords(tablet), rangeWidth).padEnd(rangeWidth),
    rate(tablet.readsPerSecond).padStart(7),
    rate(tablet.writesPerSecond).padStart(8),
    percent(tablet.loadShare).padStart(6),
    ...(counted ? [count(tablet.rows).padStart(6), bytes(tablet.bytes).padStart(8)] : []),
    ...(simulated ? [String(tablet.server).padStart(6)] : []),
  ])
  const head = [
    'Hottest tablets',
    'range',
    'reads/s',
    'writes/s',
    ' share',
    ...(counted ? ['  rows', '    size'] : []),
    ...(simulated ? ['server'] : []),
  ]
  const [title = '', ...lines] = columns([head, ...cells])
  const shown: Line[] = [line(ink('title', title))]
  for (const [i, tablet] of hottest.entries()) {
    shown.push(line(lines[i] ?? ''))
    for (const [mark, words] of notesOf(tablet, atMs)) shown.push(line(ink(mark, `    ${words}`)))
  }
  return shown.slice(0, rows + 1)
}

function notesOf(tablet: TabletReport, atMs: number): readonly (readonly [Ink, string])[] {
  const { unavailableUntilMs, splitRefusal, tombstones, rows } = tablet
  const notes: (readonly [Ink, string])[] = []
  if (unavailableUntilMs !== undefined && unavailableUntilMs > atMs)
    notes.push(['warning', 'it moves: calls on it fail'])
  if (splitRefusal !== undefined) notes.push(['bad', `no split helps: ${splitRefusal.words}`])
  if (tombstones > rows) notes.push(['warning', `${count(tombstones)} tombstones that scans wade through`])
  return notes
}

function load({ readsPerSecond, writesPerSecond }: TabletReport): number {
  return readsPerSecond + writesPerSecond
}

function rangeInWords({ start, end }: TabletReport): string {
  if (start === '' && end === '') return 'all rows'
  return `${start || 'the start'} … ${end || 'the end'}`
}

/** Groups with waiting or conflicting commits; a group that is only busy is visible in the heat. */
function contended(groups: readonly GroupReport[]): readonly GroupReport[] {
  return groups.filter(({ conflictsPerSecond, waitsPerSecond }) => conflictsPerSecond + waitsPerSecond > 0)
}

function groupLines(groups: readonly GroupReport[], rows: number): readonly Line[] {
  if (groups.length === 0 || rows <= 0) return []
  const cells = groups
    .slice(0, rows)
    .map((group) => [
      `  ${cut(group.group, 40)}`,
      rate(group.commitsPerSecond).padStart(9),
      rate(group.conflictsPerSecond).padStart(11),
      rate(group.waitsPerSecond).padStart(7),
    ])
  const [title = '', ...lines] = columns([
    ['Entity groups under contention', 'commits/s', 'conflicts/s', 'waits/s'],
    ...cells,
  ])
  return [line(ink('title', title)), ...lines.map((text) => line(text))]
}

/** A title and findings in at most `height` lines; a finding that does not fit is left out whole. */
function findingLines(findings: readonly Finding[], width: number, height: number): readonly Line[] {
  if (findings.length === 0 || height < 2) return []
  const lines: Line[] = [line(ink('title', `Findings (${findings.length})`))]
  for (const { words, remedy, lab, evidence } of findings) {
    const text = [...wrap(words, width - 4), ...wrap(evidence.join('; '), width - 4)]
    const advice = wrap(`${remedy} Lab: ${lab}.`, width - 4)
    if (lines.length + text.length + advice.length > height) {
      if (lines.length === 1 && height >= 2) lines.push(line(ink('warning', '  ! '), words))
      break
    }
    text.forEach((part, i) => {
      lines.push(line(ink('warning', i === 0 ? '  ! ' : '    '), part))
    })
    for (const part of advice) lines.push(line(ink('faint', `    ${part}`)))
  }
  return lines
}
