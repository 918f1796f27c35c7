/**
 * A simulated store of wide rows behind a network: rows in memory, calls that take virtual time, and servers with a limited rate.
 *
 *   gateway ── half of callMs ──▶ each row: a turn of its server ── conditional write: a turn of the row ──▶ effect ── other half ──▶ gateway
 *
 * A call takes effect at one moment, after the last of its rows had its turn; turns are in the order in which calls arrive. A conditional
 * write blocks other conditional writes of its row for conditionalMs. A call of a gateway that is killed gets no answer; it
 * takes effect if it had already arrived.
 *
 * Ours. A hash of the key chooses the server of a row, as if tablets were spread evenly; a scan counts as one row.
 */
import type { MemoryRows, Row, RowChange, RowCondition, RowScan, RowStore } from '@sixtables/bigtable/gateways'
import type { RowKey } from '@sixtables/engine'
import { fnv, type Random, type VirtualClock } from '@sixtables/engine/testing'
import type { SettingName } from '../settings.ts'

/** The part of an arm's session that simulated gateways and their store need. */
export interface GatewaySession {
  readonly seed: number
  readonly random: Random
  setting(name: SettingName): number
}

/** The servers of the rows: the time at which each server, and each row, is free again. */
export class RowServers {
  /** While false, calls take no time, for opening gateways and filling the store. */
  isOn = false
  /** Conditional writes of the clock row, and of rows of entity groups, by the family that they change. */
  readonly conditionals: Readonly<Record<'g' | 'h', { tried: number; won: number }>> = {
    g: { tried: 0, won: 0 },
    h: { tried: 0, won: 0 },
  }
  readonly clock: VirtualClock
  readonly #session: GatewaySession
  readonly #serverFreeMs = new Map<number, number>()
  readonly #rowFreeMs = new Map<RowKey, number>()

  constructor(clock: VirtualClock, session: GatewaySession) {
    this.clock = clock
    this.#session = session
  }

  /** Counts a conditional write; the family that it changes tells the type of its row. */
  count(changes: RowChange['changes'], won: boolean): void {
    for (const [family, counts] of Object.entries(this.conditionals)) {
      if (!changes.some((change) => 'family' in change && change.family === family)) continue
      counts.tried++
      if (won) counts.won++
    }
  }

  /** Half a round trip, which each call draws: up to a fifth more or less than the setting. */
  way(): Promise<void> {
    const { random } = this.#session
    return this.clock.sleep((this.#session.setting('rows.callMs') / 2) * (0.8 + random.next() * 0.4))
  }

  /** Resolves after each of the rows had its turn. */
  async turns(keys: readonly RowKey[], isConditional: boolean): Promise<void> {
    const session = this.#session
    const [servers, opsPerSecond] = [session.setting('server.count'), session.setting('server.opsPerSecond')]
    const conditionalMs = session.setting('rows.conditionalMs')
    const nowMs = this.clock.steadyMs()
    let doneMs = nowMs
    for (const key of keys) {
      const server = (fnv(key) >>> 0) % servers
      let atMs = Math.max(nowMs, this.#serverFreeMs.get(server) ?? 0) + 1000 / opsPerSecond
      this.#serverFreeMs.set(server, atMs)
      if (isConditional) {
        atMs = Math.max(atMs, this.#rowFreeMs.get(key) ?? 0) + conditionalMs
        this.#rowFreeMs.set(key, atMs)
      }
      doneMs = Math.max(doneMs, atMs)
    }
    await this.clock.sleep(doneMs - nowMs)
  }
}

/** The rows as one gateway sees them. */
export class RemoteRows implements RowStore {
  readonly location = 'simulated rows'
  readonly #rows: MemoryRows
  readonly #servers: RowServers
  #isDead = false

  constructor(rows: MemoryRows, servers: RowServers) {
    this.#rows = rows
    this.#servers = servers
  }

  /** Leaves all calls of this gateway without an answer from now on. */
  kill(): void {
    this.#isDead = true
  }

  readRows(...[keys, wanted]: Parameters<RowStore['readRows']>): Promise<ReadonlyMap<RowKey, Row>> {
    return this.#call(keys, false, () => this.#rows.readRows(keys, wanted))
  }

  scanRows(scan: RowScan): Promise<readonly Row[]> {
    return this.#call([scan.range.start], false, () => this.#rows.scanRows(scan))
  }

  mutateRows(rows: readonly RowChange[]): Promise<void> {
    const keys = rows.map(({ key }) => key)
    return this.#call(keys, false, () => this.#rows.mutateRows(rows))
  }

  mutateRowIf(key: RowKey, condition: RowCondition, changes: RowChange['changes']): Promise<boolean> {
    return this.#call([key], true, async () => {
      const won = await this.#rows.mutateRowIf(key, condition, changes)
      this.#servers.count(changes, won)
      return won
    })
  }

  async close(): Promise<void> {}

  async #call<T>(keys: readonly RowKey[], isConditional: boolean, effect: () => Promise<T>): Promise<T> {
    const servers = this.#servers
    if (!servers.isOn) return await effect()
    if (this.#isDead) return await never
    await servers.way()
    if (this.#isDead) return await never
    await servers.turns(keys, isConditional)
    const answer = await effect()
    await servers.way()
    return this.#isDead ? await never : answer
  }
}

const never = new Promise<never>(() => {})
