/**
 * The parts of an engine, and how they are connected. The verbs are in engine.ts.
 *
 *   store ─▶ tablets, findings ─▶ place (log and transactions) ─▶ ids ─▶ indexes ─▶ databases ─▶ inspector, expiry
 */
import { type Scheduler, systemScheduler } from '../clock.ts'
import { CountingLedger, type RequestContext, type RequestContextOptions, requestContext } from '../context.ts'
import { commitHere } from '../database/commit.ts'
import type { DatabaseParts, LocalParts } from '../database/database-parts.ts'
import { Databases } from '../database/databases.ts'
import { LocalIndexWork } from '../database/index-builds/index-work.ts'
import { Indexes } from '../database/index-builds/indexes.ts'
import { LocalReading } from '../database/local-reading.ts'
import { QueryIndexes } from '../database/query-indexes.ts'
import { settingsOf } from '../database/settings.ts'
import type { StoreCommits, TransactionVerbs } from '../database/store-verbs.ts'
import { fnv } from '../fnv.ts'
import { IdAllocator } from '../ids/allocator.ts'
import { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import { defaultRetention } from '../log/retention.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { formatIndex } from '../model/index-definition.ts'
import { CommitFeed } from '../observe/feed/commit-feed.ts'
import { Findings } from '../observe/findings/findings.ts'
import { Inspector } from '../observe/inspect/inspector.ts'
import { AppendQueue } from '../observe/tablets/append-queue.ts'
import { recordsAtOnce } from '../observe/tablets/commit-charges.ts'
import { Tablets } from '../observe/tablets/tablets.ts'
import { ReseededRandom } from '../random.ts'
import { nextTurn } from '../slices.ts'
import type { RowKv } from '../storage/kv.ts'
import { KvTableView } from '../tables/table.ts'
import { RecentCommits } from '../transactions/recent-commits.ts'
import { Transactions } from '../transactions/transactions.ts'
import type { EngineOptions, EngineTotals } from './engine-options.ts'
import type { LocalStore } from './open-kv.ts'
import type { StoreAdapter, StorePort } from './store-port.ts'
import { sweepIntervalMs, TtlSweeper } from './ttl.ts'

export interface WholeStore extends LocalStore {
  readonly versions: CommitVersions
}

/** The location of the rows: a store of this process, or the port of another package. */
export type Place =
  | { readonly local: LocalParts; readonly port?: undefined }
  | { readonly local?: undefined; readonly port: StorePort }

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
  readonly commits: StoreCommits
  readonly indexes: Indexes
  readonly databases: Databases
  readonly inspector: Inspector
  readonly feed: CommitFeed
  readonly ttl: TtlSweeper
  /** Whether the store had no entity when it was opened or reset. */
  isStoreNew = false

  /** Whether the engine continues the work of earlier runs; false for an inspection. */
  isAtWork = false

  constructor(store: WholeStore | StoreAdapter, options: EngineOptions) {
    this.options = options
    this.scheduler = options.scheduler ?? systemScheduler
    const seed = options.seed ?? 1
    this.random = new ReseededRandom(BigInt(seed))
    this.databases = new Databases(settingsIn(options), () => databaseParts)
    this.tablets = new Tablets(this.scheduler, seed, options.tablets ?? {})
    this.findings = this.#findings()
    this.feed = new CommitFeed(this.scheduler, (error) => options.onBackgroundFailure?.(error))
    this.place = 'open' in store ? { port: this.#port(store) } : { local: this.#localParts(store) }
    const { tablets, scheduler, place } = this
    const { kv, transactions } = place.port ?? place.local
    this.kv = kv
    this.ids = new IdAllocator({ kv, switchedOff: options.switchedOff, othersGive: place.port !== undefined })
    this.verbs = transactions
    this.commits = place.port === undefined ? { commit: commitHere.bind(undefined, place.local) } : place.port.commits
    const onRowsChanged = (): void => {
      tablets.rows.recount()
      this.feed.reload({ reason: 'indexes' })
    }
    this.indexes = new Indexes(
      place.port === undefined
        ? new LocalIndexWork({ ...place.local, scheduler, onRowsChanged })
        : place.port.indexWork,
    )
    const databaseParts = this.#databaseParts()
    this.ttl = this.#ttl()
    this.inspector = new Inspector({
      kv,
      logOf: place.port?.logOf,
      log: place.local?.log,
      context: () => this.context(),
      databaseByCode: (code) => this.databases.byCode(code),
      tabletsBetween: tablets.between.bind(tablets),
      oldestReadable: () =>
        place.port === undefined ? place.local.log.retention.oldestReadable : place.port.oldestReadable(),
    })
  }

  context(options: Omit<RequestContextOptions, 'clock' | 'ledger'> = {}): RequestContext {
    return requestContext({ clock: this.scheduler, ...options })
  }

  /** A context whose rows count for the tablets, although no request settles it: nothing is delayed or refused. */
  backgroundContext(signal: AbortSignal | undefined): RequestContext {
    const ledger = new CountingLedger()
    ledger.meter = this.tablets.metering
    return requestContext({ clock: this.scheduler, signal, ledger })
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
      wading: () => tablets.wading(),
      groups: () => tablets.groups(),
    })
  }

  #localParts({ kv, onDemand, versions }: WholeStore): LocalParts {
    const { scheduler, tablets, databases, options } = this
    const recent = new RecentCommits((task) => void nextTurn(scheduler).then(task))
    const log = this.#log({ kv, versions })
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

  #log({ kv, versions }: Pick<LocalParts, 'kv' | 'versions'>): CommitLog {
    const { scheduler, random, tablets, databases, findings, feed, options } = this
    const log = new CommitLog({
      kv,
      versions,
      scheduler,
      random,
      retention: options.retention ?? defaultRetention,
      databaseByCode: (code) => databases.byCode(code),
      observer: {
        committed: (event) => {
          const { records, isApplied } = event
          if (!records[0]?.isUncounted) findings.noteCommitted(event)
          if (feed.watching.size > 0) feed.committed(records, !isApplied)
          return tablets.commits.committed(event)
        },
        applied: (event) => {
          this.inspector.noteApplied(event)
          if (feed.watching.size > 0) feed.applied(event)
          return tablets.commits.applied(event)
        },
      },
      onFailure: (error) => options.onBackgroundFailure?.(error),
      switchedOff: options.switchedOff,
    })
    const gate = new AppendQueue(tablets, scheduler)
    tablets.whileSimulating((isSimulating) => {
      log.gate = isSimulating ? gate : undefined
    })
    return log
  }

  #port(adapter: StoreAdapter): StorePort {
    const { options, scheduler, random, databases } = this
    return adapter.open({
      scheduler,
      random,
      rulesOf: (code, epoch) => {
        const { catalogue, indexOptions } = databases.byCode(code)
        return { indexes: catalogue.maintainedIn(epoch), indexOptions }
      },
      adopt: async (code) => {
        await databases.adoptMetadata(this.kv, code)
        if (this.isAtWork) this.indexes.resume([databases.byCode(code)])
      },
      onFailure: (error) => options.onBackgroundFailure?.(error),
    })
  }

  #databaseParts(): DatabaseParts {
    const { kv, place, indexes, verbs, commits, ids, scheduler } = this
    const { metering } = this.tablets
    return {
      kv,
      local: place.local,
      queryIndexes: new QueryIndexes(indexes),
      statisticsEveryMs: this.options.statisticsEveryMs ?? 0,
      transactions: verbs,
      commits,
      reading: place.port === undefined ? new LocalReading(place.local) : place.port.reading,
      versions: place.local?.versions ?? { readTime: () => scheduler.nowMicros() },
      view: new KvTableView(kv),
      ids,
      checkSettings: (changed) => place.port?.checkSettings(changed),
      observer: {
        begin: metering.begin.bind(metering),
        ended: this.#ended.bind(this),
      },
    }
  }

  #ttl(): TtlSweeper {
    const { kv, scheduler, commits, databases, options } = this
    return new TtlSweeper({
      kv,
      scheduler,
      commits,
      context: (signal) => this.backgroundContext(signal),
      databases: () => databases.all(),
      inTurn: (sweep) => this.#sweepInTurn(sweep),
      switchedOff: options.switchedOff,
      onFailure: (error) => options.onBackgroundFailure?.(error),
    })
  }

  /** Runs a sweep unless another process has done it. */
  async #sweepInTurn(sweep: () => Promise<unknown>): Promise<void> {
    const { databases, place } = this
    if (place.port === undefined) {
      await sweep()
      return
    }
    const dutyOf = (codes: readonly string[]): string | undefined => {
      const all = codes.map((code) => databases.byCode(code))
      if (!all.some(({ ttlPolicies }) => ttlPolicies.length > 0)) return undefined
      // Processes with different policies each do their own sweeps.
      return `ttl ${fnv(JSON.stringify(all.map(({ code, ttlPolicies }) => [code, ttlPolicies])))}`
    }
    await place.port.inTurn(dutyOf, sweepIntervalMs * 0.9, sweep)
  }

  /** The one event at the end of a call. A commit ends when its rows are charged, and its watchers told: its client may send another one then. */
  #ended(context: RequestContext, isCounted = false): MaybePromise<void> {
    if (context.isUncounted) return
    const { commits, rows } = this.tablets
    const { fact } = context.ledger
    const isSeen = rows.isWanted || this.feed.watching.size > 0
    if (!isCounted && fact?.call === 'commit' && (isSeen || fact.mutations.length > recordsAtOnce)) {
      return andThen(commits.counted(), () => andThen(this.feed.told(), () => this.#ended(context, true)))
    }
    const { ledger } = context
    this.totals.requests++
    if (ledger instanceof CountingLedger) {
      this.totals.rowsRead += ledger.rowsRead
      this.totals.rowsWritten += ledger.rowsWritten
    }
    if (ledger.fact !== undefined) this.findings.noteCall(ledger.fact)
    // A context can be that of several calls.
    ledger.fact = undefined
    if (ledger.load !== undefined) return this.tablets.metering.settle(context, ledger.load)
  }
}

function settingsIn({ mode = 'firestore', apply, indexes, idCollisions, ttl, store }: EngineOptions) {
  return settingsOf(mode, {
    ...store?.settings(mode),
    ...(indexes === undefined ? {} : { indexes }),
    ...(apply === undefined ? {} : { applyPolicy: apply }),
    ...(idCollisions === undefined ? {} : { idCollisions }),
    ...(ttl === undefined ? {} : { ttlPolicies: ttl }),
  })
}
