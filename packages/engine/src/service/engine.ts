/**
 * One store with its log, its ids and its databases: what a process opens.
 *
 *   openEngine({ dir }) ─▶ Engine ─▶ engine.database(project, id) ─▶ lookup, runQuery, commit, …
 *
 * E1  Opening applies what an earlier run committed and did not apply, before anything is answered.
 *     What a reset had begun to delete is gone (reset.ts).
 * E2  A commit acknowledged before close() or a kill is there after the next opening.
 */

import { type CheckOptions, checkStore } from '../check/checker.ts'
import type { CheckReport } from '../check/report.ts'
import { type Scheduler, systemScheduler } from '../clock.ts'
import { CountingLedger, type RequestContext, type RequestContextOptions, requestContext } from '../context.ts'
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText } from '../encoding/ordered.ts'
import { Findings } from '../findings/findings.ts'
import { IdAllocator } from '../ids/allocator.ts'
import { type CataloguedIndex, indexTopic } from '../indexes/catalogue.ts'
import { IndexFile } from '../indexes/index-file.ts'
import { CommitLog } from '../log/commit-log.ts'
import { CommitVersions } from '../log/commit-version.ts'
import { defaultRetention } from '../log/retention.ts'
import { Sequencer } from '../log/sequencer.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import { formatIndex, type IndexDefinition } from '../model/index-definition.ts'
import { ReseededRandom } from '../random.ts'
import type { Kv, KvRow, StoreState } from '../storage/kv.ts'
import { OnDemandRows } from '../tables/on-demand-rows.ts'
import { KvTableView } from '../tables/table.ts'
import type { Finding } from '../tablets/report.ts'
import { Tablets } from '../tablets/tablets.ts'
import { RecentCommits } from '../transactions/recent-commits.ts'
import { Transactions } from '../transactions/transactions.ts'
import type { ExportOptions, ExportReport } from '../transfer/export.ts'
import type { ImportOptions, ImportReport } from '../transfer/import.ts'
import { ApplyHistory } from './apply-history.ts'
import { Database } from './database.ts'
import { databaseTopic } from './database-row.ts'
import type { EngineOptions, EngineTotals } from './engine-options.ts'
import { type EngineSnapshot, restoreSnapshot, type SnapshotParts, takeSnapshot } from './engine-snapshot.ts'
import { Indexes } from './indexes.ts'
import { Inspector } from './inspector.ts'
import { openKv } from './open-kv.ts'
import { QueryIndexes } from './query-indexes.ts'
import { finishReset, giveRoomBack, type ResetScope, resetStore } from './reset.ts'
import { type DatabaseSettings, type Mode, settingsOf } from './settings.ts'
import type { SharedParts } from './shared-parts.ts'
import { type Cancellable, exportDatabase, importDatabase, type TransferParts } from './transfer.ts'
import { TtlSweeper } from './ttl.ts'

/** Opens a store, in memory or on disk, and makes it whole (E1). */
export async function openEngine(options: EngineOptions = {}): Promise<Engine> {
  const kv = options.kv ?? (await openKv(options))
  try {
    const scheduler = options.scheduler ?? systemScheduler
    await finishReset(kv)
    const versions = await CommitVersions.open(kv, scheduler)
    const engine = new Engine(kv, versions, options)
    await engine.recover()
    return engine
  } catch (error) {
    await kv.close()
    throw error
  }
}

export class Engine {
  readonly inspector: Inspector
  /** Where the rows live, how hot each range is, and what was done about it. */
  readonly tablets: Tablets
  /** Composite indexes of all databases. */
  readonly indexes: Indexes
  readonly totals: EngineTotals = { requests: 0, rowsRead: 0, rowsWritten: 0 }
  readonly #kv: Kv
  readonly #scheduler: Scheduler
  readonly #options: EngineOptions
  readonly #versions: CommitVersions
  readonly #log: CommitLog
  readonly #ids: IdAllocator
  /** Resets go one after the other. */
  readonly #resets = new Sequencer()
  readonly #transactions: Transactions
  #settings: DatabaseSettings
  readonly #random: ReseededRandom
  readonly #ttl: TtlSweeper
  readonly #shared: SharedParts
  readonly #databases = new Map<string, Database>()
  /** The one asked for last: mostly it is the next again. */
  #latest: Database | undefined
  readonly #findings: Findings
  #isStoreNew = false
  #closing: Promise<void> | undefined

  constructor(kv: Kv, versions: CommitVersions, options: EngineOptions) {
    this.#kv = kv
    this.#options = options
    this.#versions = versions
    this.#scheduler = options.scheduler ?? systemScheduler
    if (kv instanceof OnDemandRows) kv.attach((code) => this.#databaseByCode(code).indexOptions, this.#scheduler)
    const { mode = 'firestore', apply, indexes, idCollisions, ttl } = options
    this.#settings = settingsOf(mode, {
      ...(indexes === undefined ? {} : { indexes }),
      ...(apply === undefined ? {} : { applyPolicy: apply }),
      ...(idCollisions === undefined ? {} : { idCollisions }),
      ...(ttl === undefined ? {} : { ttlPolicies: ttl }),
    })
    this.#random = new ReseededRandom(BigInt(options.seed ?? 1))
    this.tablets = new Tablets({
      scheduler: this.#scheduler,
      seed: options.seed ?? 1,
      options: options.tablets ?? {},
    })
    this.#findings = new Findings({
      scheduler: this.#scheduler,
      indexInWords: (code, id) => {
        const index = this.#databaseByCode(code).indexes.find((one) => one.id === id)
        return index === undefined ? undefined : formatIndex(index)
      },
      isStoreNew: () => this.#isStoreNew,
      scale: () => this.tablets.settings.scale,
      tablets: () => this.tablets.report().tablets,
      groups: () => this.tablets.groups(),
    })
    const [history, recent] = [new ApplyHistory(), new RecentCommits()]
    this.#log = new CommitLog({
      kv,
      versions,
      scheduler: this.#scheduler,
      random: this.#random,
      retention: options.retention ?? defaultRetention,
      tablets: this.tablets,
      databaseByCode: (code) => this.#databaseByCode(code),
      onApply: (event) => history.note(event),
      onAppend: (append) => {
        recent.add(append)
        this.#findings.noteCommitted(append.records)
      },
      onApplyFailure: (error) => options.onBackgroundFailure?.(error),
      switchedOff: options.switchedOff,
    })
    this.#ids = new IdAllocator({ kv, switchedOff: options.switchedOff })
    this.#transactions = new Transactions({
      kv,
      log: this.#log,
      versions,
      scheduler: this.#scheduler,
      contention: this.tablets.contention,
      recent,
      rulesOf: (code) => this.#databaseByCode(code),
      openTransactionsMax: options.openTransactionsMax,
    })
    this.indexes = new Indexes({
      kv,
      log: this.#log,
      transactions: this.#transactions,
      scheduler: this.#scheduler,
      onRowsChanged: () => this.tablets.recount(),
    })
    this.#shared = {
      kv,
      queryIndexes: new QueryIndexes(this.indexes),
      findings: this.#findings,
      recent,
      transactions: this.#transactions,
      log: this.#log,
      versions,
      view: new KvTableView(kv),
      ids: this.#ids,
      settlement: {
        begin: (context) => this.tablets.begin(context),
        settle: (context) => this.#settle(context),
      },
    }
    this.#ttl = new TtlSweeper({
      kv,
      scheduler: this.#scheduler,
      transactions: this.#transactions,
      context: (signal) => this.tablets.listen(this.context({ signal })),
      databases: () => this.databases(),
      onFailure: (error) => options.onBackgroundFailure?.(error),
    })
    this.inspector = new Inspector({
      kv,
      log: this.#log,
      history,
      databaseByCode: (code) => this.#databaseByCode(code),
    })
  }

  /** Where the rows are, and whether a write has failed. */
  get store(): StoreState {
    return this.#kv
  }

  get mode(): Mode {
    return this.#settings.mode
  }

  /** Transactions that are open now. */
  get openTransactions(): number {
    return this.#transactions.openCount
  }

  /** A context for requests made in this process. */
  context(options: Omit<RequestContextOptions, 'clock' | 'ledger'> = {}): RequestContext {
    return requestContext({ clock: this.#scheduler, ...options })
  }

  /** The database of a project; it needs no creation. `databaseId` is empty for the default database. */
  database(projectId: string, databaseId = ''): Database {
    const latest = this.#latest
    if (latest?.projectId === projectId && latest.databaseId === databaseId) return latest
    const code = databaseCode(projectId, databaseId)
    let database = this.#databases.get(code)
    if (database === undefined) {
      database = new Database(projectId, databaseId, this.#settings, this.#shared)
      this.#databases.set(code, database)
    }
    this.#latest = database
    return database
  }

  /** The databases that this process has spoken of, and those recorded in the store. */
  databases(): readonly Database[] {
    return [...this.#databases.values()]
  }

  /** Changes single settings of all databases, those that come included. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.#settings = { ...this.#settings, ...changed }
    for (const database of this.#databases.values()) database.configure(changed)
  }

  /** Begins the draws anew from a seed, as an engine opened with it has them. */
  reseed(seed: bigint): void {
    this.#random.reseed(seed)
  }

  /** The seed that the draws began with last. */
  get seed(): bigint {
    return this.#random.seed
  }

  /** Settings of databases that come. */
  get settings(): DatabaseSettings {
    return this.#settings
  }

  /** Defines a composite index of a database and builds it over what is stored. Resolves when queries may use it. */
  createIndex(database: Database, definition: IndexDefinition): Promise<CataloguedIndex> {
    return this.indexes.create(database, definition).done
  }

  /** Patterns of use that would cost at scale, in words, the latest first (findings/findings.ts). */
  findings(): readonly Finding[] {
    return this.#findings.findings()
  }

  /** Deletes what has expired now instead of at the next turn. @returns how many entities went */
  sweepExpired(): Promise<number> {
    return this.#ttl.sweep()
  }

  /** Proves that the six tables are what the logs say (check/checker.ts). */
  check({ signal, ...options }: CheckOptions & Cancellable = {}): Promise<CheckReport> {
    const databaseByCode = (code: string): Database => this.#databaseByCode(code)
    const alone = async <T>(task: () => Promise<T>): Promise<T> =>
      this.#log.exclusive(async () => {
        await this.#log.quiesce()
        return this.#log.applier.alone(task)
      })
    return checkStore({ kv: this.#kv, databaseByCode, context: this.context({ signal }), alone }, options)
  }

  /** Writes a database's entities of one moment to files of the managed export format (transfer/export.ts). */
  exportEntities(database: Database, { signal, ...options }: ExportOptions & Cancellable): Promise<ExportReport> {
    return exportDatabase(this.#transferParts(signal), database, options)
  }

  /** Writes the entities of a managed export into a database (transfer/import.ts). */
  importEntities(database: Database, { signal, ...options }: ImportOptions & Cancellable): Promise<ImportReport> {
    return importDatabase(this.#transferParts(signal), database, options)
  }

  #transferParts(signal: AbortSignal | undefined): TransferParts {
    return {
      kv: this.#kv,
      log: this.#log,
      ids: this.#ids,
      scheduler: this.#scheduler,
      context: () => this.tablets.listen(this.context({ signal })),
      pause: () => this.#pause(),
    }
  }

  /**
   * Deletes all data, or what lies in `scope`. Without a scope ids and everything else begin anew, as after a first start;
   * composite indexes stay defined. Requests under way end first.
   */
  async reset(scope: ResetScope = {}, context: RequestContext = this.context()): Promise<void> {
    const parts = {
      ...this.#snapshotParts(),
      database: (projectId: string, databaseId: string) => this.database(projectId, databaseId),
      onGone: () => this.#onGone(scope),
    }
    const ranges = await this.#resets.run(() => resetStore(parts, scope, context))
    await giveRoomBack(this.#kv, ranges, () => this.#closing !== undefined)
  }

  /** The rows of a scope are gone: forgets what was known of them. */
  #onGone({ projectId, databaseId, namespaceId }: ResetScope): void {
    if (projectId === undefined) {
      this.tablets.reset()
      this.#isStoreNew = true
      this.#findings.clear()
    } else this.tablets.recount()
    if (namespaceId === undefined) {
      for (const [code, database] of this.#databases) {
        if (projectId !== undefined && database.projectId !== projectId) continue
        if (databaseId !== undefined && database.databaseId !== databaseId) continue
        this.#databases.delete(code)
        database.successor = () => this.database(database.projectId, database.databaseId)
      }
      this.#latest = undefined
    }
    for (const database of this.#databases.values()) database.forgetRows()
  }

  /** Keeps what the store holds now, for {@link restore}. Costs next to nothing. @throws UNIMPLEMENTED on disk */
  snapshot(): Promise<EngineSnapshot> {
    return takeSnapshot(this.#snapshotParts())
  }

  /**
   * Makes the store what it was when the snapshot was made, however much it holds: entities, ids, composite indexes, log.
   * Settings stay, commit versions go on rising, open transactions end. The snapshot stays good.
   */
  async restore(snapshot: EngineSnapshot): Promise<void> {
    await restoreSnapshot(this.#snapshotParts(), snapshot)
    this.tablets.reset()
    this.indexes.open(this.databases())
  }

  #snapshotParts(): SnapshotParts {
    return {
      kv: this.#kv,
      log: this.#log,
      ids: this.#ids,
      versions: this.#versions,
      transactions: this.#transactions,
      indexes: this.indexes,
      context: () => this.context(),
      databases: () => this.databases(),
      adoptMetadata: () => this.#adoptMetadata(),
    }
  }

  /** Finishes what is under way, gives ids back (not to a store that has failed) and closes it. A second call waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#ttl.stop()
    this.#transactions.endAll()
    await this.#resets.idle()
    await this.indexes.close()
    await this.#log.close()
    try {
      await this.#ids.close(this.context())
      await this.#kv.mutate(this.#versions.finalCeiling())
    } catch (error) {
      if (this.#kv.failure === undefined) throw error
    } finally {
      await this.#kv.close()
    }
  }

  /** Reads what earlier runs recorded of databases and indexes, then takes over their log. */
  async recover(): Promise<void> {
    await this.#adoptMetadata()
    this.#isStoreNew = await this.#isEmpty()
    await this.#log.recover()
    if (this.#options.rollForward === false) return
    await this.#log.rollForwardAll('opening')
    this.tablets.watch(this.#kv)
    this.#ttl.start()
    await this.useIndexFile()
    await this.indexes.file?.create()
    this.indexes.open(this.databases())
  }

  /**
   * Reads index.yaml, and keeps it up to date from then on. Done on opening, unless that is only for a look.
   *
   * @throws INVALID_ARGUMENT that names file and line when it is not understood
   */
  async useIndexFile(): Promise<void> {
    const { dir, indexFile, onIndexFileTrouble = () => {} } = this.#options
    const path = indexFile ?? (dir === undefined ? false : `${dir}/index.yaml`)
    if (path === false) return
    this.indexes.file = await IndexFile.open({ path, onTrouble: onIndexFileTrouble })
  }

  #isEmpty(): MaybePromise<boolean> {
    const scan = this.#kv.scan({ start: keySpaces.Entities, end: `${keySpaces.Entities}\xff` })
    const first = (): MaybePromise<boolean> => andThen(scan.next(1), (rows) => rows.length === 0)
    return finallyDo(first, () => scan.close())
  }

  #adoptMetadata(): MaybePromise<void> {
    const scan = this.#kv.scan({ start: keySpaces.Metadata, end: `${keySpaces.Metadata}\xff` })
    const step = (): MaybePromise<void> =>
      andThen(scan.next(256), (rows) => {
        for (const row of rows) this.#adopt(row)
        return rows.length === 0 ? undefined : step()
      })
    return finallyDo(step, () => scan.close())
  }

  #adopt({ key, value }: KvRow): void {
    const project = decodeText(key, 1)
    const id = decodeText(key, project.next)
    const topic = decodeText(key, id.next)
    if (topic.value === indexTopic) this.database(project.value, id.value).catalogue.adopt(value)
    else if (topic.value === databaseTopic) this.database(project.value, id.value).adopt(value)
  }

  /** Lets other work of the process in. */
  #pause(): Promise<void> {
    return new Promise((resolve) => this.#scheduler.defer(resolve))
  }

  #databaseByCode(code: string): Database {
    const project = decodeText(code, 0)
    return this.database(project.value, decodeText(code, project.next).value)
  }

  #settle(context: RequestContext): MaybePromise<void> {
    this.totals.requests++
    if (context.ledger instanceof CountingLedger) {
      this.totals.rowsRead += context.ledger.rowsRead
      this.totals.rowsWritten += context.ledger.rowsWritten
    }
    return this.tablets.settle(context)
  }
}
