/**
 * The verbs of one database. Each validates what it is given, works through the layers below, and settles the request's
 * ledger once (context/C2). A verb answers at once when the store does.
 *
 * D1  A lookup, an ancestor query and a strong global query see every commit acknowledged before they began.
 * D2  A request is validated whole before any of it is applied.
 */

import type { RequestContext } from '../context.ts'
import { databaseCode } from '../encoding/key-codec.ts'
import { parsePropertyMask } from '../encoding/property-mask.ts'
import { validateAllocateKeys, validateCompleteKey } from '../encoding/validate-key.ts'
import { failedPrecondition } from '../errors.ts'
import { shapeOfCursors } from '../executor/cursor.ts'
import { execute } from '../executor/execute.ts'
import { findNearest } from '../executor/nearest.ts'
import { planNearest } from '../executor/nearest-query.ts'
import type { ResultPage } from '../executor/result-page.ts'
import { windowOf } from '../executor/window.ts'
import type { AllocatedRange, IdRange } from '../ids/key-range-state.ts'
import { IndexCatalogue } from '../indexes/catalogue.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'
import { whenOpen } from '../log/closed-scopes.ts'
import type { IndexRules } from '../log/index-delta.ts'
import { andThen, type MaybePromise, whenFails } from '../maybe-promise.ts'
import { checkSpecialKind, isSpecialKind, planSpecial, specialView } from '../metadata/special-kinds.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { normalize } from '../planner/normalize.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadScope } from '../transactions/read-views.ts'
import { decodeToken } from '../transactions/transaction.ts'
import type { TransactionSettings } from '../transactions/transactions.ts'
import { planAggregation, runAggregation } from './aggregation.ts'
import type {
  AggregationBatch,
  CommitRequest,
  CommitResult,
  LookupRequest,
  LookupResult,
  QueryBatch,
  ReadOptions,
  RunAggregationQueryRequest,
  RunQueryRequest,
  TransactionOptions,
} from './api.ts'
import { beforeRead } from './before-read.ts'
import { type CommitParts, commitMutations } from './commit.ts'
import { databaseRowKey, firstIndexOptions } from './database-row.ts'
import { type Explained, type ExplainOptions, Explanation, emptyPage } from './explain.ts'
import { groupsOf, scopeOfQuery } from './groups.ts'
import {
  type AllocatedIds,
  allocateIdRange,
  allocateIdsByMax,
  allocateIdsBySize,
  type IdRangeParts,
  type NextIds,
  nextIds,
} from './id-ranges.ts'
import { checkLookup, lookupKeys } from './lookup.ts'
import { aggregateNearest } from './nearest-aggregation.ts'
import { planRowsReady } from './plan-rows.ts'
import type { Planner } from './query-indexes.ts'
import { queryFact } from './query-use.ts'
import { aggregationBatch, lookupResult, queryBatch } from './read-answer.ts'
import { maskedBatch, queryMask } from './read-mask.ts'
import type { DatabaseSettings } from './settings.ts'
import { settled } from './settled.ts'
import type { SharedParts } from './shared-parts.ts'
import { viewWithIndexes } from './snapshot-indexes.ts'
import { SpecialSources } from './special-sources.ts'
import type { TtlDatabase, TtlPolicy } from './ttl.ts'

const emptyTransaction = new Uint8Array(0)
const noGroups: ReadScope = []

export class Database implements TtlDatabase {
  readonly projectId: string
  readonly databaseId: string
  readonly code: string
  readonly catalogue: IndexCatalogue
  /** Once a reset has deleted this one: where what waited to write goes. */
  successor: (() => Database) | undefined
  #settings: DatabaseSettings
  #indexOptions: StoredIndexOptions
  #isRecorded = false
  readonly #special: SpecialSources
  readonly #shared: SharedParts
  readonly #commitParts: CommitParts

  constructor(projectId: string, databaseId: string, settings: DatabaseSettings, shared: SharedParts) {
    this.projectId = projectId
    this.databaseId = databaseId
    this.code = databaseCode(projectId, databaseId)
    this.catalogue = new IndexCatalogue({ projectId, databaseId })
    this.#settings = settings
    this.#indexOptions = firstIndexOptions(settings.mode)
    this.#shared = shared
    this.#special = new SpecialSources(this, shared)
    const { ids, transactions, versions, findings } = shared
    this.#commitParts = { database: this, ids, transactions, versions, findings, record: () => this.#record() }
  }

  get settings(): DatabaseSettings {
    return this.#settings
  }

  get applyPolicy(): ApplyPolicy {
    return this.#settings.applyPolicy
  }

  get transactionSettings(): TransactionSettings {
    return this.#settings
  }

  get ttlPolicies(): readonly TtlPolicy[] {
    return this.#settings.ttlPolicies
  }

  get indexOptions(): StoredIndexOptions {
    return this.#indexOptions
  }

  /** By which rules, and for which indexes, the checker expects complete rows. */
  get checkRules(): IndexRules {
    return { indexes: this.catalogue.serving, indexOptions: this.#indexOptions }
  }

  get indexes(): readonly CompositeIndex[] {
    return this.catalogue.maintained
  }

  /** Changes single settings; what is committed from now on follows them. How entities are indexed the first write decides. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.#settings = { ...this.#settings, ...changed }
    if (!this.#isRecorded) this.#indexOptions = firstIndexOptions(this.#settings.mode)
  }

  /** Takes over what an earlier run recorded of this database. */
  adopt(recorded: Uint8Array): void {
    this.#indexOptions = JSON.parse(Buffer.from(recorded).toString('utf8')) as StoredIndexOptions
    this.#isRecorded = true
  }

  /** Forgets what is stored of this database: the store was set back, and adopt() follows for what it has now. */
  forget(): void {
    this.#indexOptions = firstIndexOptions(this.#settings.mode)
    this.#isRecorded = false
    this.catalogue.clear()
    this.forgetRows()
  }

  /** Rows came or went without a commit. */
  forgetRows(): void {
    this.#special.forget()
  }

  /** Entities by key. Strong unless asked for eventual reads: the groups' logs are rolled forward first. */
  lookup(context: RequestContext, request: LookupRequest): MaybePromise<LookupResult> {
    return this.#reading(context, request.read, () => {
      const { keys, read, propertyMask } = request
      checkLookup(keys, this)
      const mask = propertyMask === undefined ? undefined : parsePropertyMask(propertyMask)
      this.#shared.findings.noteLookup({ keys, isTransactional: read?.transaction !== undefined })
      return this.#read(
        context,
        read,
        () => groupsOf(keys),
        (view) => lookupKeys(context, view, keys, mask),
        lookupResult,
        // A store that gets many rows at once does so in one turn.
        keys.length === 1 || this.#shared.kv.getAll !== undefined ? 'one' : 'many',
      )
    })
  }

  /** One batch of a query's results. */
  runQuery(context: RequestContext, request: RunQueryRequest): MaybePromise<QueryBatch> {
    return this.#runQuery(context, request, undefined)
  }

  /** Explains a query; with `analyze` it runs it too. */
  explainQuery(
    context: RequestContext,
    request: RunQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<QueryBatch>> {
    const explanation = new Explanation(context, options)
    return andThen(this.#runQuery(explanation.context, request, explanation), (batch) => explanation.query(batch))
  }

  #runQuery(
    context: RequestContext,
    request: RunQueryRequest,
    explanation: Explanation | undefined,
  ): MaybePromise<QueryBatch> {
    return this.#reading(context, request.read, () => {
      const { read } = request
      const mask = queryMask(request)
      const nearest = planNearest(request.query, mask)
      const query = nearest?.base ?? request.query
      checkSpecialKind(query)
      const made: CompositeIndex[] = []
      const normal = normalize(query, this)
      const { ancestor } = normal
      const batch = this.#withIndexes(
        context,
        (indexes) => planSpecial(normal, indexes, made, shapeOfCursors(query)),
        (planned) => {
          explanation?.planned(planned, nearest)
          const window = windowOf(query, planned)
          const ready = this.#shared.queryIndexes.demandKeyOrder(this, normal)
          const scopeOf = (): ReadScope => scopeOfQuery(query, ancestor)
          const work = (view: TableView): MaybePromise<ResultPage> => {
            if (explanation?.analyze === false) return emptyPage(planned)
            const page = andThen(this.#rowsFor(context, request, view, planned, made), (whole) =>
              nearest === undefined
                ? execute(context, whole, planned, window)
                : findNearest(context, whole, planned, window, nearest),
            )
            return andThen(page, (found) => {
              this.#shared.findings.noteQuery(queryFact(query, planned, found))
              return found
            })
          }
          const rows = (): MaybePromise<void> => planRowsReady(context, this.#shared.kv, planned.source)
          return andThen(andThen(ready, rows), () => this.#read(context, read, scopeOf, work, queryBatch))
        },
      )
      return mask === undefined || nearest !== undefined ? batch : andThen(batch, (whole) => maskedBatch(whole, mask))
    })
  }

  /** Counts, sums and averages over a query's results, from its index rows. */
  runAggregationQuery(context: RequestContext, request: RunAggregationQueryRequest): MaybePromise<AggregationBatch> {
    return this.#runAggregationQuery(context, request, undefined)
  }

  /** Explains an aggregation; with `analyze` it runs it too. */
  explainAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<AggregationBatch>> {
    const explanation = new Explanation(context, options)
    const batch = this.#runAggregationQuery(explanation.context, request, explanation)
    return andThen(batch, (values) => explanation.aggregation(values))
  }

  #runAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    explanation: Explanation | undefined,
  ): MaybePromise<AggregationBatch> {
    if (request.query.nearest !== undefined) {
      return aggregateNearest((base) => this.#runQuery(context, base, explanation), request, this.#indexOptions)
    }
    return this.#reading(context, request.read, () => {
      const { query, read } = request
      const made: CompositeIndex[] = []
      return this.#withIndexes(
        context,
        (indexes) => planAggregation(request, this, indexes, made),
        (planned) => {
          const { plan } = planned.aggregate
          explanation?.planned(plan, undefined, planned.names)
          const scopeOf = (): ReadScope => scopeOfQuery(query, planned.ancestor)
          const work = (view: TableView): MaybePromise<{ readonly values: ReadonlyMap<string, Value> }> => {
            if (explanation?.analyze === false) return { values: new Map() }
            const rows = this.#rowsFor(context, request, view, plan, made)
            return andThen(rows, (whole) => runAggregation(context, whole, planned))
          }
          return andThen(planRowsReady(context, this.#shared.kv, plan.source), () =>
            this.#read(context, read, scopeOf, work, aggregationBatch),
          )
        },
      )
    })
  }

  /** Plans with the indexes there are, or come to be, and reads by the plan; anew when an index went away meanwhile. */
  #withIndexes<P, T extends { readonly transaction?: Uint8Array }>(
    context: RequestContext,
    planner: Planner<P>,
    read: (planned: P) => MaybePromise<T>,
  ): MaybePromise<T> {
    const { queryIndexes, transactions } = this.#shared
    return andThen(queryIndexes.plan(context, this, planner), (planned) => {
      const { departures } = this.catalogue
      return andThen(read(planned), (result) => {
        if (departures === this.catalogue.departures) return result
        if (result.transaction !== undefined) transactions.rollback(this, result.transaction)
        return this.#withIndexes(context, planner, read)
      })
    })
  }

  /**
   * The view that a query reads its rows from: one made for it, of a special kind; else that of the read, with the rows of
   * indexes that are younger than the transaction that reads.
   *
   * @param made - the indexes that planSpecial() added
   */
  #rowsFor(
    context: RequestContext,
    { query, read }: Pick<RunQueryRequest, 'query' | 'read'>,
    view: TableView,
    planned: Plan,
    made: readonly CompositeIndex[],
  ): MaybePromise<TableView> {
    if (isSpecialKind(query)) return specialView(context, view, query, this.#special.of(context, read, view), made)
    if (read?.transaction === undefined) return view
    // Also one that has ended since this read began: it reads on.
    const young = this.catalogue.youngerThan(decodeToken(read.transaction) ?? 0)
    return young.length === 0 ? view : viewWithIndexes(context, view, this, planned, young)
  }

  /** Begins a transaction; nothing is locked before its first read. */
  beginTransaction(context: RequestContext, options: TransactionOptions): MaybePromise<Uint8Array> {
    return this.#settled(context, () => this.#shared.transactions.begin(this, options).token)
  }

  /** Ends a transaction without effect. */
  rollback(context: RequestContext, token: Uint8Array): MaybePromise<void> {
    return this.#settled(context, () => this.#shared.transactions.rollback(this, token))
  }

  /** Applies mutations: all or nothing when transactional, one after the other when not. */
  commit(context: RequestContext, request: CommitRequest): MaybePromise<CommitResult> {
    return this.#writing(context, (database) => commitMutations(database.#commitParts, context, request))
  }

  /** Completes each key with a new id, in order. */
  allocateIds(context: RequestContext, keys: readonly Key[]): MaybePromise<readonly Key[]> {
    return this.#writing(context, () => {
      validateAllocateKeys(keys, this)
      return this.#shared.ids.completeKeys(context, keys, 'scattered')
    })
  }

  /** Keeps the ids of the keys, and of their ancestors, from being given automatically. */
  reserveIds(context: RequestContext, keys: readonly Key[]): MaybePromise<void> {
    return this.#writing(context, () => {
      if (keys.length === 0 && this.#settings.mode === 'firestore') {
        throw failedPrecondition('List of Ids to reserve cannot be empty. (name at least one key)')
      }
      for (const key of keys) validateCompleteKey(key, this)
      return this.#shared.ids.reserve(context, keys)
    })
  }

  /** Takes a range of ids out of those that are given, and says what else is known of it (service/id-ranges.ts). */
  allocateIdRange(context: RequestContext, key: Key, range: IdRange): MaybePromise<AllocatedRange> {
    return this.#writing(context, () => allocateIdRange(this.#idRangeParts(), context, key, range))
  }

  /** So many sequential ids in one piece. */
  allocateIdsBySize(context: RequestContext, key: Key, size: bigint): MaybePromise<AllocatedIds> {
    return this.#writing(context, () => allocateIdsBySize(this.#idRangeParts(), context, key, size))
  }

  /** All sequential ids up to `max` that had never been given. */
  allocateIdsByMax(context: RequestContext, key: Key, max: bigint): MaybePromise<AllocatedIds> {
    return this.#writing(context, () => allocateIdsByMax(this.#idRangeParts(), context, key, max))
  }

  /** The next numbers of the counters of a kind and parent; nothing is taken. */
  nextIds(context: RequestContext, key: Key): MaybePromise<NextIds> {
    return this.#writing(context, () => nextIds(this.#idRangeParts(), context, key, this.#settings.idPolicy))
  }

  #idRangeParts(): IdRangeParts {
    const { ids, log, view } = this.#shared
    return { database: this, ids, log, view }
  }

  /**
   * Before the first write: the database is recorded with the rules by which its entities are indexed, which must not
   * change with the mode of a later run, or rows would go stale.
   */
  #record(): MaybePromise<void> {
    if (this.#isRecorded) return
    const value = Buffer.from(JSON.stringify(this.#indexOptions))
    return andThen(this.#shared.kv.mutate({ key: databaseRowKey(this), value }), () => {
      this.#isRecorded = true
    })
  }

  /** Runs a read where its options say: in a transaction, in a new one, at a past moment, or now. */
  #read<T, R>(
    context: RequestContext,
    read: ReadOptions | undefined,
    scopeOf: () => ReadScope,
    work: (view: TableView) => MaybePromise<T>,
    answer: (found: T, readTime: bigint, transaction: Uint8Array | undefined) => R,
    steps: 'one' | 'many' = 'many',
  ): MaybePromise<R> {
    const { transactions, versions, log } = this.#shared
    if (read?.transaction !== undefined || read?.newTransaction !== undefined) {
      const begun = read.newTransaction === undefined ? undefined : transactions.begin(this, read.newTransaction)
      const transaction = begun ?? transactions.find(this, read.transaction ?? emptyTransaction)
      // No client will name a transaction that was begun by a read that fails.
      const failed = (error: unknown): never => {
        begun?.end('rolledBack')
        throw error
      }
      const found = whenFails(() => transactions.read(context, this, transaction, scopeOf, work), failed)
      return andThen(found, (result) => answer(result, transaction.readTime ?? versions.readTime(), begun?.token))
    }
    const { readTime } = read ?? {}
    if (readTime !== undefined) {
      return andThen(transactions.readAt(this, readTime, work), (result) => answer(result, readTime, undefined))
    }
    const scope = log.pending.count === 0 ? noGroups : beforeRead(log, this, scopeOf(), read?.consistency)
    return andThen(scope, (seen) =>
      transactions.readNow(this, seen, steps, (view) => {
        const now = versions.readTime()
        return andThen(work(view), (found) => answer(found, now, undefined))
      }),
    )
  }

  /** A verb that may read in a transaction, which is over when the answer is ABORTED (transactions/X4). */
  #reading<T>(context: RequestContext, read: ReadOptions | undefined, verb: () => MaybePromise<T>): MaybePromise<T> {
    const { transactions } = this.#shared
    const token = read?.transaction
    if (token === undefined) return this.#settled(context, verb)
    return this.#settled(context, () => whenFails(verb, (error) => transactions.failed(this, token, error)))
  }

  /** A verb that writes to the database. It waits while rows of the database, or where it writes, are being deleted (closed-scopes/G1). */
  #writing<T>(context: RequestContext, verb: (database: Database) => MaybePromise<T>): MaybePromise<T> {
    const by = (database: Database): MaybePromise<T> => {
      this.#shared.log.scopes.refuse(this.code)
      return verb(database)
    }
    const again = (): MaybePromise<T> => by(this.successor?.() ?? this)
    return this.#settled(context, () => whenOpen(context, () => by(this), again))
  }

  #settled<T>(context: RequestContext, verb: () => MaybePromise<T>): MaybePromise<T> {
    return settled(this.#shared.settlement, context, verb)
  }
}
