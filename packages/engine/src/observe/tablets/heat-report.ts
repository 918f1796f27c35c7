/** The grid of load per key range over time (report.ts), from the finest tier that reaches far enough back. */
import type { TabletFleet } from './fleet.ts'
import { heatTiers } from './heat-range.ts'
import { rangeLabel, rowKeyWords } from './range-words.ts'
import type { HeatOptions, HeatReport, HeatRow } from './report.ts'

const spanDefaultMs = 600_000
const rowsDefault = 32

export function heatReport(fleet: TabletFleet, nowMs: number, options: HeatOptions): HeatReport {
  const { table, spanMs = spanDefaultMs, rowsMax = rowsDefault } = options
  const reaching = heatTiers.findIndex(({ stepMs, columns }) => stepMs * columns >= spanMs)
  const tier = reaching < 0 ? heatTiers.length - 1 : reaching
  const { stepMs, columns: most } = heatTiers[tier] as (typeof heatTiers)[number]
  const columns = Math.min(most, Math.max(1, Math.ceil(spanMs / stepMs)))
  const lastStep = Math.floor(nowMs / stepMs)
  const firstStep = lastStep - columns + 1
  // The running column is only partly over.
  const lastSeconds = Math.max(1, (nowMs - lastStep * stepMs) / 1000)
  const perSecond = (values: readonly number[]): number[] =>
    values.map((value, i) => value / (i === values.length - 1 ? lastSeconds : stepMs / 1000))
  const rows: HeatRow[] = []
  for (const one of table === undefined ? fleet.heat.tables() : [table]) {
    for (const { start, end, measures } of fleet.heat.cells(one, tier, firstStep, columns, rowsMax)) {
      const [reads = [], writes = [], bytes = []] = measures.map(perSecond)
      rows.push({
        table: one,
        start: rowKeyWords(one, start),
        end: rowKeyWords(one, end),
        label: rangeLabel(one, start, end),
        reads,
        writes,
        bytes,
      })
    }
  }
  const beginMs = firstStep * stepMs
  return {
    atMs: nowMs,
    stepMs,
    columns: Array.from({ length: columns }, (_, i) => beginMs + i * stepMs),
    rows,
    events: fleet.events.filter((event) => event.atMs >= beginMs && (table === undefined || event.table === table)),
  }
}
