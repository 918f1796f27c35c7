/**
 * The tablets of an engine, as people and other packages see them: reports, heat, events, and the controls of a teacher.
 *
 *   engine.tablets.report() · heat() · watchHeat() · events(after) · groups() · split() · merge() · move() · compact() · onSample()
 *
 * Reports change nothing; they only run work that was already due.
 */
import type { Scheduler } from '../../clock.ts'
import type { RequestContext } from '../../context.ts'
import { rowKeyParts } from '../../encoding/pretty.ts'
import { invalidArgument } from '../../errors.ts'
import { seededRandom } from '../../random.ts'
import { runAtOnce, runInSlices } from '../../slices.ts'
import type { RowKey } from '../../storage/kv.ts'
import { entityRowOf } from '../../tables/entities.ts'
import { rowsOf } from '../../tables/rows.ts'
import type { TableId } from '../../tables/table.ts'
import type { Contention } from '../../transactions/contended-rows.ts'
import { CommitCharges } from './commit-charges.ts'
import { type TabletSettings, tabletSettings } from './defaults.ts'
import { defaultPolicies, TabletFleet, type TabletPolicies } from './fleet.ts'
import { GroupLoad } from './group-load.ts'
import { HeatReader } from './heat-reader.ts'
import { Metering, type SampleListener } from './metering.ts'
import { rowKeyHex } from './range-words.ts'
import type {
  GroupReport,
  HeatOptions,
  HeatRecordingReport,
  HeatReport,
  TabletEvent,
  TabletLoad,
  TabletsReport,
  WadingTablet,
} from './report.ts'
import { RowCounts, type RowWalk } from './row-counts.ts'
import type { Tablet } from './tablet.ts'
import { heatReport, placeOf, tabletsReport } from './tablets-report.ts'

/** A seed of its own, so that the engine's draws stay the same: tests replay them. */
const ownSeed = 0x7ab1e7

export interface TabletOptions extends Partial<TabletSettings> {
  readonly policies?: Partial<TabletPolicies>
}

export class Tablets {
  readonly metering: Metering
  readonly rows: RowCounts
  readonly commits: CommitCharges
  readonly groupLoad: GroupLoad = new GroupLoad()
  readonly contention: Contention = (what, groups) => {
    this.metering.chargeWaiting()
    for (const group of groups) this.groupLoad[what](group, this.metering.nowMs())
  }
  readonly #fleet: TabletFleet
  readonly #openedMs: number
  #simulated: (isSimulating: boolean) => void = () => {}

  constructor(scheduler: Scheduler, seed: number, { policies, ...changed }: TabletOptions) {
    const random = seededRandom(seed ^ ownSeed)
    this.#openedMs = Number(scheduler.nowMicros()) / 1000
    this.#fleet = new TabletFleet(tabletSettings(changed), random, this.#openedMs, { ...defaultPolicies, ...policies })
    this.metering = new Metering({ fleet: this.#fleet, groups: this.groupLoad, scheduler, random })
    this.rows = new RowCounts({ fleet: this.#fleet, random, scheduler })
    const { metering, rows, groupLoad: groups } = this
    this.commits = new CommitCharges({ fleet: this.#fleet, metering, rows, groups, scheduler })
  }

  get settings(): TabletSettings {
    return this.#fleet.settings
  }

  /** Row operations charged so far; flows count as they flow. */
  get charged(): number {
    this.#now()
    return this.#fleet.charged
  }

  configure(changed: Partial<TabletSettings>): void {
    this.#now()
    this.#fleet.configure(tabletSettings(changed, this.#fleet.settings))
    this.metering.takeAll()
    this.#simulated(this.settings.simulate)
    if (this.settings.simulate) this.rows.want()
  }

  /** Tells `simulated` whether capacity is simulated: now, and whenever settings change. */
  whileSimulating(simulated: (isSimulating: boolean) => void): void {
    this.#simulated = simulated
    simulated(this.settings.simulate)
  }

  /** Counts the rows of a store from the first report on. @param rows - all rows as of the call, in any order */
  watch(rows: () => RowWalk): void {
    this.rows.source = rows
    if (this.settings.simulate) this.rows.want()
  }

  /** Resolves when the rows of every tablet are counted; the first {@link report} only starts that. */
  counted(): Promise<void> {
    return this.rows.counted()
  }

  report(): TabletsReport {
    return runAtOnce(this.#reportSteps())
  }

  /** {@link report}, while other calls run. It has tablets as they were before a split or merge meanwhile. */
  async reportInSlices(context: RequestContext): Promise<TabletsReport> {
    return runInSlices(context, this.#reportSteps())
  }

  /** The load of each tablet of a table, as in {@link report}, without its bounds in words. */
  loads(table: TableId): readonly TabletLoad[] {
    const nowMs = this.#now()
    this.rows.want()
    return this.#fleet.map.tabletsOf(table).map((tablet) => {
      const { reads, writes } = tablet.load(nowMs, this.settings.reportWindowMs)
      return { id: tablet.id, server: tablet.server, readsPerSecond: reads, writesPerSecond: writes }
    })
  }

  /** The tablets with scans over deleted rows: few, so that only their bounds are put into words. */
  wading(): readonly WadingTablet[] {
    this.#now()
    this.rows.want()
    return this.#fleet.map.all().flatMap((tablet) => {
      const { wading } = tablet
      return wading === undefined ? [] : [{ ...placeOf(tablet), wading }]
    })
  }

  #reportSteps(): Generator<number, TabletsReport> {
    const nowMs = this.#now()
    this.rows.want()
    const counted = this.rows.source !== undefined
    const requests = this.metering.latencies.report(nowMs, this.settings.reportWindowMs, this.#openedMs)
    return tabletsReport(this.#fleet, nowMs, { counted, requests })
  }

  heat(options: HeatOptions = {}): HeatReport {
    return heatReport(this.#fleet, this.#now(), options)
  }

  /** Counts every operation and records each second of heat (heat-recording.ts), until the reader ends. */
  watchHeat(): HeatReader {
    const { recording } = this.#fleet
    recording.watch(this.#now())
    this.metering.takeAll()
    // Tombstones are noted once rows are counted.
    this.rows.want()
    return this.#reader(() => recording.unwatch(this.#now()))
  }

  /** The recorded heat and the time before it, like the first reports of {@link watchHeat}, without watching. */
  heatRecording(context: RequestContext): Promise<HeatRecordingReport> {
    const reader = this.#reader(() => {})
    reader.cellsMax = Number.POSITIVE_INFINITY
    return reader.read(context)
  }

  #reader(end: () => void): HeatReader {
    return new HeatReader(this.#fleet, this.#now.bind(this), end)
  }

  events(afterSequence = 0): readonly TabletEvent[] {
    this.#now()
    return this.#fleet.events.filter(({ sequence }) => sequence > afterSequence)
  }

  /** Entity groups under load, those with conflicts and waits first. */
  groups(limit = 20): readonly GroupReport[] {
    const nowMs = this.#now()
    const { reportWindowMs } = this.settings
    return this.groupLoad.busiest(nowMs, reportWindowMs, limit).map(({ group, ...rates }) => ({
      group: (rowKeyParts(entityRowOf(group)) ?? []).join(', '),
      logHex: rowKeyHex(rowsOf('Log', group).start),
      ...rates,
    }))
  }

  /** A major compaction of the tablets of one table or of all: removes tombstones. */
  compact(table?: TableId): void {
    const nowMs = this.#now()
    for (const tablet of this.#fleet.map.all()) {
      if (table === undefined || tablet.table === table)
        this.#fleet.compact(nowMs, tablet, 'asked', 'requested by a call')
    }
  }

  /** Splits the tablet of a row before that row. @throws INVALID_ARGUMENT if a tablet already begins there */
  split(table: TableId, rowKey: RowKey): void {
    const nowMs = this.#now()
    this.#fleet.tabletOf(table, rowKey)
    if (this.#fleet.split(nowMs, table, rowKey, 'asked', 'requested by a call')) return
    throw invalidArgument(`a tablet of ${table} begins at this row already; name a row inside of a tablet`)
  }

  /** Joins a tablet with its right neighbour. @throws INVALID_ARGUMENT */
  merge(tablet: number): void {
    const nowMs = this.#now()
    if (this.#fleet.merge(nowMs, this.#find(tablet), 'asked', 'requested by a call')) return
    throw invalidArgument(`tablet ${tablet} is the last of its table; it has no neighbour to the right`)
  }

  /** Moves a tablet to a server. @throws INVALID_ARGUMENT */
  move(tablet: number, server: number): void {
    const nowMs = this.#now()
    if (this.#fleet.move(nowMs, this.#find(tablet), server, 'asked', 'requested by a call')) return
    throw invalidArgument(`tablet ${tablet} cannot move to server ${server}: it is there, or there is no such server`)
  }

  /** Calls `listener` for each charged operation. @returns a function that ends this */
  onSample(listener: SampleListener): () => void {
    this.metering.chargeWaiting()
    this.metering.listeners.add(listener)
    return () => this.metering.listeners.delete(listener)
  }

  /** tablet-map/T1, for tests. */
  check(): void {
    this.metering.chargeWaiting()
    this.#fleet.map.check()
  }

  /** The tablets of a table between two rows, left to right; none if the table was not used. */
  between(table: TableId, from: RowKey, through: RowKey): readonly Tablet[] {
    this.#now()
    return this.#fleet.map.tabletsBetween(table, from, through)
  }

  all(): readonly Tablet[] {
    this.metering.chargeWaiting()
    return this.#fleet.map.all()
  }

  /** Starts again: one tablet per table, no load, no history. The store was emptied or replaced. */
  reset(): void {
    this.#fleet.clear(this.#now())
    this.commits.reset()
    this.groupLoad.clear()
    this.rows.recount()
  }

  #find(id: number): Tablet {
    const tablet = this.#fleet.map.all().find((one) => one.id === id)
    if (tablet === undefined) throw invalidArgument(`there is no tablet ${id}; the report lists those that there are`)
    return tablet
  }

  #now(): number {
    const nowMs = this.metering.nowMs()
    this.metering.chargeWaiting()
    this.#fleet.advance(nowMs)
    return nowMs
  }
}
