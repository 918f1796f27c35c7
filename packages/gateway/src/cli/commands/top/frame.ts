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
import type { Finding, GroupReport, HeatReport, TabletsReport } from '@sixtables/engine'
import { counted } from '../../framework/print.ts'
import { heatLines } from './heat-lines.ts'
import { fit, ink, type Line, line, type Size } from './line.ts'
import { contended, findingLines, groupLines, tabletLines } from './sections.ts'
import { count, duration, rate, timeOfDay } from './units.ts'

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
