/**
 * The verbs of one database: lookup, runQuery, commit, … Each validates its whole request, works through the layers below,
 * and settles the request's ledger once. It answers without a promise if the store does. A lookup, an ancestor query and a
 * strong global query see every commit acknowledged before they began.
 *
 * Several objects can stand for one database. The kept one (databases.ts) has the settings, indexes and rules; the others
 * ask it.
 */
import { checkAlive, type RequestContext } from '../context.ts'
import { databaseCode } from '../encoding/key-codec.ts'
import { failedPrecondition } from '../errors.ts'
import type { AllocatedRange, IdRange } from '../ids/key-range-state.ts'
import { IndexCatalogue } from '../indexes/catalogue.ts'
import { Superseded } from '../log/log-database.ts'
import { andThen, finallyDo, type MaybePromise, runSteps, whenFails } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key } from '../model/key.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'
import { runAggregationQuery } from './aggregation.ts'
import type {
  AggregationBatch,
  CommitRequest,
  CommitResult,
  LookupRequest,
  LookupResult,
  QueryBatch,
  RunAggregationQueryRequest,
  RunQueryRequest,
  TransactionOptions,
} from './api.ts'
import { commitSteps } from './commit.ts'
import type { DatabaseParts } from './database-parts.ts'
import { databaseRowKey, firstIndexOptions, indexOptionsIn } from './database-row.ts'
import { type Explained, type ExplainOptions, Explanation } from './explanation.ts'
import { type AllocatedIds, allocateIdRange, allocateIds, type NextIds, nextIds } from './id-ranges.ts'
import { completeKeys, type IdCall, reserveKeys } from './key-ids.ts'
import { lookup } from './lookup.ts'
import { runQuery } from './query.ts'
import type { DatabaseSettings, TtlPolicy } from './settings.ts'
import { SpecialSources } from './special-sources.ts'
import type { VerbParts } from './verb-parts.ts'

export interface KeptDatabases {
  /** Settings of databases without their own. */
  readonly settings: DatabaseSettings
  kept(code: string): Database | undefined
  /** @returns the kept object of this database: an earlier one, if there is one */
  keep(database: Database): Database
}

export class Database {
  readonly projectId: string
  readonly databaseId: string
  readonly code: string
  /** The replacement after a reset has deleted this one: waiting writes go there. */
  successor: (() => Database) | undefined
  /** Its own settings; absent = the settings of all databases. */
  #settings: DatabaseSettings | undefined
  /** The rules in its row; absent = no row yet. */
  #recorded: StoredIndexOptions | undefined
  #isKept = false
  readonly #catalogue: IndexCatalogue
  /** The write of its row that is in progress, shared by concurrent first calls. */
  #recording: MaybePromise<void> | undefined
  readonly #databases: KeptDatabases
  readonly #parts: VerbParts

  constructor(projectId: string, databaseId: string, databases: KeptDatabases, parts: DatabaseParts) {
    this.projectId = projectId
    this.databaseId = databaseId
    this.code = databaseCode(projectId, databaseId)
    this.#catalogue = new IndexCatalogue({ projectId, databaseId })
    this.#databases = databases
    this.#parts = {
      ...parts,
      database: this,
      special: new SpecialSources(this, parts),
      keepIndexRules: () => (this.#recorded === undefined ? this.#record() : undefined),
    }
  }

  /** Keeps this database, with its own settings, indexes and rules. @returns the kept one: this one, or an earlier one */
  keep(): Database {
    if (this.#isKept) return this
    const kept = this.#databases.keep(this)
    kept.#isKept = true
    return kept
  }

  /** The object that has the state of the database. */
  get #known(): Database {
    return this.#isKept ? this : (this.#databases.kept(this.code) ?? this)
  }

  get catalogue(): IndexCatalogue {
    return this.#known.#catalogue
  }

  get settings(): DatabaseSettings {
    return this.#known.#settings ?? this.#databases.settings
  }

  get ttlPolicies(): readonly TtlPolicy[] {
    return this.settings.ttlPolicies
  }

  get indexOptions(): StoredIndexOptions {
    return this.#known.#recorded ?? firstIndexOptions[this.settings.mode]
  }

  /** The rules and the indexes for which the checker expects complete rows. */
  get checkRules(): IndexRules {
    return { indexes: this.catalogue.serving, indexOptions: this.indexOptions }
  }

  get indexes(): readonly CompositeIndex[] {
    return this.catalogue.maintained
  }

  /** Changes single settings for later commits. The rules of indexing stay as the first write recorded them. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.#parts.checkSettings(changed)
    this.keep().#settings = { ...this.settings, ...changed }
  }

  /** Takes over changed settings of all databases; its own single settings stay. */
  follow(changed: Partial<DatabaseSettings>): void {
    if (this.#settings !== undefined) this.#settings = { ...this.#settings, ...changed }
  }

  adopt(recorded: Uint8Array): void {
    this.keep().#recorded = indexOptionsIn(recorded)
  }

  /** Forgets the stored state, before adopt() is called with the restored one. */
  forget(): void {
    this.#recorded = undefined
    this.#catalogue.clear()
    this.forgetRows()
  }

  forgetRows(): void {
    this.#parts.special.forget()
  }

  /** Entities by key. A strong read (the default) first applies the pending records of the groups. */
  lookup(context: RequestContext, request: LookupRequest): MaybePromise<LookupResult> {
    return this.#observed(context, () => lookup(this.#parts, context, request), request.read?.transaction)
  }

  runQuery(context: RequestContext, request: RunQueryRequest, explanation?: Explanation): MaybePromise<QueryBatch> {
    const token = request.read?.transaction
    return this.#observed(context, () => runQuery(this.#parts, context, request, explanation), token)
  }

  explainQuery(
    context: RequestContext,
    request: RunQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<QueryBatch>> {
    const explanation = new Explanation(context, options)
    const batch = this.runQuery(context, request, explanation)
    return andThen(batch, (found) => explanation.query(found))
  }

  /** Counts, sums and averages over a query's results, from its index rows. */
  runAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    explanation?: Explanation,
  ): MaybePromise<AggregationBatch> {
    const token = request.read?.transaction
    return this.#observed(context, () => runAggregationQuery(this.#parts, context, request, explanation), token)
  }

  explainAggregationQuery(
    context: RequestContext,
    request: RunAggregationQueryRequest,
    options: ExplainOptions,
  ): MaybePromise<Explained<AggregationBatch>> {
    const explanation = new Explanation(context, options)
    const batch = this.runAggregationQuery(context, request, explanation)
    return andThen(batch, (values) => explanation.aggregation(values))
  }

  /** Begins a transaction; nothing is locked before its first read. */
  beginTransaction(context: RequestContext, options: TransactionOptions): MaybePromise<Uint8Array> {
    return this.#observed(context, () =>
      andThen(this.#parts.transactions.begin(this, options, context), ({ token }) => token),
    )
  }

  rollback(context: RequestContext, token: Uint8Array): MaybePromise<void> {
    return this.#observed(context, () => this.#parts.transactions.rollback(this, token))
  }

  /** Applies mutations: all or nothing if transactional, else one after the other. */
  commit(context: RequestContext, request: CommitRequest): MaybePromise<CommitResult> {
    return this.#writing(context, (database) => runSteps(commitSteps(database.#parts, context, request)))
  }

  /** Completes each key with a new id, in order. */
  allocateIds(context: RequestContext, keys: readonly Key[]): MaybePromise<readonly Key[]> {
    return this.#writing(context, (database) => completeKeys(database.#idCall(context), keys))
  }

  /** Excludes the ids of the keys, and of their ancestors, from automatic allocation. */
  reserveIds(context: RequestContext, keys: readonly Key[]): MaybePromise<void> {
    return this.#writing(context, (database) => reserveKeys(database.#idCall(context), keys))
  }

  /** Allocates exactly this range of ids, and reports its state (database/id-ranges.ts). */
  allocateIdRange(context: RequestContext, key: Key, range: IdRange): MaybePromise<AllocatedRange> {
    return this.#writing(context, () => allocateIdRange(this.#idCall(context), key, range))
  }

  /** Allocates this many sequential ids in one piece. */
  allocateIdsBySize(context: RequestContext, key: Key, size: bigint): MaybePromise<AllocatedIds> {
    return this.#writing(context, () => allocateIds(this.#idCall(context), key, 'allocateSize', size))
  }

  /** Allocates all free sequential ids up to `max`. */
  allocateIdsByMax(context: RequestContext, key: Key, max: bigint): MaybePromise<AllocatedIds> {
    return this.#writing(context, () => allocateIds(this.#idCall(context), key, 'allocateMax', max))
  }

  /** The next ids of a kind and parent; allocates nothing. */
  nextIds(context: RequestContext, key: Key): MaybePromise<NextIds> {
    return this.#writing(context, () => runSteps(nextIds(this.#idCall(context, this), key, this.settings.idPolicy)))
  }

  #idCall(context: RequestContext, database: Database = this.keep()): IdCall {
    const { ids, local, view } = this.#parts
    return { context, database, ids, log: local?.log, view }
  }

  /** Records the index rules before the first write (database-row.ts). */
  #record(): MaybePromise<void> {
    const kept = this.keep()
    if (kept !== this) return kept.#record()
    if (this.#recorded !== undefined) return
    this.#recording ??= finallyDo(
      () => this.#recordOnce(),
      () => {
        this.#recording = undefined
      },
    )
    return this.#recording
  }

  #recordOnce(): MaybePromise<void> {
    const { kv } = this.#parts
    const key = databaseRowKey(this.code)
    const options = this.indexOptions
    const value = Buffer.from(JSON.stringify(options))
    return andThen(kv.mutateIf({ key, value }, undefined), (isFirst) => {
      if (isFirst) {
        this.#recorded = options
        return
      }
      // Another process or call may have recorded it first.
      return andThen(kv.get(key), (recorded) => {
        if (recorded === undefined) return this.#recordOnce()
        this.adopt(recorded)
        if (Buffer.compare(recorded, value) === 0) return
        throw failedPrecondition(
          `the database of project ${this.projectId} was created by a gateway of another --mode; start all gateways of a store with the same one`,
        )
      })
    })
  }

  /** Runs a verb that writes. If a reset or a restore overtakes it, it runs again in the database that follows (reset/X2). */
  #writing<T>(context: RequestContext, verb: (database: Database) => MaybePromise<T>): MaybePromise<T> {
    const attempt = (): MaybePromise<T> =>
      whenFails(
        () => verb(this.successor?.() ?? this),
        (error) => {
          if (error instanceof Superseded) return attempt()
          throw error
        },
      )
    return this.#observed(context, attempt)
  }

  /** Runs a verb between two calls of the observer. @param token - of its transaction, which ABORTED ends */
  #observed<T>(context: RequestContext, verb: () => MaybePromise<T>, token?: Uint8Array): MaybePromise<T> {
    const { observer, transactions } = this.#parts
    observer.begin(context)
    return finallyDo(
      () => {
        checkAlive(context)
        return token === undefined ? verb() : whenFails(verb, (error) => transactions.failed(this, token, error))
      },
      () => observer.ended(context),
    )
  }
}
