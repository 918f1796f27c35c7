/**
 * The newest events of the overview as lines over time.
 *
 *   event, event, (the server was away) event     ─▶     x in seconds, a value a second for each method, percentile and error code
 *
 * At most {@link pointsMax} points are kept.
 *
 * H1  Time in which nothing was measured is a gap, never a zero.         history.test.ts
 */
import type { HeatReport } from '@sixtables/engine'
import type { OverviewEvent } from '@sixtables/gateway/browser'
import type { PlotLine } from '../../components/line-plot.tsx'

export const pointsMax = 600
/** Events come every second; a longer silence is a gap. */
const gapSeconds = 3

export interface Point {
  /** Seconds since 1970. */
  readonly at: number
  readonly event: OverviewEvent | undefined
}

/** The points with one event more. The first event after a stream began has measured nothing yet. */
export function withEvent(points: readonly Point[], event: OverviewEvent): readonly Point[] {
  const at = Date.parse(event.at) / 1000
  const last = points.at(-1)
  const isFirst = event.seconds === 0
  const added: Point[] = []
  if (last !== undefined && (isFirst || at - last.at > gapSeconds))
    added.push({ at: last.at + 0.001, event: undefined })
  if (!isFirst) added.push({ at, event })
  return [...points, ...added].slice(-pointsMax)
}

export function linesOf(points: readonly Point[]) {
  const events = points.map(({ event }) => event)
  const line = (label: string, of: (event: OverviewEvent) => number | null): PlotLine => ({
    label,
    values: events.map((event) => (event === undefined ? null : of(event))),
  })
  const methods = namesIn(events, ({ methods: called }) => called)
  const codes = namesIn(events, ({ codes: answered }) => answered)
  return {
    x: points.map(({ at }) => at),
    operations: methods.map((name) =>
      line(name, ({ methods: called, seconds }) => (called[name]?.calls ?? 0) / seconds),
    ),
    latency: [line('p50', ({ all }) => all?.p50Ms ?? null), line('p99', ({ all }) => all?.p99Ms ?? null)],
    errors: codes.map((name) => line(name, ({ codes: answered, seconds }) => (answered[name] ?? 0) / seconds)),
  }
}

/** Rows that all tables read and wrote, for each column of a heat report (/s). */
export function rowLinesOf({ columns, rows }: Pick<HeatReport, 'columns' | 'rows'> = { columns: [], rows: [] }) {
  const summed = (label: 'reads' | 'writes'): PlotLine => ({
    label,
    values: columns.map((_, i) => rows.reduce((sum, row) => sum + (row[label][i] ?? 0), 0)),
  })
  return { x: columns.map((ms) => ms / 1000), rows: [summed('reads'), summed('writes')] }
}

/** Names in the order of the alphabet: a line keeps its colour until a name comes before it. */
function namesIn(
  events: readonly (OverviewEvent | undefined)[],
  of: (event: OverviewEvent) => Readonly<Record<string, unknown>>,
): readonly string[] {
  return [...new Set(events.flatMap((event) => (event === undefined ? [] : Object.keys(of(event)))))].sort()
}
