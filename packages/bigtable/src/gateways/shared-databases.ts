/** The parts of a process for each database of a shared store, such as its clock row. They can be made again at any time. */
import { entityTables, type ResetScope } from '@sixtables/engine'
import {
  databaseCode,
  getOrInsert,
  isOf,
  parseMetadataRowKey,
  rangesOf,
  refuseHalfScope,
  rowAfter,
  rowsOf,
  type StoreCall,
  type StoreFigures,
  scopeCode,
  transactionTopic,
} from '@sixtables/engine/store'
import type { Wanted } from '../row-store/row-store.ts'
import { type RowsReader, valueInCell } from '../row-store/rows-kv.ts'
import { ClockRow } from './clock-row.ts'
import { clockTopic } from './clock-rows.ts'
import { type ClockState, clockCells, isBusy, latestOf } from './clock-state.ts'
import { ClosedDatabases, deletionRowKey } from './closed-databases.ts'
import { Leases } from './leases.ts'
import { type DatabaseParts, Resolver } from './resolve.ts'
import { SharedCommits } from './shared-commit.ts'
import { momentUpTo } from './shared-reads.ts'
import type { SharedStore } from './shared-store.ts'

/** The range of rows with facts of the whole store, which precedes the metadata of all databases. */
const factsOfStore = rowsOf('Metadata', databaseCode('', ''))
const pageRows = 1_000
const databasesPerCall = 500
/** The latest use of a database that was only found. */
const neverMs = Number.NEGATIVE_INFINITY
const anyRow: Wanted = [
  { family: 'v', newest: 1, withoutValues: true },
  { family: 't', newest: 1, withoutValues: true },
]

export interface SharedDatabase extends DatabaseParts {
  readonly commits: SharedCommits
}

export class SharedDatabases implements StoreFigures {
  readonly store: SharedStore
  readonly closed: ClosedDatabases
  readonly leases: Leases
  readonly #adopt: (database: string) => Promise<void>
  readonly #byCode = new Map<string, SharedDatabase>()
  /** The databases that watch.ts reads, with the time of their latest use here, in steady milliseconds. */
  readonly watched: Map<SharedDatabase, number> = new Map()
  sweptAtMicros: bigint | undefined

  /** @param adopt - reads the stored settings of a database again after its epoch was raised */
  constructor(store: SharedStore, adopt: (database: string) => Promise<void>) {
    this.store = store
    this.closed = new ClosedDatabases(store)
    this.leases = new Leases(store)
    this.#adopt = adopt
  }

  observeCalls(observer: (call: StoreCall) => void): void {
    this.store.rows.observeCalls?.(observer)
  }

  get oldestCommitMs(): number {
    const nowMs = this.store.scheduler.steadyMs()
    return this.all().reduce((most, { clock }) => Math.max(most, nowMs - (clock.oldestMs ?? nowMs)), 0)
  }

  get clockAheadMicros(): bigint | undefined {
    return this.store.comparedClock.aheadMicros
  }

  /** Called when the epoch of a database was raised: looks for a deletion, and reads the stored settings again. */
  async #raised(code: string): Promise<void> {
    this.closed.see(this.of(code), await this.store.kv.get(deletionRowKey(code)))
    await this.#adopt(code)
  }

  /** The parts of a database, which is used now. */
  of(code: string): SharedDatabase {
    const database = this.#known(code)
    this.watched.set(database, this.store.scheduler.steadyMs())
    return database
  }

  #known(code: string): SharedDatabase {
    return getOrInsert(this.#byCode, code, () => {
      const { store } = this
      const clock = new ClockRow(store, code, (raised) => this.#raised(raised))
      const parts = { store, clock, resolver: new Resolver(store, clock) }
      const database = { ...parts, commits: new SharedCommits(parts) }
      this.watched.set(database, neverMs)
      return database
    })
  }

  all(): readonly SharedDatabase[] {
    return [...this.#byCode.values()]
  }

  /** Finds the databases of the store by their clock rows, skipping the rows of their transactions. */
  async find(): Promise<void> {
    const { end } = rowsOf('Metadata')
    for (let { end: start } = factsOfStore; ; ) {
      const rows = await this.store.rows.scanRows({ range: { start, end }, limit: pageRows, wanted: anyRow })
      for (const { key } of rows) {
        const { projectId, databaseId, topic } = parseMetadataRowKey(key)
        const code = databaseCode(projectId, databaseId)
        if (topic === clockTopic) this.#known(code)
        start = topic === transactionTopic ? rowsOf('Metadata', code).end : rowAfter(key)
      }
      if (rows.length < pageRows) return
    }
  }

  async readAll(): Promise<ReadonlyMap<SharedDatabase, ClockState>> {
    await this.find()
    return await this.read(this.all())
  }

  /** Reads clock rows, and whether deletions are running, of a few hundred databases in one call. Those with a list of another gateway are watched. */
  async read(databases: readonly SharedDatabase[]): Promise<ReadonlyMap<SharedDatabase, ClockState>> {
    const states = new Map<SharedDatabase, ClockState>()
    for (let at = 0; at < databases.length; at += databasesPerCall) {
      const keysOf = new Map(
        databases.slice(at, at + databasesPerCall).map((database) => [database, database.clock.keys]),
      )
      const deletions = [...keysOf.keys()].map(({ clock }) => deletionRowKey(clock.database))
      const rows = await this.store.rows.readRows([...deletions, ...[...keysOf.values()].flat()], clockCells)
      for (const [database, keys] of keysOf) {
        const { clock } = database
        // Finishes a deletion whose gateway has died.
        this.closed.see(database, valueInCell(rows.get(deletionRowKey(clock.database))?.cells.v?.[0]))
        const state = (await clock.take(keys.map((key) => rows.get(key)?.cells))) ?? (await clock.read())
        states.set(database, state)
        if (isBusy(state, this.store.gateway) && !this.watched.has(database)) this.watched.set(database, neverMs)
      }
    }
    return states
  }

  /**
   * Deletes the entities of databases, of each at one moment. Composite indexes stay defined. Counters of ids stay too: a gateway completes the keys
   * of a commit before its stamp, so an id that was allocated before the reset may belong to an entity that is put after it.
   */
  async reset(scope: ResetScope): Promise<void> {
    refuseHalfScope(scope)
    await this.find()
    for (const database of this.all()) {
      const { database: code } = database.clock
      if (!code.startsWith(scopeCode(scope))) continue
      const ranges =
        scope.namespaceId === undefined
          ? entityTables.map((space) => rowsOf(space, code))
          : (await rangesOf(this.store.kv, scope)).filter(({ start }) =>
              entityTables.some((space) => isOf(space, start)),
            )
      await this.closed.delete(database, ranges)
    }
  }

  /** The rows of all databases at one moment, up to which every commit is resolved. */
  async now(): Promise<{ readonly at: bigint; readonly rows: RowsReader }> {
    const databases = [...(await this.readAll()).keys()]
    const at = latestOf(this.store.scheduler.nowMicros(), ...databases.map(({ clock }) => clock.given))
    await Promise.all(databases.map((database) => momentUpTo(database, at, 'global')))
    return { at, rows: this.store.kv.at(at) }
  }
}
