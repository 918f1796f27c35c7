/**
 * The parts of an engine and how they are wired: what each is told, and what each may ask. The verbs are in engine.ts.
 *
 *   store ─▶ tablets, findings ─▶ place (log and transactions) ─▶ ids ─▶ indexes ─▶ databases ─▶ inspector, expiry
 */
import { type Scheduler, systemScheduler } from '../clock.ts'
import { CountingLedger, type RequestContext, type RequestContextOptions, requestContext } from '../context.ts'
import { Databases } from '../database/databases.ts'
import { LocalIndexWork } from '../database/index-builds/index-work.ts'
import { Indexes } from '../database/index-builds/indexes.ts'
import { LocalReading } from '../database/local-reading.ts'
import type { LocalParts, Place } from '../database/place.ts'
import { QueryIndexes } from '../database/query-indexes.ts'
import { settingsOf, sharedSettings } from '../database/settings.ts'
import type { SharedParts } from '../database/shared-parts.ts'
import type { TransactionVerbs } from '../database/transaction-verbs.ts'
import { fnv } from '../fnv.ts'
import { IdAllocator } from '../ids/allocator.ts'
import { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import { defaultRetention } from '../log/retention.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { formatIndex } from '../model/index-definition.ts'
import { CommitFeed } from '../observe/feed/commit-feed.ts'
import { Findings } from '../observe/findings/findings.ts'
import { ApplyHistory } from '../observe/inspect/apply-history.ts'
import { Inspector } from '../observe/inspect/inspector.ts'
import { AppendQueue } from '../observe/tablets/append-queue.ts'
import { Tablets } from '../observe/tablets/tablets.ts'
import { ReseededRandom } from '../random.ts'
import type { SharedDatabases } from '../shared/shared-databases.ts'
import type { RowKv } from '../storage/kv.ts'
import { KvTableView } from '../tables/table.ts'
import { RecentCommits } from '../transactions/recent-commits.ts'
import { Transactions } from '../transactions/transactions.ts'
import type { EngineOptions, EngineTotals } from './engine-options.ts'
import type { LocalStore, SharedRows } from './open-kv.ts'
import { sweepIntervalMs, TtlSweeper } from './ttl.ts'

/** A store of this process without half a reset. */
export interface WholeStore extends LocalStore {
  readonly versions: CommitVersions
}

export class EngineParts {
  readonly options: EngineOptions
  readonly kv: RowKv
  readonly place: Place
  readonly scheduler: Scheduler
  readonly random: ReseededRandom
  readonly totals: EngineTotals = { requests: 0, rowsRead: 0, rowsWritten: 0 }
  readonly tablets: Tablets
  readonly findings: Findings
  readonly ids: IdAllocator
  readonly verbs: TransactionVerbs
  readonly indexes: Indexes
  readonly databases: Databases
  readonly inspector: Inspector
  readonly feed: CommitFeed = new CommitFeed()
  readonly ttl: TtlSweeper
  /** Whether the store held no entity when it was opened, or reset. */
  isStoreNew = false

  /** Whether it does work that others left, and not only looks. */
  isAtWork = false

  constructor(store: WholeStore | SharedRows, options: EngineOptions) {
    this.options = options
    const kv = store.rowsKv ?? store.kv
    this.kv = kv
    this.scheduler = options.scheduler ?? systemScheduler
    const seed = options.seed ?? 1
    this.random = new ReseededRandom(BigInt(seed))
    this.databases = new Databases(settingsIn(options), () => shared)
    const databaseByCode = this.databases.byCode.bind(this.databases)
    this.tablets = new Tablets({ scheduler: this.scheduler, seed, options: options.tablets ?? {} })
    this.findings = this.#findings()
    const history = new ApplyHistory()
    this.place =
      store.rowsKv === undefined
        ? { local: this.#localParts(store, history) }
        : { shared: this.#sharedDatabases(store), modules: store.modules }
    const { tablets, scheduler, place } = this
    this.ids = new IdAllocator({ kv, switchedOff: options.switchedOff, sharedStore: store.rowsKv !== undefined })
    this.verbs = place.shared === undefined ? place.local.transactions : new place.modules.SharedVerbs(place.shared)
    const onRowsChanged = (): void => {
      tablets.recount()
      this.feed.reload({ reason: 'indexes' })
    }
    const work =
      place.shared === undefined
        ? new LocalIndexWork({ ...place.local, scheduler, onRowsChanged })
        : new place.modules.SharedIndexWork(place.shared)
    this.indexes = new Indexes(work)
    const shared = this.#shared()
    this.ttl = this.#ttl()
    const tabletsBetween = tablets.between.bind(tablets)
    const sharedRows = store.rowsKv?.rows
    const oldestReadable = (): bigint =>
      place.shared === undefined
        ? place.local.log.retention.oldestReadable
        : scheduler.nowMicros() - place.modules.readableMicros
    this.inspector = new Inspector({
      kv,
      sharedRows,
      log: place.local?.log,
      history,
      context: () => this.context(),
      databaseByCode,
      tabletsBetween,
      oldestReadable,
    })
  }

  /** A context for requests made in this process. */
  context(options: Omit<RequestContextOptions, 'clock' | 'ledger'> = {}): RequestContext {
    return requestContext({ clock: this.scheduler, ...options })
  }

  /** A context whose rows the tablets count though no request settles it. */
  backgroundContext(signal: AbortSignal | undefined): RequestContext {
    return this.tablets.listen(this.context({ signal }))
  }

  #findings(): Findings {
    const { tablets, databases, scheduler } = this
    return new Findings({
      scheduler,
      seed: this.options.seed ?? 1,
      indexInWords: (code, id) => {
        const index = databases.byCode(code).indexes.find((one) => one.id === id)
        return index === undefined ? undefined : formatIndex(index)
      },
      isStoreNew: () => this.isStoreNew,
      scale: () => tablets.settings.scale,
      tablets: () => tablets.report().tablets,
      groups: () => tablets.groups(),
    })
  }

  #localParts({ kv, onDemand, versions }: WholeStore, history: ApplyHistory): LocalParts {
    const { scheduler, tablets, databases, options } = this
    const recent = new RecentCommits()
    const log = this.#log({ kv, versions }, history, recent)
    const transactions = new Transactions({
      kv,
      log,
      versions,
      scheduler,
      contention: tablets.contention,
      recent,
      rulesOf: databases.byCode.bind(databases),
      openTransactionsMax: options.openTransactionsMax,
      transactionBytesMax: options.transactionBytesMax,
      switchedOff: options.switchedOff,
    })
    return { kv, onDemand, versions, log, recent, transactions }
  }

  #log({ kv, versions }: Pick<LocalParts, 'kv' | 'versions'>, history: ApplyHistory, recent: RecentCommits): CommitLog {
    const { scheduler, random, tablets, databases, findings, feed, options } = this
    return new CommitLog({
      kv,
      versions,
      scheduler,
      random,
      retention: options.retention ?? defaultRetention,
      gate: new AppendQueue(tablets, scheduler),
      databaseByCode: (code) => databases.byCode(code),
      onCommit: (records, waits) => feed.committed(records, waits),
      onApply: (event) => {
        tablets.commits.applied(event)
        history.note(event)
        feed.applied(event)
      },
      onAppend: (append) => {
        recent.add(append)
        tablets.commits.appended(append)
        if (!append.records[0]?.isUncounted) findings.noteCommitted(append)
      },
      onApplyFailure: (error) => options.onBackgroundFailure?.(error),
      switchedOff: options.switchedOff,
    })
  }

  #sharedDatabases({ rowsKv: kv, modules }: SharedRows): SharedDatabases {
    const { options, scheduler, random, databases } = this
    const store = new modules.SharedStore({
      kv,
      gateway: BigInt(options.shared?.gateway ?? 0),
      groupBytesMax: options.shared?.groupBytesMax,
      scheduler,
      random,
      rulesOf: (code, epoch) => {
        const { catalogue, indexOptions } = databases.byCode(code)
        return { indexes: catalogue.maintainedIn(epoch), indexOptions }
      },
      onFailure: (error) => options.onBackgroundFailure?.(error),
      switchedOff: options.switchedOff,
    })
    return new modules.SharedDatabases(store, async (code) => {
      await databases.adoptMetadata(kv, code)
      if (this.isAtWork) this.indexes.resume([databases.byCode(code)])
    })
  }

  #shared(): SharedParts {
    const { kv, place, indexes, findings, verbs, ids, scheduler } = this
    const settlement = {
      begin: (context: RequestContext) => {
        if (!context.isUncounted) this.tablets.begin(context)
      },
      settle: (context: RequestContext) => this.#settle(context),
    }
    return {
      kv,
      local: place.local,
      queryIndexes: new QueryIndexes(indexes),
      notes: findings,
      statisticsEveryMs: this.options.statisticsEveryMs ?? 0,
      transactions: verbs,
      reading: (database) =>
        place.shared === undefined
          ? new LocalReading(database, { ...place.local, settlement })
          : new place.modules.SharedReading(database, place.shared, settlement),
      versions: place.local?.versions ?? { readTime: () => scheduler.nowMicros() },
      view: new KvTableView(kv),
      ids,
      settlement,
    }
  }

  #ttl(): TtlSweeper {
    const { kv, scheduler, verbs, databases, options } = this
    return new TtlSweeper({
      kv,
      scheduler,
      transactions: verbs,
      context: (signal) => this.backgroundContext(signal),
      databases: () => databases.all(),
      inTurn: (sweep) => this.#sweepInTurn(sweep),
      switchedOff: options.switchedOff,
      onFailure: (error) => options.onBackgroundFailure?.(error),
    })
  }

  /** Sweeps unless another gateway of the store does; a store that does not answer is asked again. */
  async #sweepInTurn(sweep: () => Promise<unknown>): Promise<void> {
    const { databases } = this
    const { shared } = this.place
    if (shared === undefined) {
      await sweep()
      return
    }
    await shared.store.persistently(async () => {
      await shared.find()
      const all = shared.all().map(({ clock }) => databases.byCode(clock.database))
      const policies = all.map(({ code, ttlPolicies }) => [code, ttlPolicies])
      // Gateways with other policies do not keep each other from sweeping.
      const duty = fnv(JSON.stringify(policies))
      if (!all.some(({ ttlPolicies }) => ttlPolicies.length > 0)) return
      if (await shared.leases.take(`ttl ${duty}`, sweepIntervalMs * 0.9)) await sweep()
    })
  }

  #settle(context: RequestContext): MaybePromise<void> {
    if (context.isUncounted) return
    this.totals.requests++
    if (context.ledger instanceof CountingLedger) {
      this.totals.rowsRead += context.ledger.rowsRead
      this.totals.rowsWritten += context.ledger.rowsWritten
    }
    return this.tablets.settle(context)
  }
}

function settingsIn({ mode = 'firestore', apply, indexes, idCollisions, ttl, shared }: EngineOptions) {
  return settingsOf(mode, {
    ...(shared === undefined ? {} : sharedSettings(mode)),
    ...(indexes === undefined ? {} : { indexes }),
    ...(apply === undefined ? {} : { applyPolicy: apply }),
    ...(idCollisions === undefined ? {} : { idCollisions }),
    ...(ttl === undefined ? {} : { ttlPolicies: ttl }),
  })
}
