/**
 * One reader of the recorded heat: first a whole report, then the changes since its last read (report.ts).
 *
 *   tiers, coarse ─▶ fine │ recorded seconds │ …        times of the columns of a whole report
 *
 * HD1  The reports of a reader add up to a whole report of the same moment; where one begins, it has `isWhole`.   test/tablets-heat.test.ts
 */
import type { RequestContext } from '../../context.ts'
import { giveWay } from '../../slices.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TabletFleet } from './fleet.ts'
import type { HeatColumn } from './heat-history.ts'
import { heatTiers } from './heat-range.ts'
import { rowKeyHex, rowKeyLevels, rowKeyWords } from './range-words.ts'
import type { HeatBound, HeatCellReport, HeatColumnReport, HeatRecordingReport, HeatTabletReport } from './report.ts'

/** A client with this many bounds starts again with a whole report, so that its memory is bounded. */
const boundsMax = 100_000
/** Work of a cell, in rows read: its numbers are printed and parsed. */
const cellWork = 4

export class HeatReader {
  readonly #fleet: TabletFleet
  readonly #now: () => number
  readonly end: () => void
  /** Places of bounds in the list of its client. At the maximum all are forgotten, and those that are used are told again. */
  readonly #known = new Map<RowKey, number>()
  knownMax = 10_000
  /** The length of that list. */
  #told = 0
  #newBounds: HeatBound[] = []
  /** Cells of one report, about: a whole recording comes in several, as it may have 200,000. */
  cellsMax = 20_000
  /** Columns for the next reports. */
  #untold: HeatColumn[] = []
  #generation: number | undefined
  #lastColumn = 0
  #lastEvent = 0
  #tablets = ''

  constructor(fleet: TabletFleet, now: () => number, end: () => void) {
    this.#fleet = fleet
    this.#now = now
    this.end = end
  }

  /** Whether the next report can be read at once. */
  get hasMore(): boolean {
    return this.#untold.length > 0
  }

  async read(context: RequestContext): Promise<HeatRecordingReport> {
    const nowMs = this.#now()
    const { recording, settings, events } = this.#fleet
    const isWhole = this.#generation !== recording.generation || this.#told > boundsMax
    if (isWhole) {
      this.#generation = recording.generation
      this.#known.clear()
      this.#told = 0
      this.#untold = []
      this.#lastColumn = 0
      this.#lastEvent = 0
      this.#tablets = ''
    }
    this.#newBounds = []
    const { columns, last } = recording.after(this.#lastColumn)
    const before = isWhole ? earlier(this.#fleet, nowMs) : []
    this.#untold = this.#untold.concat(before, columns)
    this.#lastColumn = last
    const news = events.filter(({ sequence }) => sequence > this.#lastEvent)
    this.#lastEvent = news.at(-1)?.sequence ?? this.#lastEvent
    if (isWhole) this.#boundOf('', 'Entities')
    const tablets = this.#changedTablets()
    const reports: HeatColumnReport[] = []
    let cells = 0
    for (const column of this.#untold) {
      if (cells >= this.cellsMax) break
      reports.push(this.#columnReport(column))
      cells += column.cells.length
      await giveWay(context, cellWork * column.cells.length)
    }
    this.#untold = this.#untold.slice(reports.length)
    return {
      format: 'sixtables-heat-1',
      isWhole,
      atMs: nowMs,
      simulated: settings.simulate,
      scale: settings.scale,
      columns: reports,
      events: news,
      tablets,
      bounds: this.#newBounds,
    }
  }

  #columnReport({ table, atMs, stepMs, cells }: HeatColumn): HeatColumnReport {
    const numbers = Array.from(cells, ({ start, end, values }): HeatCellReport => {
      const bounds = [this.#boundOf(start, table), this.#boundOf(end ?? '', table)] as const
      return [...bounds, ...values.map((value) => Number(value.toPrecision(4)))] as unknown as HeatCellReport
    })
    return { table, atMs, stepMs, cells: numbers }
  }

  #changedTablets(): readonly HeatTabletReport[] | undefined {
    const all: HeatTabletReport[] = []
    for (const { table, id, start, end, server, splitRefusal } of this.#fleet.map.all()) {
      const [from, to] = [this.#boundOf(start, table), this.#boundOf(end ?? '', table)]
      all.push({ table, id, start: from, end: to, server, splitRefusal: splitRefusal?.words })
    }
    const words = JSON.stringify(all)
    if (words === this.#tablets) return undefined
    this.#tablets = words
    return all
  }

  #boundOf(rowKey: RowKey, table: HeatColumn['table']): number {
    const known = this.#known.get(rowKey)
    if (known !== undefined) return known
    if (this.#known.size >= this.knownMax) {
      this.#known.clear()
      this.#known.set('', 0)
    }
    const place = this.#told++
    this.#known.set(rowKey, place)
    this.#newBounds.push({
      hex: rowKeyHex(rowKey),
      words: rowKeyWords(table, rowKey),
      levels: rowKeyLevels(table, rowKey),
    })
    return place
  }
}

/** Columns before the recording, from the tiers: each tier for the time before the finer ones. */
function earlier({ heat, recording }: TabletFleet, nowMs: number): HeatColumn[] {
  const parts: HeatColumn[][] = []
  let toMs = recording.sinceMs ?? Math.floor(nowMs / 1000) * 1000
  for (const [tier, { stepMs, columns }] of heatTiers.entries()) {
    const nextStepMs = heatTiers[tier + 1]?.stepMs ?? stepMs
    toMs = Math.floor(toMs / stepMs) * stepMs
    const fromMs = Math.ceil((nowMs - stepMs * (columns - 1)) / nextStepMs) * nextStepMs
    if (fromMs >= toMs) continue
    parts.unshift([...heat.tierColumns(tier, fromMs, toMs)])
    toMs = fromMs
  }
  return parts.flat()
}
