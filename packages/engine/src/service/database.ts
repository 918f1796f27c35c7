/**
 * The verbs of one database. Each validates what it is given, works through the layers below, and settles the request's
 * ledger once (C2). A verb answers at once when the store does.
 *
 * D1  A lookup, an ancestor query and a strong global query see every commit acknowledged before they began.
 * D2  A request is validated whole before any of it is applied.
 */

import type { RequestContext } from '../context.ts'
import { checkAlive } from '../context.ts'
import type { IndexOptions } from '../encoding/index-entries.ts'
import { databaseCode, keyCodes, pathCode } from '../encoding/key-codec.ts'
import { metadataRowKey } from '../encoding/keyspace.ts'
import { prepareEntity } from '../encoding/validate-entity.ts'
import { validateAllocateKey, validateDeleteKey, validateLookupKey } from '../encoding/validate-key.ts'
import { DatastoreError, invalidArgument, unimplemented } from '../errors.ts'
import { execute } from '../executor/execute.ts'
import { windowOf } from '../executor/window.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import { IndexCatalogue } from '../indexes/catalogue.ts'
import type { ApplyPolicy } from '../log/apply-policy.ts'
import type { CommitLog, LogDatabase } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import type { IndexRules } from '../log/index-delta.ts'
import { groupOf } from '../log/log-rows.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import { formatKey, isCompleteKey, type Key } from '../model/key.ts'
import { normalize } from '../planner/normalize.ts'
import { plan } from '../planner/plan.ts'
import type { Kv } from '../storage/kv.ts'
import { decodeImage, entityRowKey } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import {
  evaluateMutations,
  type MutationOutcome,
  type PreparedMutation,
  refuseRepeatedKeys,
} from '../transactions/mutations.ts'
import type {
  CommitRequest,
  CommitResult,
  FoundEntity,
  LookupRequest,
  LookupResult,
  Mutation,
  MutationResult,
  QueryBatch,
  ReadOptions,
  RunQueryRequest,
} from './api.ts'
import type { DatabaseSettings } from './settings.ts'

/** Answers stay below the 4 MiB that default clients accept; the margin is for what stands around the entities. */
const answerBytesMax = 4 * 1024 * 1024 - 128 * 1024
/** Key, version, times and framing of one entity in an answer, roughly. */
const entityOverheadBytes = 96

const emptyTransaction = new Uint8Array(0)

/** What a database shares with all others of its engine. */
export interface SharedParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly versions: CommitVersions
  readonly view: TableView
  readonly ids: IdAllocator
  /** Called once for each request, with the rows it touched; a promise is a delay. */
  settle(context: RequestContext): MaybePromise<void>
}

/** The row that says that a database exists: M <database> "database" → JSON of its index options. */
export function databaseRowKey(database: { readonly projectId: string; readonly databaseId: string }): string {
  return metadataRowKey({ projectId: database.projectId, databaseId: database.databaseId, topic: 'database' })
}

export class Database implements LogDatabase {
  readonly projectId: string
  readonly databaseId: string
  readonly code: string
  readonly catalogue: IndexCatalogue
  #settings: DatabaseSettings
  #indexOptions: IndexOptions
  #isRecorded = false
  readonly #shared: SharedParts

  constructor(projectId: string, databaseId: string, settings: DatabaseSettings, shared: SharedParts) {
    this.projectId = projectId
    this.databaseId = databaseId
    this.code = databaseCode(projectId, databaseId)
    this.catalogue = new IndexCatalogue({ projectId, databaseId })
    this.#settings = settings
    this.#indexOptions = { emptyArrayAsNull: settings.mode === 'legacy' }
    this.#shared = shared
  }

  get settings(): DatabaseSettings {
    return this.#settings
  }

  get applyPolicy(): ApplyPolicy {
    return this.#settings.applyPolicy
  }

  get indexOptions(): IndexOptions {
    return this.#indexOptions
  }

  /** By which rules, and for which indexes, the checker expects complete rows. */
  get checkRules(): IndexRules {
    return { indexes: this.catalogue.serving, indexOptions: this.#indexOptions }
  }

  get indexes(): readonly CompositeIndex[] {
    return this.catalogue.maintained
  }

  /** Changes single settings; what is committed from now on follows them. */
  configure(changed: Partial<DatabaseSettings>): void {
    this.#settings = { ...this.#settings, ...changed }
  }

  /** Takes over what an earlier run recorded of this database. */
  adopt(recorded: Uint8Array): void {
    this.#indexOptions = JSON.parse(Buffer.from(recorded).toString('utf8')) as IndexOptions
    this.#isRecorded = true
  }

  /** Entities by key. Strong unless asked for eventual reads: the groups' logs are rolled forward first. */
  lookup(context: RequestContext, request: LookupRequest): MaybePromise<LookupResult> {
    return this.#settled(context, () => {
      refuseTransactions(request.read)
      const found: FoundEntity[] = []
      const missing: Key[] = []
      const deferred: Key[] = []
      const seen = request.keys.length > 1 ? new Set<string>() : undefined
      const finish = (): LookupResult => ({
        found,
        missing,
        deferred,
        readTime: this.#shared.versions.readTime(),
      })
      let bytes = 0
      const step = (from: number): MaybePromise<LookupResult> => {
        for (let i = from; i < request.keys.length; i++) {
          const key = request.keys[i] as Key
          validateLookupKey(key, this)
          const codes = keyCodes(key)
          const row = entityRowKey(codes.partition, codes.path)
          if (seen !== undefined) {
            if (seen.has(row)) continue
            seen.add(row)
          }
          if (bytes > answerBytesMax) {
            deferred.push(key)
            continue
          }
          const take = (cell: Uint8Array | undefined): void => {
            if (cell === undefined) missing.push(key)
            else {
              bytes += cell.length + codes.path.length + entityOverheadBytes
              found.push({ key, image: decodeImage(cell) })
            }
          }
          const ready = this.#beforeGroupRead(codes.partition, codes.path, request.read)
          const cell = andThen(ready, () => this.#shared.view.get(context, 'Entities', row))
          if (cell instanceof Promise) {
            return cell.then((value) => {
              take(value)
              checkAlive(context)
              return step(i + 1)
            })
          }
          take(cell)
        }
        return finish()
      }
      return step(0)
    })
  }

  /** One batch of a query's results. */
  runQuery(context: RequestContext, request: RunQueryRequest): MaybePromise<QueryBatch> {
    return this.#settled(context, () => {
      refuseTransactions(request.read)
      const normal = normalize(request.query, this)
      const { ancestor } = normal
      const ready =
        ancestor === undefined ? this.#beforeGlobalRead(request.read) : this.#beforeAncestorRead(ancestor, request.read)
      return andThen(ready, () => {
        const readTime = this.#shared.versions.readTime()
        const planned = plan(normal, this.catalogue.serving)
        const page = execute(context, this.#shared.view, planned, windowOf(request.query, planned))
        return andThen(page, (result) => ({ ...result, readTime }))
      })
    })
  }

  /** Applies mutations: all or nothing when transactional, one after the other when not. */
  commit(context: RequestContext, request: CommitRequest): MaybePromise<CommitResult> {
    return this.#settled(context, () => {
      checkCommitMode(request)
      const atomic = request.mode === 'transactional'
      const prepared = this.#prepare(request.mutations)
      if (!atomic) refuseRepeatedKeys(prepared.filter(({ automaticId }) => !automaticId))
      if (prepared.length === 0) return this.#emptyCommit(atomic)
      const completed = andThen(this.#record(), () => this.#completeKeys(context, prepared))
      return andThen(completed, (mutations) => this.#commitPrepared(context, mutations, atomic))
    })
  }

  /** Completes each key with a new id, in order. */
  allocateIds(context: RequestContext, keys: readonly Key[]): MaybePromise<readonly Key[]> {
    return this.#settled(context, () => {
      for (const key of keys) validateAllocateKey(key, this)
      return this.#shared.ids.completeKeys(context, keys, 'scattered')
    })
  }

  /** Keeps the ids of the keys, and of their ancestors, from being given automatically. */
  reserveIds(context: RequestContext, keys: readonly Key[]): MaybePromise<void> {
    return this.#settled(context, () => {
      for (const key of keys) validateLookupKey(key, this)
      return this.#shared.ids.reserve(context, keys)
    })
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

  #emptyCommit(atomic: boolean): CommitResult {
    const empty = { mutationResults: [], indexUpdates: 0 }
    return atomic ? { ...empty, commitTime: this.#shared.versions.readTime() } : empty
  }

  #prepare(mutations: readonly Mutation[]): PreparedMutation[] {
    return mutations.map((mutation) => {
      const conflict = mutation.conflict === undefined ? {} : { conflict: mutation.conflict }
      if (mutation.operation === 'delete') {
        const { operation, key } = mutation
        validateDeleteKey(key, this)
        return { operation, key, automaticId: false, ...conflict }
      }
      const { operation } = mutation
      const { key, properties, entries } = prepareEntity(mutation.entity, this, this.#indexOptions)
      const automaticId = !isCompleteKey(key)
      if (automaticId && operation === 'update') {
        throw invalidArgument(`update of ${formatKey(key)}: the last path element has neither id nor name`)
      }
      if (automaticId && mutation.conflict !== undefined) {
        throw invalidArgument(`${formatKey(key)}: a base version or update time needs a complete key`)
      }
      return { operation, key, automaticId, properties, entries, ...conflict }
    })
  }

  #completeKeys(context: RequestContext, prepared: PreparedMutation[]): MaybePromise<PreparedMutation[]> {
    const incomplete = prepared.filter(({ automaticId }) => automaticId)
    if (incomplete.length === 0) return prepared
    const keys = incomplete.map(({ key }) => key)
    return andThen(this.#shared.ids.completeKeys(context, keys, this.#settings.idPolicy), (completed) => {
      for (const [i, mutation] of incomplete.entries()) mutation.key = completed[i] ?? mutation.key
      return prepared
    })
  }

  #commitPrepared(
    context: RequestContext,
    mutations: readonly PreparedMutation[],
    atomic: boolean,
  ): MaybePromise<CommitResult> {
    const pairs = this.#settings.mode === 'firestore' ? 'refused' : 'sequential'
    const nextKey = (key: Key): MaybePromise<Key> =>
      andThen(
        this.#shared.ids.completeKeys(context, [incompleteAgain(key)], this.#settings.idPolicy),
        ([next]) => next ?? key,
      )
    const committed = this.#shared.log.commit({
      context,
      database: this,
      transaction: emptyTransaction,
      evaluate: (read, version) =>
        andThen(evaluateMutations(mutations, { atomic, pairs, nextKey }, read, version), (evaluated) => ({
          states: evaluated.states,
          result: evaluated,
        })),
    })
    return andThen(committed, ({ version, result, indexRows }) => {
      if (result.failure !== undefined) throw result.failure
      return {
        mutationResults: result.outcomes.map((outcome, i) => resultOf(outcome, mutations[i])),
        indexUpdates: indexRows,
        commitTime: version,
      }
    })
  }

  #beforeGroupRead(partition: string, path: string, read: ReadOptions | undefined): MaybePromise<void> {
    const { log } = this.#shared
    if (log.pending.count === 0) return
    if (read?.consistency === 'eventual' && this.applyPolicy.type !== 'immediate') return log.groom(this)
    return log.applier.rollForward(groupOf(partition, path), 'strong read')
  }

  #beforeAncestorRead(ancestor: Key, read: ReadOptions | undefined): MaybePromise<void> {
    const { partition } = keyCodes(ancestor)
    return this.#beforeGroupRead(partition, pathCode(ancestor.path), read)
  }

  /** A global query is strong when applying is immediate or when the caller insists (design: any other policy makes it eventual). */
  #beforeGlobalRead(read: ReadOptions | undefined): MaybePromise<void> {
    const { log } = this.#shared
    if (log.pending.count === 0) return
    if (this.applyPolicy.type === 'immediate' || read?.consistency === 'strong') {
      return log.applier.rollForwardDatabase(this.code, 'strong read')
    }
    return log.groom(this)
  }

  /** Runs a verb and settles its ledger, whatever comes of it (C2). */
  #settled<T>(context: RequestContext, verb: () => MaybePromise<T>): MaybePromise<T> {
    const { settle } = this.#shared
    let result: MaybePromise<T>
    try {
      checkAlive(context)
      result = verb()
    } catch (error) {
      return andThen(settle(context), () => {
        throw error
      })
    }
    if (result instanceof Promise) {
      return result.then(
        (value) => andThen(settle(context), () => value),
        (error) =>
          andThen(settle(context), () => {
            throw error
          }),
      )
    }
    const value = result
    return andThen(settle(context), () => value)
  }
}

function incompleteAgain(key: Key): Key {
  const last = key.path.length - 1
  return {
    partition: key.partition,
    path: key.path.map((element, i) => (i === last ? { kind: element.kind } : element)),
  }
}

function resultOf(outcome: MutationOutcome, mutation: PreparedMutation | undefined): MutationResult {
  return mutation?.automaticId ? { ...outcome, key: mutation.key } : outcome
}

function refuseTransactions(read: ReadOptions | undefined): void {
  if (read === undefined) return
  if (read.transaction !== undefined || read.newTransaction !== undefined) {
    throw unimplemented('reads in a transaction are not built yet; read without one')
  }
  if (read.readTime !== undefined) throw unimplemented('reads at a past read_time are not built yet; read without one')
}

function checkCommitMode(request: CommitRequest): void {
  const { mode, transaction, singleUse } = request
  if (mode === 'nonTransactional') {
    if (transaction !== undefined || singleUse !== undefined) {
      throw invalidArgument('a non-transactional commit names a transaction; leave it out or use mode TRANSACTIONAL')
    }
    return
  }
  if (transaction !== undefined) {
    throw unimplemented('commits of a begun transaction are not built yet; use a single-use transaction')
  }
  if (singleUse === undefined) {
    throw invalidArgument('a transactional commit needs a transaction: give one, or a single-use transaction')
  }
  if (singleUse.mode === 'readOnly') {
    throw new DatastoreError('INVALID_ARGUMENT', 'a single-use transaction that commits must be read-write')
  }
}
