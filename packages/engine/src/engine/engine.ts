/**
 * An open store with its log, ids and databases.
 *
 *   openEngine({ dir }) ─▶ Engine ─▶ engine.database(project, id) ─▶ lookup, runQuery, commit, …
 *
 * E1  Opening applies what an earlier run committed and did not apply, before anything is answered.
 * E2  A commit acknowledged before close() or a kill is there after the next opening.
 */
import { type CheckOptions, checkStore } from '../check/checker.ts'
import type { CheckReport } from '../check/report.ts'
import type { RequestContext, RequestContextOptions } from '../context.ts'
import type { CommitRequest, CommitResult } from '../database/api.ts'
import type { Database } from '../database/database.ts'
import type { LocalParts } from '../database/database-parts.ts'
import type { Indexes } from '../database/index-builds/indexes.ts'
import type { DatabaseSettings, Mode } from '../database/settings.ts'
import { failedPrecondition } from '../errors.ts'
import type { CataloguedIndex } from '../indexes/catalogue.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { IndexDefinition } from '../model/index-definition.ts'
import type { Key } from '../model/key.ts'
import type { CommitFeed } from '../observe/feed/commit-feed.ts'
import { type CommitPreview, previewMutations } from '../observe/feed/preview.ts'
import type { Finding } from '../observe/findings/finding-kinds.ts'
import type { Inspector } from '../observe/inspect/inspector.ts'
import type { Tablets } from '../observe/tablets/tablets.ts'
import { Sequencer } from '../sequencer.ts'
import type { StoreState } from '../storage/kv.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'
import type { ExportOptions, ExportReport } from '../transfer/export.ts'
import type { ImportOptions, ImportReport } from '../transfer/import.ts'
import type { EngineOptions, EngineTotals } from './engine-options.ts'
import type { EngineParts } from './engine-parts.ts'
import { type EngineSnapshot, noSnapshots, restoreSnapshot, takeSnapshot } from './engine-snapshot.ts'
import { openParts, useIndexFile } from './opening.ts'
import { type ResetScope, refuseHalfScope, resetStore } from './reset.ts'
import type { PlaceSource, StoreFigures } from './store-port.ts'

export interface Cancellable {
  /** Stops between two batches. An export then deletes its folder; an import keeps the entities written so far. */
  readonly signal?: AbortSignal | undefined
}

/** Opens a store, in memory or on disk, and finishes the work of earlier runs (E1). */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  return new Engine(await openParts(options))
}

export class Engine {
  readonly inspector: Inspector
  /** The tablets: key ranges, their load and their splits. */
  readonly tablets: Tablets
  readonly indexes: Indexes
  readonly totals: EngineTotals
  readonly feed: CommitFeed
  readonly #parts: EngineParts
  readonly #resets = new Sequencer()
  #closing: Promise<void> | undefined

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.inspector = parts.inspector
    this.tablets = parts.tablets
    this.indexes = parts.indexes
    this.totals = parts.totals
    this.feed = parts.feed
  }

  /** Location of the rows, and whether a write has failed. */
  get store(): StoreState {
    return this.#parts.place.port?.state ?? this.#parts.kv
  }

  get mode(): Mode {
    return this.#parts.databases.settings.mode
  }

  /** Whether other processes write to the same store, so that it can change at any time. */
  get hasOtherWriters(): boolean {
    return this.#parts.place.port !== undefined
  }

  /** Figures of this process at a shared store; `undefined` = the store belongs to this process alone. */
  get storeFigures(): StoreFigures | undefined {
    return this.#parts.place.port?.figures
  }

  /** The reason why resets are refused; absent = they are allowed. */
  get resetRefusal(): string | undefined {
    return this.#parts.place.port?.resetRefusal
  }

  /** Rows written and deleted by applying commits, since the start. */
  get rowsApplied(): number {
    return this.#parts.tablets.commits.rowsApplied
  }

  get openTransactions(): number {
    return this.#parts.verbs.openCount
  }

  get waitingRecords(): number {
    return this.#parts.place.local?.log.pending.count ?? 0
  }

  context(options: Omit<RequestContextOptions, 'clock' | 'ledger'> = {}): RequestContext {
    return this.#parts.context(options)
  }

  /** The database of a project; it needs no creation. `databaseId` is empty for the default database. */
  database(projectId: string, databaseId = ''): Database {
    return this.#parts.databases.of(projectId, databaseId)
  }

  /** The kept databases: recorded in the store, or with settings or indexes of their own. */
  databases(): readonly Database[] {
    return this.#parts.databases.all()
  }

  /** Changes single settings of all databases, later ones included. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.#parts.place.port?.checkSettings(changed)
    this.#parts.databases.configure(changed)
  }

  /** Starts the random draws again from a seed, as in an engine opened with it. */
  reseed(seed: bigint): void {
    this.#parts.random.reseed(seed)
  }

  get seed(): bigint {
    return this.#parts.random.seed
  }

  /** Settings of databases that are created later. */
  get settings(): DatabaseSettings {
    return this.#parts.databases.settings
  }

  /** Defines a composite index of a database and builds it. Resolves when queries can use it. */
  createIndex(database: Database, definition: IndexDefinition): Promise<CataloguedIndex> {
    return this.indexes.create(database, definition).done
  }

  /** Patterns of use that are expensive at scale, in words, the latest first (observe/findings/findings.ts). */
  findings(): readonly Finding[] {
    return this.#parts.findings.findings()
  }

  /** The rows that a commit of the request would write and delete now; writes nothing (observe/feed/preview.ts). */
  preview(database: Database, context: RequestContext, request: CommitRequest): MaybePromise<CommitPreview> {
    const { kv, place, scheduler } = this.#parts
    const versions = place.local?.versions ?? { readTime: () => scheduler.nowMicros() }
    return previewMutations({ database, kv, log: place.local?.log, versions }, context, request)
  }

  /** Deletes expired entities now. @returns the number of deleted entities */
  sweepExpired(): Promise<number> {
    return this.#parts.ttl.sweep()
  }

  /** Proves that the six tables are what the logs say (check/checker.ts). */
  async check({ signal, ...options }: CheckOptions & Cancellable = {}): Promise<CheckReport> {
    const { kv, place, databases } = this.#parts
    const source = place.port === undefined ? localSource(place.local) : place.port.checkSource(options.repair === true)
    const rulesOf = (code: string): IndexRules => databases.byCode(code).checkRules
    const context = this.context({ signal })
    try {
      return await checkStore({ kv, ...source, rulesOf, context }, options)
    } finally {
      if (options.repair === true) this.feed.reload({ reason: 'repair' })
    }
  }

  /** Writes the entities of a database at one moment to files of the managed export format (transfer/export.ts). */
  async exportEntities({ code }: Database, { signal, ...options }: ExportOptions & Cancellable): Promise<ExportReport> {
    // Loaded when it is used, as few stores are exported.
    const { atSnapshot, exportEntities } = await import('../transfer/export.ts')
    const { place, scheduler } = this.#parts
    const context = this.#parts.backgroundContext(signal)
    const atOneMoment = <T>(work: (view: TableView) => Promise<T>): Promise<T> =>
      place.port === undefined ? atSnapshot(context, place.local, code, work) : place.port.atOneMoment(code, work)
    return await exportEntities({ scheduler, context, database: code, atOneMoment }, options)
  }

  /** Writes the entities of a managed export into a database (transfer/import.ts). */
  async importEntities(database: Database, { signal, ...options }: ImportOptions & Cancellable): Promise<ImportReport> {
    const { importEntities } = await import('../transfer/import.ts')
    const { projectId, databaseId } = database
    // Each request of an import has its own context.
    const context = () => this.#parts.backgroundContext(signal)
    const upsert = (entities: readonly Uint8Array[]): MaybePromise<CommitResult> => {
      const mutations = entities.map((entity) => ({ operation: 'upsert', entity }) as const)
      return database.commit(context(), { mode: 'nonTransactional', mutations })
    }
    const reserveIds = (keys: readonly Key[]) => database.reserveIds(context(), keys)
    return await importEntities({ projectId, databaseId, context: context(), reserveIds, upsert }, options)
  }

  /**
   * Deletes all data, or the data in `scope`, after the current requests. Without a scope ids start again, as after a first
   * start, except at a store with other writers; definitions of composite indexes stay.
   */
  async reset(scope: ResetScope = {}, context: RequestContext = this.context()): Promise<void> {
    if (this.resetRefusal !== undefined) throw failedPrecondition(this.resetRefusal)
    const { local, port } = this.#parts.place
    if (port !== undefined) {
      await this.#resets.run(() => port.reset(scope))
      if (scope.projectId === undefined) this.#parts.findings.clear()
      this.#parts.tablets.rows.recount()
      for (const database of this.databases()) database.forgetRows()
      return
    }
    refuseHalfScope(scope)
    await this.#resets.run(() => local.log.exclusive(() => resetStore(this.#parts, local, scope, context)))
  }

  /** Resolves when rows deleted by resets take no disk space any more, or when the engine is closed. */
  async tidy(): Promise<void> {
    await this.#parts.place.local?.kv.tidy?.()
  }

  /** Keeps the current content of the store for {@link restore}; almost free. @throws UNIMPLEMENTED on disk */
  async snapshot(): Promise<EngineSnapshot> {
    return await takeSnapshot(this.#parts, this.#local())
  }

  /**
   * Returns entities, ids, composite indexes and log to the state of the snapshot, at the same cost for any size. Settings stay,
   * commit versions continue to rise, open transactions end. The snapshot can be restored again.
   */
  async restore(snapshot: EngineSnapshot): Promise<void> {
    await restoreSnapshot(this.#parts, this.#local(), snapshot)
    this.tablets.reset()
    this.indexes.open(this.databases())
    this.feed.reload({ reason: 'restore' })
  }

  #local(): LocalParts {
    const { place, kv } = this.#parts
    if (place.port !== undefined) throw noSnapshots(kv, place.port.memoryAdvice)
    return place.local
  }

  /** Finishes current work, gives unused ids back (unless the store failed), and closes it. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { place, ids, indexes, ttl } = this.#parts
    const { local, port } = place
    ttl.stop()
    if (port !== undefined) {
      await indexes.close()
      await port.close()
      return await this.#parts.kv.close()
    }
    const { kv, log, versions, transactions } = local
    transactions.endAll()
    await this.#resets.idle()
    await indexes.close()
    await log.close()
    try {
      await ids.close(this.context())
      await kv.mutate(versions.finalCeiling())
    } catch (error) {
      if (kv.failure === undefined) throw error
    } finally {
      await kv.close()
    }
  }

  /** Reads index.yaml, and keeps it up to date from then on. @throws INVALID_ARGUMENT with file and line */
  useIndexFile(): Promise<void> {
    return useIndexFile(this.#parts)
  }
}

/** The rows of a store of one process at one moment, for a check, and the way to repair them. */
function localSource({ kv, log }: LocalParts): PlaceSource {
  return {
    atOneMoment: async (work) => {
      const snapshot = kv.snapshot()
      return await work(snapshot).finally(() => snapshot.close())
    },
    alone: (task) => log.alone(task),
  }
}
