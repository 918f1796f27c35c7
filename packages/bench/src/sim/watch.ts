/**
 * Samples tablets and outcomes while a load runs, and records them: latency, throughput, number of tablets, the share of the
 * busiest tablet, and the heat of a table's key ranges. One sample is a "look".
 */
import type { TableId, TabletLoad } from '@sixtables/engine'
import { Histogram } from '../measure/histogram.ts'
import type { Line, Recorder } from '../measure/recorder.ts'
import { mean, sum } from '../measure/sums.ts'
import type { Store } from './store.ts'

/** Counts of a load's operations in an interval; one that represents 200 counts as 200. */
export class Outcomes {
  readonly latency: Histogram = new Histogram()
  served = 0
  refused = 0
  /** Served lookups that found no entity. */
  missing = 0
}

interface Look {
  readonly seconds: number
  /** Operations a second. */
  readonly served: number
  readonly refused: number
  readonly missing: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
  readonly tables: ReadonlyMap<TableId, TableLook>
}

export interface TableLook {
  readonly tablets: number
  readonly servers: number
  /** Row operations a second of all tablets. */
  readonly total: number
  /** Row operations a second, by tablet. */
  readonly loads: ReadonlyMap<number, number>
  /** The load of the busiest tablet as a share of the total, 0 to 1, and as a multiple of the mean. */
  readonly busiestShare: number
  readonly busiestToMean: number
}

function tableLookOf(tablets: readonly TabletLoad[]): TableLook {
  const loads = new Map(tablets.map((one) => [one.id, one.readsPerSecond + one.writesPerSecond]))
  const total = sum(loads.values())
  const busiestShare = total === 0 ? 0 : Math.max(0, ...loads.values()) / total
  const servers = new Set(tablets.map(({ server }) => server)).size
  return { tablets: loads.size, servers, total, loads, busiestShare, busiestToMean: busiestShare * loads.size }
}

const nothing = tableLookOf([])

export class Watch {
  readonly #store: Store
  readonly #tables: readonly TableId[]
  readonly #everySeconds: number
  readonly #looks: Look[] = []
  /** Since the latest look. */
  outcomes: Outcomes = new Outcomes()
  #lastSeconds = 0

  constructor(store: Store, tables: readonly TableId[], everySeconds: number) {
    this.#store = store
    this.#tables = tables
    this.#everySeconds = everySeconds
  }

  /** Takes a look if one is due, and then counts the outcomes from zero. */
  look(seconds: number): void {
    const span = seconds - this.#lastSeconds
    if (span < this.#everySeconds) return
    this.#lastSeconds = seconds
    const { tablets } = this.#store.engine
    const tables = new Map(this.#tables.map((table) => [table, tableLookOf(tablets.loads(table))]))
    const { latency, served, refused, missing } = this.outcomes
    const known = latency.weight > 0
    this.#looks.push({
      seconds,
      served: served / span,
      refused: refused / span,
      missing: missing / span,
      p50Ms: known ? latency.quantile(0.5) : null,
      p99Ms: known ? latency.quantile(0.99) : null,
      tables,
    })
    this.outcomes = new Outcomes()
  }

  #between(fromSeconds: number, toSeconds: number = Number.POSITIVE_INFINITY): readonly Look[] {
    return this.#looks.filter(({ seconds }) => seconds > fromSeconds && seconds <= toSeconds)
  }

  #last(seconds: number): readonly Look[] {
    return this.#between((this.#looks.at(-1)?.seconds ?? 0) - seconds)
  }

  /** Means over the last `seconds`; `offered` counts served and refused operations. */
  settled(seconds: number): Readonly<Record<'offered' | 'served' | 'refused' | 'p50Ms' | 'p99Ms', number>> {
    const looks = this.#last(seconds)
    return {
      offered: mean(looks.map((look) => look.served + look.refused)),
      served: mean(looks.map((look) => look.served)),
      refused: mean(looks.map((look) => look.refused)),
      p50Ms: mean(looks.map((look) => look.p50Ms ?? 0)),
      p99Ms: mean(looks.map((look) => look.p99Ms ?? 0)),
    }
  }

  /** The table at the last look up to a moment; default: at the end. */
  tableAt(table: TableId, seconds: number = Number.POSITIVE_INFINITY): TableLook {
    return this.#looks.findLast((one) => one.seconds <= seconds)?.tables.get(table) ?? nothing
  }

  /**
   * The load of the busiest tablet, averaged over the looks of the last `seconds` with any load. In a single look that a split falls into, two
   * tablets have a part each.
   */
  settledTable(table: TableId, seconds: number): Pick<TableLook, 'busiestShare' | 'busiestToMean'> {
    const looks = this.#last(seconds)
      .map(({ tables }) => tables.get(table) ?? nothing)
      .filter(({ total }) => total > 0)
    return {
      busiestShare: mean(looks.map(({ busiestShare }) => busiestShare)),
      busiestToMean: mean(looks.map(({ busiestToMean }) => busiestToMean)),
    }
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
    return sum(loads.filter((load) => load > opsPerSecond)) / (sum(loads) || 1)
  }

  /** The greatest share of one tablet at any look between two moments. */
  busiestShare(table: TableId, fromSeconds: number, toSeconds: number): number {
    const looks = this.#between(fromSeconds, toSeconds)
    return Math.max(0, ...looks.map(({ tables }) => tables.get(table)?.busiestShare ?? 0))
  }

  /** Refused operations as a share of all, 0 to 1, between two moments. */
  refusedShare(fromSeconds: number = 0, toSeconds?: number): number {
    const looks = this.#between(fromSeconds, toSeconds)
    const refused = sum(looks.map((look) => look.refused))
    return refused / (refused + sum(looks.map((look) => look.served)) || 1)
  }

  /** Served lookups that found no entity, as a share of all served ones, from a moment on. */
  missingShare(fromSeconds: number): number {
    const looks = this.#between(fromSeconds)
    return sum(looks.map((look) => look.missing)) / (sum(looks.map((look) => look.served)) || 1)
  }

  /** Seconds until the refused share of a look exceeded a bound; `undefined`: never. */
  firstAbove(share: number): number | undefined {
    const bad = this.#looks.find(({ served, refused }) => refused > share * (served + refused))
    return bad === undefined ? undefined : bad.seconds - this.#everySeconds
  }

  /** @param heatOf - tables whose heat is drawn */
  draw(record: Recorder, heatOf: readonly TableId[], logarithmic = false): void {
    for (const table of heatOf) drawHeat(record, this.#store, table)
    const x = { name: 'minutes', values: this.#looks.map(({ seconds }) => seconds / 60) }
    const line = (value: (look: Look) => number | null): Line['values'] => this.#looks.map(value)
    const throughput = { served: line((look) => look.served), refused: line((look) => look.refused) }
    record.chart('throughput', 'operations/s', x, throughput, logarithmic)
    const latency = { p50: line((look) => look.p50Ms), p99: line((look) => look.p99Ms) }
    record.chart('latency of what was served', 'ms', x, latency)
    const ofTables = (value: (look: TableLook) => number): Record<string, Line['values']> =>
      Object.fromEntries(
        this.#tables.map((table) => [table, line(({ tables }) => value(tables.get(table) ?? nothing))]),
      )
    const counts = ofTables(({ tablets }) => tablets)
    record.chart('tablets', 'tablets', x, counts, logarithmic)
    const shares = ofTables(({ busiestShare }) => busiestShare)
    record.chart('share of the busiest tablet', 'of the load of its table', x, shares)
  }
}

export function drawHeat(record: Recorder, store: Store, table: TableId): void {
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

/** Start of a key range, without the part that all ranges of its table share. */
function rangeStart(words: string): string {
  if (words === '') return '(from the start)'
  return words.split(' › ').slice(2).join(' › ')
}
