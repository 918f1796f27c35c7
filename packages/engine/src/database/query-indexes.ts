/**
 * Plans a query with the composite indexes that there are, and sees to those that it lacks.
 *
 *   an index that would do is being built, or stands in index.yaml   wait for it
 *   settings.indexes: auto                                           build the perfect one, and wait for it
 *   settings.indexes: require                                        FAILED_PRECONDITION with its definition
 *
 * Where gateways share a store, an index that another one has defined meanwhile is found before it is refused or defined.
 * Equal queries wait for one build. A query waits as long as its caller does; shortly before that ends it is answered
 * FAILED_PRECONDITION with the progress, and the build goes on.
 *
 * J1  A query that the rows at hand serve adds nothing; but one in descending key order by the keys alone, which production
 *     serves by an index only, has its index too: refused without it, or built behind its back.
 * J2  Of several that would do, no more are waited for than are needed.
 *
 * Known: which queries need an index, and which is the perfect one (App Engine SDK; measured). Ours: to wait.
 */
import type { RequestContext } from '../context.ts'
import { isReserved } from '../encoding/validate-key.ts'
import { DatastoreError, failedPrecondition } from '../errors.ts'
import { identityOf } from '../indexes/definition.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { type CompositeIndex, formatIndex, type IndexDefinition } from '../model/index-definition.ts'
import { MissingIndexError, perfectIndex } from '../planner/missing-index.ts'
import type { NormalQuery } from '../planner/normal-query.ts'
import { failedIndex } from './index-builds/index-builder.ts'
import type { IndexedDatabase } from './index-builds/index-job.ts'
import type { Indexes } from './index-builds/indexes.ts'

/** Rule for a query that lacks its composite index. */
export type MissingIndexPolicy = 'auto' | 'require'

export interface QueriedDatabase extends IndexedDatabase {
  readonly settings: { readonly indexes: MissingIndexPolicy }
}

/** Plans with the given indexes, or throws MissingIndexError. */
export type Planner<P> = (indexes: readonly CompositeIndex[]) => P

export class QueryIndexes {
  readonly #indexes: Indexes

  constructor(indexes: Indexes) {
    this.#indexes = indexes
  }

  /**
   * The plan of a query, at once where the indexes serve that it needs.
   *
   * @throws FAILED_PRECONDITION when an index is missing, has failed, or is not built in time
   */
  plan<P>(context: RequestContext, database: QueriedDatabase, planner: Planner<P>): MaybePromise<P> {
    try {
      return planner(database.catalogue.serving)
    } catch (error) {
      if (!(error instanceof MissingIndexError)) throw error
      return this.#provide(context, database, planner, error).then(() => this.plan(context, database, planner))
    }
  }

  /** J1, for a query that was planned without an index. @throws MissingIndexError */
  demandKeyOrder(database: QueriedDatabase, query: NormalQuery): MaybePromise<void> {
    if (!query.reverse || query.columns.length > 0 || query.kind === undefined || isReserved(query.kind)) return
    const missing = query.disjuncts
      .map(({ equalities }) => perfectIndex(query, equalities))
      .filter((index) => database.catalogue.find(index) === undefined)
    return missing.length === 0 ? undefined : this.#demand(database, missing)
  }

  async #demand(database: QueriedDatabase, missing: readonly IndexDefinition[]): Promise<void> {
    const isRequired = database.settings.indexes === 'require'
    if (isRequired) await Promise.all([this.#indexes.file?.refresh(), this.#indexes.refresh(database)])
    const declared = new Set(this.#declared().map(identityOf))
    for (const index of missing) {
      if (database.catalogue.find(index) !== undefined) continue
      if (isRequired && !declared.has(identityOf(index))) throw this.#refusal(database, new MissingIndexError(index))
      // The query does not wait: it is served without the index.
      this.#indexes.ensureForQuery(database, index).catch(() => {})
    }
  }

  /** Waits until one more of the indexes that the query lacks serves. */
  async #provide<P>(
    context: RequestContext,
    database: QueriedDatabase,
    planner: Planner<P>,
    missing: MissingIndexError,
  ): Promise<void> {
    const { catalogue, settings } = database
    await this.#indexes.file?.refresh()
    if (settings.indexes === 'require') {
      // Where indexes are built, the work on one looks for itself.
      await this.#indexes.refresh(database)
      if (serves(planner, catalogue.serving)) return
    }
    const declared = this.#declared().filter((definition) => catalogue.find(definition) === undefined)
    const candidates = [...this.#indexes.comingIn(database), ...declared]
    const needed = leastOf(planner, catalogue.serving, candidates)
    if (needed !== undefined) {
      await this.#wait(context, database, needed, (definition) => this.#indexes.ensure(database, definition))
      return
    }
    const found = catalogue.find(missing.index)
    if (found?.state === 'failed') throw failedIndex(found)
    if (settings.indexes === 'require' || isReserved(missing.index.kind)) throw this.#refusal(database, missing)
    await this.#wait(context, database, [missing.index], (index) => this.#indexes.ensureForQuery(database, index))
  }

  #refusal(database: QueriedDatabase, missing: MissingIndexError): MissingIndexError {
    this.#indexes.refused.note(database, missing.index)
    return missing
  }

  #declared(): readonly IndexDefinition[] {
    return this.#indexes.file?.definitions ?? []
  }

  async #wait(
    context: RequestContext,
    database: QueriedDatabase,
    needed: readonly IndexDefinition[],
    ensure: (definition: IndexDefinition) => Promise<unknown>,
  ): Promise<void> {
    const built = Promise.all(needed.map(ensure))
    const patience = new AbortController()
    try {
      const first = await Promise.race([built.then(() => 'built' as const), outOfPatience(context, patience.signal)])
      if (first === 'late') throw this.#notReady(database, needed)
    } finally {
      patience.abort()
      // A later failure of the build is reported by its operation alone.
      built.catch(() => {})
    }
  }

  #notReady(database: QueriedDatabase, needed: readonly IndexDefinition[]): DatastoreError {
    const [index = needed[0]] = needed.filter((each) => database.catalogue.find(each)?.state !== 'serving')
    const words = index === undefined ? '' : formatIndex(index)
    const { completed, estimated } = (index && this.#indexes.jobOf(database, index)?.progress) ?? {
      completed: 0,
      estimated: 0,
    }
    return failedPrecondition(
      `the index ${words} is being built and not ready to serve: ${completed} of ${estimated} entities are done; try again`,
      { index: words, completed: String(completed), estimated: String(estimated) },
    )
  }
}

/** The candidates that the plan cannot do without (J2); `undefined` when it cannot be made with all of them. */
function leastOf<P>(
  planner: Planner<P>,
  serving: readonly CompositeIndex[],
  candidates: readonly IndexDefinition[],
): readonly IndexDefinition[] | undefined {
  let needed = candidates.map((definition, i): CompositeIndex => ({ ...definition, id: -1n - BigInt(i) }))
  if (needed.length === 0 || !serves(planner, [...serving, ...needed])) return undefined
  for (const candidate of [...needed].reverse()) {
    const others = needed.filter((other) => other !== candidate)
    if (serves(planner, [...serving, ...others])) needed = others
  }
  return needed
}

/** Whether a query can be planned with these indexes. */
function serves(planner: Planner<unknown>, indexes: readonly CompositeIndex[]): boolean {
  try {
    planner(indexes)
    return true
  } catch (error) {
    if (error instanceof MissingIndexError) return false
    throw error
  }
}

/** Resolves shortly before the deadline of a call; rejects when its caller is gone. */
function outOfPatience(context: RequestContext, settled: AbortSignal): Promise<'late'> {
  const { deadlineAt, signal, clock } = context
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new DatastoreError('CANCELLED', 'the call was cancelled by the client'))
    if (signal?.aborted) gone()
    signal?.addEventListener('abort', gone, { once: true, signal: settled })
    if (deadlineAt === undefined) return
    const leftMs = deadlineAt - clock.steadyMs()
    // The answer has its way to go, so it must not wait for the last moment.
    const ms = Math.max(0, leftMs - Math.min(1000, leftMs / 10))
    clock.sleep(ms, settled).then(
      () => resolve('late'),
      () => {},
    )
  })
}
