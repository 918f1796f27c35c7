/**
 * The recordings of the page: the live one and those that were opened, with the axis of each table, planes and tablets.
 *
 * All recordings of a table share its axis, and all pictures one colour scale: what is compared looks comparable.
 */
import { signal } from '@preact/signals'
import type { HeatBound } from '@sixtables/engine'
import { HeatAxis } from '../../model/heat-axis.ts'
import { type Metric, type Plane, planeOf, rowLoads } from '../../model/heat-plane.ts'
import { roundMost } from '../../model/heat-scale.ts'
import { type TabletSpan, tabletSpans } from '../../model/heat-tablets.ts'
import { HeatRecording, type Report } from '../../model/recorded-heat.ts'

export interface Source {
  readonly name: string
  readonly isLive: boolean
  readonly recording: HeatRecording
}

const tableOrder = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'EntitiesByCompositeProperty',
  'Log',
  'IdSequences',
  'Metadata',
]

export class Recordings {
  readonly #axes = new Map<string, HeatAxis>()
  /** Results for a source and a table, until its version is another one. */
  readonly #computed = new Map<string, { readonly version: string; readonly value: unknown }>()
  /** By source and table: the instant up to which columns were taken into the axis. */
  readonly #takenMs = new Map<string, number>()
  readonly changed = signal(0)
  /** Columns of the live recording up to it are shown while it is paused. */
  frozen: { readonly version: number; readonly atMs: number } | undefined
  sources: readonly Source[] = [newLive()]

  get live(): HeatRecording {
    return (this.sources[0] as Source).recording
  }

  addLive(report: Report): void {
    if (report.isWhole) this.#startAnew()
    this.live.add(report)
    this.changed.value++
  }

  open(name: string, report: Report): string {
    const recording = new HeatRecording()
    recording.add(report)
    const isTaken = (one: string): boolean => this.sources.some((source) => source.name === one)
    let unique = name
    for (let i = 2; isTaken(unique); i++) unique = `${name} (${i})`
    this.sources = [...this.sources, { name: unique, isLive: false, recording }]
    this.changed.value++
    return unique
  }

  pause(isPaused: boolean): void {
    this.frozen = isPaused ? { version: this.live.version, atMs: endOf(this.live) } : undefined
    this.changed.value++
  }

  /** The end of what a source shows. */
  endOf({ isLive, recording }: Source): number {
    return isLive && this.frozen !== undefined ? this.frozen.atMs : endOf(recording)
  }

  axisOf(table: string): HeatAxis {
    const known = this.#axes.get(table)
    const axis = known ?? new HeatAxis()
    if (known === undefined) this.#axes.set(table, axis)
    for (const source of this.sources) {
      if (source.isLive && this.frozen !== undefined && known !== undefined) continue
      this.#takeInto(axis, source, table)
    }
    return axis
  }

  /** Values of a table; those of a paused one stay as they were. */
  planeOf(source: Source, table: string, metric: Metric): Plane {
    const axis = this.axisOf(table)
    const { name, isLive, recording } = source
    const version = isLive && this.frozen !== undefined ? this.frozen.version : recording.version
    return this.#kept(['plane', name, table], `${version} ${axis.version} ${metric}`, () => {
      const columns = recording.tables.get(table) ?? []
      return planeOf(columns, axis, metric, { fromMs: recording.fromMs, toMs: this.endOf(source) })
    })
  }

  spansOf({ name, recording }: Source, table: string): readonly TabletSpan[] {
    const make = () => tabletSpans(table, recording.tablets, recording.events)
    return this.#kept(['spans', name, table], String(recording.version), make)
  }

  #kept<T>(names: readonly string[], version: string, make: () => T): T {
    const name = JSON.stringify(names)
    const kept = this.#computed.get(name)
    if (kept?.version === version) return kept.value as T
    const value = make()
    this.#computed.set(name, { version, value })
    return value
  }

  mostOf(shown: readonly Source[], tables: readonly string[], metric: Metric): number {
    let most = 0
    for (const source of shown) {
      for (const table of tables) most = Math.max(most, this.planeOf(source, table, metric).most)
    }
    return roundMost(most)
  }

  tables(shown: readonly Source[]): readonly string[] {
    return tableOrder.filter((table) => shown.some(({ recording }) => recording.tables.has(table)))
  }

  /** The live recording is another one: axes, too, of what is still shown. */
  #startAnew(): void {
    this.sources = [newLive(), ...this.sources.slice(1)]
    this.#axes.clear()
    this.#computed.clear()
    this.#takenMs.clear()
    this.frozen = undefined
  }

  #takeInto(axis: HeatAxis, { name, recording }: Source, table: string): void {
    const key = JSON.stringify([name, table])
    const columns = recording.tables.get(table) ?? []
    const takenMs = this.#takenMs.get(key) ?? Number.NEGATIVE_INFINITY
    const last = columns.at(-1)
    if (last === undefined || last.atMs <= takenMs) return
    this.#takenMs.set(key, last.atMs)
    const fresh = new Set<HeatBound>()
    for (const { atMs, bounds, ends } of columns) {
      if (atMs > takenMs) for (const place of ends) fresh.add(bounds[place] as HeatBound)
    }
    axis.add(fresh, () =>
      rowLoads(
        this.sources.flatMap((one) => one.recording.tables.get(table) ?? []),
        axis,
      ),
    )
  }
}

const newLive = (): Source => ({ name: 'Live', isLive: true, recording: new HeatRecording() })

/** The end of the last whole second. */
function endOf({ atMs }: HeatRecording): number {
  return Math.floor(atMs / 1000) * 1000
}
