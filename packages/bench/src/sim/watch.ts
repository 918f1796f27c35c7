/**
 * Samples tablets and outcomes while a load runs, and records them: latency, throughput, number of tablets, the share of the
 * busiest tablet, and the heat of a table's key ranges. One sample is a "look".
 */
import type { TableId } from '@sixtables/engine'
import { Histogram } from '../measure/histogram.ts'
import type { Line, Recorder } from '../measure/recorder.ts'
import type { Store } from './store.ts'

/** Counts of a load's operations in an interval; one that represents 200 counts as 200. */
export class Outcomes {
  readonly latency: Histogram = new Histogram()
  served = 0
  refused = 0
  /** Served lookups that found no entity. */
  missing = 0

  clear(): void {
    this.latency.clear()
    this.served = 0
    this.refused = 0
    this.missing = 0
  }
}

interface Look {
  readonly seconds: number
  readonly servedPerSecond: number
  readonly refusedPerSecond: number
  readonly missingPerSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly tables: ReadonlyMap<TableId, TableLook>
}

interface TableLook {
  readonly tablets: number
  readonly servers: number
  /** Row operations a second of all tablets, and of the busiest. */
  readonly total: number
  readonly busiest: number
  /** Row operations a second, by tablet. */
  readonly loads: ReadonlyMap<number, number>
}

export interface TableShares {
  readonly tablets: number
  readonly servers: number
  /** Row operations a second. */
  readonly total: number
  readonly busiestShare: number
  readonly busiestToMean: number
}

export class Watch {
  readonly #tables: readonly TableId[]
  readonly #everySeconds: number
  readonly #looks: Look[] = []
  #lastSeconds = 0

  constructor(tables: readonly TableId[], everySeconds: number) {
    this.#tables = tables
    this.#everySeconds = everySeconds
  }

  /** Takes a look if one is due, and then counts the outcomes from zero. */
  look(store: Store, seconds: number, outcomes: Outcomes): void {
    const span = seconds - this.#lastSeconds
    if (span < this.#everySeconds) return
    this.#lastSeconds = seconds
    const { tablets } = store.engine.tablets.report()
    const tables = new Map(
      this.#tables.map((table) => {
        const own = tablets.filter((tablet) => tablet.table === table)
        const loads = new Map(own.map((one) => [one.id, one.readsPerSecond + one.writesPerSecond]))
        const all = [...loads.values()]
        const look: TableLook = {
          tablets: own.length,
          servers: new Set(own.map(({ server }) => server)).size,
          total: all.reduce((sum, load) => sum + load, 0),
          busiest: Math.max(0, ...all),
          loads,
        }
        return [table, look] as const
      }),
    )
    const { latency, served, refused, missing } = outcomes
    const known = latency.weight > 0
    this.#looks.push({
      seconds,
      servedPerSecond: served / span,
      refusedPerSecond: refused / span,
      missingPerSecond: missing / span,
      p50Ms: known ? latency.quantile(0.5) : null,
      p99Ms: known ? latency.quantile(0.99) : null,
      tables,
    })
    outcomes.clear()
  }
  #last(seconds: number): readonly Look[] {
    const end = this.#looks.at(-1)?.seconds ?? 0
    return this.#looks.filter((look) => look.seconds > end - seconds)
  }

  /** Means over the last `seconds`; `offered` counts served and refused operations. */
  settled(seconds: number): Readonly<Record<'offered' | 'served' | 'refused' | 'p50Ms' | 'p99Ms', number>> {
    const looks = this.#last(seconds)
    const mean = (value: (look: Look) => number): number =>
      looks.reduce((sum, look) => sum + value(look), 0) / Math.max(1, looks.length)
    return {
      offered: mean((look) => look.servedPerSecond + look.refusedPerSecond),
      served: mean((look) => look.servedPerSecond),
      refused: mean((look) => look.refusedPerSecond),
      p50Ms: mean((look) => look.p50Ms ?? 0),
      p99Ms: mean((look) => look.p99Ms ?? 0),
    }
  }

  /** The table at the last look: its tablets, and the load of the busiest as a share and as a multiple of the mean. */
  tableAtEnd(table: TableId): TableShares {
    return this.tableAt(table, Number.POSITIVE_INFINITY)
  }

  /** The same at the last look up to a moment. */
  tableAt(table: TableId, seconds: number): TableShares {
    const look = this.#looks.findLast((one) => one.seconds <= seconds)?.tables.get(table)
    const { tablets, servers, total, busiest } = look ?? { tablets: 0, servers: 0, total: 0, busiest: 0 }
    const share = total === 0 ? 0 : busiest / total
    return { tablets, servers, total, busiestShare: share, busiestToMean: share * tablets }
  }

  /** Load of the busiest tablet as a multiple of the mean, averaged over the looks of the last `seconds`; 0 without any load. */
  busiestToMean(table: TableId, seconds: number): number {
    return this.#average(table, seconds, ({ busiestToMean }) => busiestToMean)
  }

  /** The same as a share of the load, from 0 to 1. In a single look that a split falls into, two tablets have a part each. */
  meanBusiestShare(table: TableId, seconds: number): number {
    return this.#average(table, seconds, ({ busiestShare }) => busiestShare)
  }

  #average(table: TableId, seconds: number, value: (shares: TableShares) => number): number {
    const looks = this.#last(seconds)
      .map((look) => this.tableAt(table, look.seconds))
      .filter(({ total }) => total > 0)
    return looks.reduce((sum, one) => sum + value(one), 0) / Math.max(1, looks.length)
  }

  /** Row operations a second of the tablet with most over the last `seconds`; the busiest of a single look would be too high by chance. */
  busiest(table: TableId, seconds: number): number {
    const looks = this.#last(seconds)
    const sums = new Map<number, number>()
    for (const { tables } of looks)
      for (const [id, load] of tables.get(table)?.loads ?? []) sums.set(id, (sums.get(id) ?? 0) + load)
    return Math.max(0, ...sums.values()) / Math.max(1, looks.length)
  }

  /** The part of the load of the last `seconds`, 0 to 1, that was on tablets with more than `opsPerSecond` row operations a second. */
  shareAbove(table: TableId, seconds: number, opsPerSecond: number): number {
    const loads = this.#last(seconds).flatMap(({ tables }) => [...(tables.get(table)?.loads.values() ?? [])])
    const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0)
    return sum(loads.filter((load) => load > opsPerSecond)) / (sum(loads) || 1)
  }

  /** The greatest share of one tablet at any look between two moments. */
  busiestShare(table: TableId, fromSeconds: number, toSeconds: number): number {
    const looks = this.#looks.filter(({ seconds }) => seconds > fromSeconds && seconds <= toSeconds)
    return Math.max(0, ...looks.map(({ seconds }) => this.tableAt(table, seconds).busiestShare))
  }

  /** Refused operations as a share of all, 0 to 1, between two moments. */
  refusedShare(fromSeconds: number = 0, toSeconds: number = Number.POSITIVE_INFINITY): number {
    const looks = this.#looks.filter(({ seconds }) => seconds > fromSeconds && seconds <= toSeconds)
    const refused = looks.reduce((sum, look) => sum + look.refusedPerSecond, 0)
    const all = looks.reduce((sum, look) => sum + look.refusedPerSecond + look.servedPerSecond, 0)
    return all === 0 ? 0 : refused / all
  }

  /** Served lookups that found no entity, as a share of all served ones, from a moment on. */
  missingShare(fromSeconds: number): number {
    const looks = this.#looks.filter(({ seconds }) => seconds > fromSeconds)
    const served = looks.reduce((sum, look) => sum + look.servedPerSecond, 0)
    return served === 0 ? 0 : looks.reduce((sum, look) => sum + look.missingPerSecond, 0) / served
  }

  /** Seconds until the refused share of a look exceeded a bound; `undefined`: never. */
  firstAbove(share: number): number | undefined {
    const bad = this.#looks.find(
      ({ servedPerSecond, refusedPerSecond }) => refusedPerSecond > share * (servedPerSecond + refusedPerSecond),
    )
    return bad === undefined ? undefined : bad.seconds - this.#everySeconds
  }

  draw(record: Recorder, logarithmic = false): void {
    const x = { name: 'minutes', values: this.#looks.map(({ seconds }) => seconds / 60) }
    const line = (value: (look: Look) => number | null): Line['values'] => this.#looks.map(value)
    const throughput = { served: line((look) => look.servedPerSecond), refused: line((look) => look.refusedPerSecond) }
    record.chart('throughput', 'operations/s', x, throughput, logarithmic)
    const latency = { p50: line((look) => look.p50Ms), p99: line((look) => look.p99Ms) }
    record.chart('latency of what was served', 'ms', x, latency)
    const ofTables = (value: (look: TableLook) => number): Record<string, Line['values']> =>
      Object.fromEntries(
        this.#tables.map((table) => {
          return [table, line(({ tables }) => (tables.has(table) ? value(tables.get(table) as TableLook) : null))]
        }),
      )
    record.chart(
      'tablets',
      'tablets',
      x,
      ofTables(({ tablets }) => tablets),
      logarithmic,
    )
    const shares = ofTables(({ busiest, total }) => (total === 0 ? 0 : busiest / total))
    record.chart('share of the busiest tablet', 'of the load of its table', x, shares)
  }

  drawHeat(record: Recorder, store: Store, table: TableId): void {
    const spanMs = store.nowMs
    const report = store.engine.tablets.heat({ table, spanMs, rowsMax: 32 })
    const start = report.atMs - spanMs
    // A step that has not ended would look too cold or too hot.
    const isWhole = (at: number): boolean => at + report.stepMs > start && at + report.stepMs <= report.atMs
    const minutesAt = (at: number): number => Math.max(0, (at - start) / 60_000)
    const fresh = report.columns.flatMap((at, i) => (isWhole(at) ? [i] : []))
    record.heatmap({
      title: `${table}: key ranges over time`,
      unit: 'row operations/s',
      time: 'minutes',
      columns: fresh.map((i) => minutesAt(report.columns[i] ?? 0)),
      rows: report.rows.map((row) => ({
        label: rangeStart(row.start),
        values: fresh.map((i) => (row.reads[i] ?? 0) + (row.writes[i] ?? 0)),
      })),
      events: report.events
        .filter((event) => event.table === table)
        .map(({ atMs, words }) => ({ at: minutesAt(atMs), words })),
    })
  }
}

/** Start of a key range, without the part that all ranges of its table share. */
function rangeStart(words: string): string {
  if (words === '') return '(from the start)'
  return words.split(' › ').slice(2).join(' › ')
}
