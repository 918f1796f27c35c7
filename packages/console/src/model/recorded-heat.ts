/**
 * A recording of heat as `GET /emulator/heat/live` streams it and `/emulator/heat/recording` gives it, ready to be drawn.
 *
 *   report ─▶ bounds, in the order in which they came ─▶ columns of each table: cells [start, end) with six measures
 *
 * Cells of a column are disjoint and ascend; a column stays as it came.
 *
 * HR1  What `saved` gives can be opened, and gives the same again.                                recorded-heat.test.ts
 * HR3  Memory is bounded: an hour of seconds and `cellsMax` cells; the oldest columns go first.   recorded-heat.test.ts
 */
import type {
  Finding,
  HeatBound,
  HeatCellReport,
  HeatRecordingReport,
  HeatTabletReport,
  TableId,
  TabletEvent,
} from '@sixtables/engine'

/** As the server sends it, with findings where they have changed. */
export interface Report extends Omit<HeatRecordingReport, 'tablets'> {
  readonly tablets?: HeatRecordingReport['tablets']
  readonly findings?: readonly Finding[]
}

/** Reads, writes, bytes, milliseconds waited, refusals, tombstones. */
export const measureCount = 6

export interface Column {
  readonly atMs: number
  readonly stepMs: number
  /** Those of its recording. */
  readonly bounds: readonly HeatBound[]
  /** Start and end of each cell, as places of bounds. */
  readonly ends: Int32Array
  readonly values: Float32Array
}

export interface Tablet extends Omit<HeatTabletReport, 'start' | 'end'> {
  readonly startHex: string
  readonly endHex: string
}

const secondsMax = 3_600
const cellsMax = 4_000_000
const eventsMax = 2_000

/** The first bound of a cell, and the one that it ends before. */
export function boundsOf({ bounds, ends }: Column, cell: number): readonly [HeatBound, HeatBound] {
  return [bounds[ends[2 * cell] as number] as HeatBound, bounds[ends[2 * cell + 1] as number] as HeatBound]
}

export class HeatRecording {
  version = 0
  readonly tables = new Map<string, Column[]>()
  events: readonly TabletEvent[] = []
  tablets: readonly Tablet[] = []
  findings: readonly Finding[] = []
  atMs = 0
  simulated = false
  scale = 1
  readonly #bounds: HeatBound[] = []

  /** @param report - a whole one first, then those that go on from it */
  add(report: Report): void {
    for (const bound of report.bounds) this.#bounds.push(bound)
    for (const { table, atMs, stepMs, cells } of report.columns) this.#addColumn(table, atMs, stepMs, cells)
    this.#trim(report.atMs - secondsMax * 1000)
    if (report.events.length > 0) this.events = [...this.events, ...report.events].slice(-eventsMax)
    if (report.findings !== undefined) this.findings = report.findings
    if (report.tablets !== undefined) {
      const hexOf = (place: number): string => this.#bounds[place]?.hex ?? ''
      this.tablets = report.tablets.map(({ start, end, ...tablet }) => {
        return { ...tablet, startHex: hexOf(start), endHex: hexOf(end) }
      })
    }
    this.atMs = report.atMs
    this.simulated = report.simulated
    this.scale = report.scale
    this.version++
  }

  get fromMs(): number {
    let first = this.atMs
    for (const columns of this.tables.values()) first = Math.min(first, columns[0]?.atMs ?? first)
    return first
  }

  saved(): Report {
    const places = new Map<number, number>()
    const bounds: HeatBound[] = []
    const local = (place: number): number => {
      const known = places.get(place)
      if (known !== undefined) return known
      places.set(place, bounds.length)
      bounds.push(this.#bounds[place] as HeatBound)
      return bounds.length - 1
    }
    const hexPlace = (wanted: string): number =>
      local(
        Math.max(
          0,
          this.#bounds.findIndex(({ hex }) => hex === wanted),
        ),
      )
    const columns = [...this.tables].flatMap(([table, all]) =>
      all.map(({ atMs, stepMs, ends, values }) => ({
        table: table as TableId,
        atMs,
        stepMs,
        cells: Array.from({ length: ends.length / 2 }, (_, i) => {
          const [start, end] = [local(ends[2 * i] as number), local(ends[2 * i + 1] as number)]
          return [start, end, ...values.subarray(i * measureCount, (i + 1) * measureCount)] as unknown as HeatCellReport
        }),
      })),
    )
    columns.sort((a, b) => a.atMs - b.atMs)
    const tablets = this.tablets.map(({ startHex, endHex, ...tablet }) => {
      return { ...tablet, start: hexPlace(startHex), end: hexPlace(endHex) }
    })
    const { atMs, simulated, scale, events, findings } = this
    const whole = { format: 'sixtables-heat-1', isWhole: true, atMs, simulated, scale } as const
    return { ...whole, bounds, columns, events, tablets, findings }
  }

  #addColumn(table: string, atMs: number, stepMs: number, cells: readonly (readonly number[])[]): void {
    const ends = new Int32Array(cells.length * 2)
    const values = new Float32Array(cells.length * measureCount)
    for (const [i, cell] of cells.entries()) {
      ends[2 * i] = cell[0] as number
      ends[2 * i + 1] = cell[1] as number
      for (let m = 0; m < measureCount; m++) values[i * measureCount + m] = cell[2 + m] ?? 0
    }
    const column = { atMs, stepMs, bounds: this.#bounds, ends, values }
    const columns = this.tables.get(table)
    if (columns === undefined) this.tables.set(table, [column])
    else columns.push(column)
  }

  /** Columns of a second that are older than an hour go; coarser ones stay as long as there is room. */
  #trim(oldestMs: number): void {
    let cells = 0
    for (const [table, columns] of this.tables) {
      const kept = columns.filter(({ atMs, stepMs }) => stepMs > 1000 || atMs >= oldestMs)
      if (kept.length < columns.length) this.tables.set(table, kept)
      for (const { ends } of kept) cells += ends.length / 2
    }
    for (const columns of this.tables.values()) {
      let gone = 0
      while (cells > cellsMax && gone < columns.length) cells -= (columns[gone++]?.ends.length ?? 0) / 2
      columns.splice(0, gone)
    }
  }
}

/** @throws Error in words for people, when the text is no recording */
export function parseRecording(text: string): Report {
  let report: Partial<Report>
  try {
    report = JSON.parse(text) as Partial<Report>
  } catch {
    throw new Error('it is not JSON')
  }
  if (report === null || typeof report !== 'object' || report.format !== 'sixtables-heat-1') {
    throw new Error(
      'its format is not "sixtables-heat-1": open a file that this page, or GET /emulator/heat/recording, saved',
    )
  }
  const { bounds, columns, events } = report
  const isWhole = Array.isArray(bounds) && Array.isArray(columns) && Array.isArray(events)
  if (!isWhole || typeof report.atMs !== 'number') throw new Error('bounds, columns, events or atMs are missing')
  const known = (place: unknown): boolean => Number.isInteger(place) && bounds[place as number] !== undefined
  for (const column of columns) {
    const isColumn = typeof column.atMs === 'number' && column.stepMs > 0 && Array.isArray(column.cells)
    if (!isColumn || !column.cells.every((cell: readonly unknown[]) => known(cell[0]) && known(cell[1]))) {
      throw new Error(`a column of ${String(column.table)} is broken`)
    }
  }
  return { ...(report as Report), isWhole: true }
}
