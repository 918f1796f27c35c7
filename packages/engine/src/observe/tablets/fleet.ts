/**
 * Tablets on their servers: takes the load of operations, and decides every few seconds whether a tablet should be split,
 * merged, moved or compacted.
 *
 *   charge(row, weight) ─▶ its tablet's window and sample ─▶ its server's queue
 *   weight above 1      ─▶ a flow over a time slot, never a burst
 *
 * There is no timer here: overdue work runs at the next operation or report, in its original order and with its original
 * timestamps. The same operations give the same decisions at the same times: randomness is seeded, and there is one clock.
 *
 * F1  No operation is lost: the totals of the tablets add up to all charges and ended flows.   test/property/tablets.test.ts
 */
import type { Random } from '../../random.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { TableId } from '../../tables/table.ts'
import { TabletServer } from './capacity.ts'
import type { TabletSettings } from './defaults.ts'
import { type Flow, RunningFlows } from './flows.ts'
import { HeatHistory } from './heat-history.ts'
import { HeatRecording } from './heat-recording.ts'
import { idlest, movesToBalance } from './placement.ts'
import { rowKeyHex, rowKeyWords } from './range-words.ts'
import type { TabletEvent } from './report.ts'
import { decideSplit, percent, shouldMerge } from './split-policy.ts'
import type { Load, Tablet } from './tablet.ts'
import { TabletMap } from './tablet-map.ts'

/** Decisions about tablets. Each can be replaced; the defaults' docstrings tell what they get and give. */
export interface TabletPolicies {
  readonly split: { readonly decide: typeof decideSplit }
  readonly merge: { readonly decide: typeof shouldMerge }
  readonly placement: { readonly place: typeof idlest; readonly balance: typeof movesToBalance }
}

export const defaultPolicies: TabletPolicies = {
  split: { decide: decideSplit },
  merge: { decide: shouldMerge },
  placement: { place: idlest, balance: movesToBalance },
}

export interface Charge extends Load {
  readonly rowKey: RowKey
  /** Row operations for its server. */
  readonly cost: number
  /** Its wait for the server, and the deleted rows among its reads; default 0. */
  readonly waitMs?: number
  readonly tombstones?: number
  /** Number of such charges; the other numbers are those of one. */
  readonly weight: number
  /** Milliseconds over which it flows; 0 = at once. */
  readonly spreadMs: number
}

/** Milliseconds after which an event repeats that a split is refused for the same reason. */
const refusalAgainMs = 600_000

export class TabletFleet {
  readonly map: TabletMap = new TabletMap()
  readonly heat: HeatHistory
  readonly recording: HeatRecording
  /** The latest events, numbered 1, 2, 3, … so that a reader can continue after the last one. */
  events: TabletEvent[] = []
  #lastEvent = 0
  /** Row operations so far: single ones, and what has flowed of flows. */
  charged = 0
  settings: TabletSettings
  readonly #policies: TabletPolicies
  readonly #random: Random
  servers: TabletServer[] = []
  readonly #flows = new RunningFlows()
  #nowMs: number
  #nextTickMs: number
  #nextDecisionMs: number

  constructor(settings: TabletSettings, random: Random, nowMs: number, policies: TabletPolicies = defaultPolicies) {
    this.settings = settings
    this.#policies = policies
    this.#random = random
    this.heat = new HeatHistory(settings.heatRowsMax)
    this.recording = new HeatRecording(this.heat)
    this.#nowMs = nowMs
    this.#nextTickMs = stepAfter(nowMs, settings.tickMs)
    this.#nextDecisionMs = stepAfter(nowMs, settings.decisionMs)
    this.#makeServers()
  }

  configure(settings: TabletSettings): void {
    this.settings = settings
    this.heat.rowsMax = settings.heatRowsMax
    this.#makeServers()
    // Tablets of removed servers move to the remaining ones.
    for (const tablet of this.map.all()) {
      if (tablet.server < this.servers.length) continue
      tablet.server = this.#policies.placement.place(this.#serverLoads())
      for (const flow of this.#flows.of(tablet)) this.serverOf(tablet).addFlow(this.#nowMs, flow)
    }
  }

  /** Forgets tablets, loads and history; the numbers of events continue. */
  clear(nowMs: number): void {
    this.map.clear()
    this.heat.clear()
    this.recording.clear(nowMs)
    this.#flows.clear()
    this.servers = []
    this.#nowMs = Math.max(nowMs, this.#nowMs)
    this.#makeServers()
  }

  /** The tablet of a row; creates the first tablet of a table that was not used before. */
  tabletOf(table: TableId, rowKey: RowKey): Tablet {
    const tablet = this.map.tabletOf(table, rowKey)
    return tablet ?? this.map.add(table, this.#policies.placement.place(this.#serverLoads()), this.#nowMs)
  }

  serverOf(tablet: Tablet): TabletServer {
    return this.servers[tablet.server] as TabletServer
  }

  /** Adds load to a tablet. The caller has called {@link advance} for this instant. */
  charge(nowMs: number, tablet: Tablet, charge: Charge): void {
    const { rowKey, reads, writes, bytes, cost, weight, spreadMs, waitMs = 0, tombstones = 0 } = charge
    const { settings } = this
    this.heat.addTrouble(tablet.table, rowKey, nowMs, waitMs * weight, 0, tombstones * weight)
    tablet.sample.add(rowKey, nowMs, weight * (reads + writes), this.#random, settings.windowMs)
    this.heat.add(tablet.table, rowKey, nowMs, reads * weight, writes * weight, bytes * weight, spreadMs)
    if (spreadMs <= 0) {
      tablet.count(nowMs, reads * weight, writes * weight, bytes * weight)
      this.charged += (reads + writes) * weight
      if (settings.simulate) this.serverOf(tablet).take(nowMs, cost * weight)
      return
    }
    // Without flows there are no ticks.
    if (this.#flows.size === 0) this.#nextTickMs = stepAfter(nowMs, settings.tickMs)
    const endsMs = stepAfter(nowMs + spreadMs - 0.01, settings.tickMs)
    const ticks = Math.max(1, Math.round((endsMs - this.#nextTickMs) / settings.tickMs) + 1)
    const each = weight / ticks
    const costPerSecond = (cost * weight * 1000) / (endsMs - nowMs)
    const flow: Flow = {
      rowKey,
      reads: reads * each,
      writes: writes * each,
      bytes: bytes * each,
      costPerSecond,
      endsMs,
      tablet,
    }
    this.#flows.add(flow)
    this.serverOf(tablet).addFlow(nowMs, flow)
  }

  /** A refused operation is no load, but shows where load is wanted; otherwise a full tablet would never be split. */
  noteRefused(nowMs: number, tablet: Tablet, rowKey: RowKey, weight: number, cost: number): void {
    this.serverOf(tablet).refuse(nowMs, cost * weight)
    tablet.sample.add(rowKey, nowMs, weight, this.#random, this.settings.windowMs)
    this.heat.addTrouble(tablet.table, rowKey, nowMs, 0, weight, 0)
  }

  /** Runs what is due by an instant: steps of the flows, then splits, compactions, merges and moves. */
  advance(nowMs: number): void {
    this.recording.advance(nowMs)
    if (nowMs > this.#nowMs) this.#nowMs = nowMs
    else if (this.#nowMs - nowMs > this.settings.windowMs) this.#setBack(nowMs)
    if (nowMs < this.#nextTickMs) return
    const { tickMs, decisionMs, mergeAfterMs, windowMs } = this.settings
    while (this.#nextTickMs <= nowMs) {
      const atMs = this.#nextTickMs
      if (this.#flows.size > 0) this.#flow(atMs)
      if (atMs >= this.#nextDecisionMs) {
        this.#decide(atMs)
        this.#nextDecisionMs = stepAfter(atMs, decisionMs)
      }
      this.#nextTickMs = stepAfter(atMs, tickMs)
      if (this.#flows.size > 0) continue
      // No flows: go to the next decision, and skip those that would change nothing.
      const quietMs = 2 * mergeAfterMs + windowMs
      if (nowMs - this.#nextDecisionMs > quietMs) this.#nextDecisionMs = stepAfter(nowMs - quietMs, decisionMs)
      if (this.#nextDecisionMs > this.#nextTickMs) {
        this.#nextTickMs = Math.min(this.#nextDecisionMs, stepAfter(nowMs, tickMs))
      }
    }
  }

  /** Splits the tablet of a row before that row. @returns `false` if a tablet already begins there */
  split(nowMs: number, table: TableId, at: RowKey, reason: TabletEvent['reason'], words: string): boolean {
    const { splitUnavailableMs } = this.settings
    const done = this.map.split(table, at, nowMs)
    if (done === undefined) return false
    const { left, right } = done
    for (const flow of this.#flows.of(left)) if (flow.rowKey >= at) this.#flows.give(flow, right)
    if (splitUnavailableMs > 0) {
      left.unavailableUntilMs = nowMs + splitUnavailableMs
      right.unavailableUntilMs = nowMs + splitUnavailableMs
    }
    const point = rowKeyWords(table, at)
    this.#tell(nowMs, 'split', left, reason, {
      at: point,
      atHex: rowKeyHex(at),
      endHex: rowKeyHex(right.end),
      other: right.id,
      words: `Tablet ${left.id} was split at ${point}: ${words}.`,
    })
    return true
  }

  /** Joins a tablet with its right neighbour. @returns whether it has one */
  merge(nowMs: number, left: Tablet, reason: TabletEvent['reason'], words: string): boolean {
    const tablets = this.map.tabletsOf(left.table)
    const neighbour = tablets[tablets.indexOf(left) + 1]
    if (neighbour === undefined) return false
    if (neighbour.server !== left.server) {
      this.#moveFlows(nowMs, neighbour, left.server)
      left.unavailableUntilMs = nowMs + this.#moveMs()
    }
    const [atHex, endHex] = [rowKeyHex(neighbour.start), rowKeyHex(left.end)]
    this.map.merge(left, neighbour)
    for (const flow of this.#flows.of(neighbour)) this.#flows.give(flow, left)
    this.#tell(nowMs, 'merge', left, reason, {
      atHex,
      endHex,
      other: neighbour.id,
      words: `Tablets ${left.id} and ${neighbour.id} became one: ${words}.`,
    })
    return true
  }

  move(nowMs: number, tablet: Tablet, to: number, reason: TabletEvent['reason'], words: string): boolean {
    if (tablet.server === to || this.servers[to] === undefined) return false
    const fromServer = tablet.server
    this.#moveFlows(nowMs, tablet, to)
    tablet.server = to
    const ms = this.#moveMs()
    tablet.unavailableUntilMs = nowMs + ms
    tablet.coldUntilMs = nowMs + ms + this.settings.warmUpMs
    this.#tell(nowMs, 'move', tablet, reason, {
      fromServer,
      toServer: to,
      words: `Tablet ${tablet.id} moved from server ${fromServer} to ${to} and was unavailable for ${Math.round(ms)} ms: ${words}.`,
    })
    return true
  }

  compact(nowMs: number, tablet: Tablet, reason: TabletEvent['reason'], words: string): void {
    const dropped = tablet.tombstones.clear()
    if (dropped === 0 && reason !== 'asked') return
    this.#tell(nowMs, 'compaction', tablet, reason, {
      words: `A major compaction of tablet ${tablet.id} dropped ${Math.round(dropped).toLocaleString('en')} tombstones: ${words}.`,
    })
  }

  #moveFlows(nowMs: number, tablet: Tablet, to: number): void {
    for (const flow of this.#flows.of(tablet)) {
      this.serverOf(tablet).removeFlow(nowMs, flow)
      this.servers[to]?.addFlow(nowMs, flow)
    }
  }

  /** After the clock was set back: ends running flows; decisions start again. */
  #setBack(nowMs: number): void {
    for (const endsMs of this.#flows.ends()) this.#flow(endsMs)
    this.#nowMs = nowMs
    this.#nextTickMs = stepAfter(nowMs, this.settings.tickMs)
    this.#nextDecisionMs = stepAfter(nowMs, this.settings.decisionMs)
    for (const tablet of this.map.all()) {
      tablet.restartWindow(nowMs)
      tablet.coldUntilMs = 0
    }
  }

  /** One tick of all flows; ends those that are over. */
  #flow(atMs: number): void {
    const { tickMs } = this.settings
    for (const [tablet, { reads, writes, bytes }] of this.#flows.sums) {
      tablet.count(atMs - tickMs, reads, writes, bytes)
      this.charged += reads + writes
    }
    for (const flow of this.#flows.takeEnded(atMs)) this.serverOf(flow.tablet).removeFlow(atMs, flow)
  }

  #decide(nowMs: number): void {
    const { settings } = this
    for (const table of this.map.tables()) {
      for (const tablet of [...this.map.tabletsOf(table)]) {
        const { reads, writes } = tablet.load(nowMs, settings.windowMs)
        tablet.opsPerSecond = reads + writes
        this.#decideSplit(nowMs, tablet)
        this.#decideCompaction(nowMs, tablet)
      }
      this.#decideMerges(nowMs, table)
    }
    this.#balance(nowMs)
    this.heat.adapt(nowMs)
  }

  #decideSplit(nowMs: number, tablet: Tablet): void {
    const { settings } = this
    const words = (rowKey: RowKey): string => rowKeyWords(tablet.table, rowKey)
    const candidate = {
      start: tablet.start,
      end: tablet.end ?? '\uffff',
      opsPerSecond: tablet.opsPerSecond,
      ageMs: nowMs - tablet.windowStartMs,
      sinceSplitMs: nowMs - tablet.splitAtMs,
      bytes: tablet.bytes,
      samples: () => tablet.sample.since(nowMs - settings.windowMs),
      rowSample: () => tablet.rowSample,
    }
    const decision = this.#policies.split.decide(candidate, settings, words)
    if (decision === undefined) {
      tablet.splitRefusal = undefined
    } else if ('at' in decision) {
      this.split(nowMs, tablet.table, decision.at, decision.reason, decision.words)
    } else {
      const { refusal } = decision
      const isNews = tablet.splitRefusal?.reason !== refusal.reason || nowMs - tablet.refusedMs >= refusalAgainMs
      tablet.splitRefusal = refusal
      if (!isNews) return
      tablet.refusedMs = nowMs
      const words = `Tablet ${tablet.id} has ${Math.round(tablet.opsPerSecond).toLocaleString('en')} row operations a second and was not split: ${refusal.words}.`
      this.#tell(nowMs, 'split-refused', tablet, 'load', { words })
    }
  }

  #decideCompaction(nowMs: number, tablet: Tablet): void {
    const { compactAfterMs, compactRestMs, compactShare, compactTombstonesMin } = this.settings
    const { tombstones, rows } = tablet
    if (tombstones.count === 0) return
    if (nowMs - tombstones.oldestMs >= compactAfterMs) {
      this.compact(nowMs, tablet, 'cold', `the oldest was ${Math.round(compactAfterMs / 60_000)} minutes old`)
    } else if (tombstones.count >= compactTombstonesMin && tombstones.count > rows * compactShare) {
      if (nowMs - tombstones.oldestMs < compactRestMs) return
      const each = rows < 1 ? 'and no rows' : `${Math.round((tombstones.count / rows) * 100)} for every 100 rows`
      this.compact(nowMs, tablet, 'size', `there were ${each}`)
    }
  }

  #decideMerges(nowMs: number, table: TableId): void {
    const tablets = this.map.tabletsOf(table)
    const of = ({ opsPerSecond, bytes, windowStartMs }: Tablet) => ({
      opsPerSecond,
      bytes,
      ageMs: nowMs - windowStartMs,
    })
    for (let i = 0; i + 1 < tablets.length; i++) {
      const [left, right] = [tablets[i] as Tablet, tablets[i + 1] as Tablet]
      if (!this.#policies.merge.decide(of(left), of(right), this.settings)) continue
      left.opsPerSecond += right.opsPerSecond
      this.merge(nowMs, left, 'cold', 'both had been cold for a while')
    }
  }

  #balance(nowMs: number): void {
    const loads = this.#serverLoads()
    const tablets = this.map.all()
    const placed = tablets.map(({ id, server, opsPerSecond, unavailableUntilMs }) => {
      return { id, server, opsPerSecond, movable: unavailableUntilMs <= nowMs }
    })
    for (const { tablet: id, to } of this.#policies.placement.balance(placed, loads, this.settings)) {
      const tablet = tablets.find((one) => one.id === id)
      if (tablet === undefined) continue
      const share = (loads[tablet.server] ?? 0) / this.settings.opsPerSecond
      this.move(nowMs, tablet, to, 'balance', `its server was at ${percent(share)} of its capacity`)
    }
  }

  /** Row operations a second by server; one with idle tablets counts as slightly busier than an empty one. */
  #serverLoads(): number[] {
    const loads = new Array<number>(this.servers.length).fill(0)
    for (const { server, opsPerSecond } of this.map.all()) loads[server] = (loads[server] ?? 0) + opsPerSecond + 0.001
    return loads
  }

  #makeServers(): void {
    const { servers, opsPerSecond, queueMsMax } = this.settings
    this.servers.length = Math.min(this.servers.length, servers)
    for (const server of this.servers) {
      server.capacity = opsPerSecond
      server.queueMsMax = queueMsMax
    }
    while (this.servers.length < servers) {
      this.servers.push(new TabletServer(this.servers.length, this.#nowMs, opsPerSecond, queueMsMax))
    }
  }

  #moveMs(): number {
    const { moveMsMin, moveMsMax } = this.settings
    return moveMsMin + this.#random.next() * (moveMsMax - moveMsMin)
  }

  #tell(
    atMs: number,
    kind: TabletEvent['kind'],
    { table, id, start, end }: Tablet,
    reason: TabletEvent['reason'],
    more: Pick<TabletEvent, 'words'> & Partial<TabletEvent>,
  ): void {
    const { at, atHex, other, fromServer, toServer, words } = more
    const range = { startHex: rowKeyHex(start), endHex: more.endHex ?? rowKeyHex(end) }
    const event = { atMs, kind, table, tablet: id, at, atHex, ...range, other, fromServer, toServer, reason, words }
    this.events.push({ sequence: ++this.#lastEvent, ...event })
    const { eventsMax } = this.settings
    if (this.events.length > eventsMax * 1.25) this.events = this.events.slice(-eventsMax)
  }
}

/** The first multiple of `stepMs` after an instant. */
function stepAfter(nowMs: number, stepMs: number): number {
  return (Math.floor(nowMs / stepMs) + 1) * stepMs
}
