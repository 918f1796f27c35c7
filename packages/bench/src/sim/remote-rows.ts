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

export interface RowCapacity {
  /** Mean round trip of a call, without its work; each call draws its own, up to a fifth more or less. */
  readonly callMs: number
  readonly conditionalMs: number
  readonly servers: number
  readonly opsPerSecond: number
}

/** Counts of conditional writes of one type of rows. */
export interface Conditionals {
  readonly tried: number
  /** Writes whose condition held. */
  readonly won: number
}

/** The servers of the rows: the time at which each server, and each row, is free again. */
export class RowServers {
  /** While false, calls take no time, for opening gateways and filling the store. */
  isOn = false
  readonly clock: VirtualClock
  readonly #capacity: RowCapacity
  readonly #random: Random
  readonly #serverFreeMs = new Map<number, number>()
  readonly #rowFreeMs = new Map<RowKey, number>()
  #ofClock: Conditionals = { tried: 0, won: 0 }
  #ofGroups: Conditionals = { tried: 0, won: 0 }

  constructor(clock: VirtualClock, capacity: RowCapacity, random: Random) {
    this.clock = clock
    this.#capacity = capacity
    this.#random = random
  }

  /** Conditional writes of the clock row. */
  get ofClock(): Conditionals {
    return this.#ofClock
  }

  /** Conditional writes of rows of entity groups. */
  get ofGroups(): Conditionals {
    return this.#ofGroups
  }

  /** Counts a conditional write; the family that it changes tells the type of its row. */
  count(changes: RowChange['changes'], won: boolean): void {
    const counted = ({ tried, won: before }: Conditionals) => ({ tried: tried + 1, won: before + (won ? 1 : 0) })
    const changesFamily = (name: 'g' | 'h') => changes.some((change) => 'family' in change && change.family === name)
    if (changesFamily('g')) this.#ofClock = counted(this.#ofClock)
    if (changesFamily('h')) this.#ofGroups = counted(this.#ofGroups)
  }

  /** Half a round trip. */
  way(): Promise<void> {
    return this.clock.sleep((this.#capacity.callMs / 2) * (0.8 + this.#random.next() * 0.4))
  }

  /** Resolves after each of the rows had its turn. */
  async turns(keys: readonly RowKey[], isConditional: boolean): Promise<void> {
    const { servers, opsPerSecond, conditionalMs } = this.#capacity
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
