/**
 * Plans a query with the existing composite indexes, and gets the missing ones. ToDo WHERE done=false ORDER BY priority needs
 * ToDo(done, priority):
 *
 *   the index is being built, or is in index.yaml    the query waits for it
 *   settings.indexes: auto                           the perfect index is built, and the query waits for it
 *   settings.indexes: require                        FAILED_PRECONDITION with its definition
 *
 * Equal queries share one build, also with an index that another gateway has defined. A query waits until shortly before its
 * deadline; then it is answered FAILED_PRECONDITION with the progress, and the build continues.
 *
 * J1  A query that existing rows serve adds no index, except in descending key order by keys alone, for which production needs
 *     an index: `require` refuses it, and `auto` answers at once and builds the index in the background.
 * J2  Of several indexes that would serve, a query waits for no more than it needs.
 *
 * Known: which queries need an index, and the perfect one (App Engine SDK; measured). Ours: waiting.
 */
import type { RequestContext } from '../context.ts'
import { isReserved } from '../encoding/validate-key.ts'
import { failedPrecondition } from '../errors.ts'
import { identityOf } from '../indexes/definition.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { type CompositeIndex, formatIndex, type IndexDefinition } from '../model/index-definition.ts'
import { MissingIndexError, orMissing, perfectIndex } from '../planner/missing-index.ts'
import type { NormalQuery } from '../planner/normal-query.ts'
import { turnOfItsOwn, whileWanted } from '../slices.ts'
import type { IndexedDatabase } from './index-builds/index-job.ts'
import { failedIndex, type Indexes } from './index-builds/indexes.ts'

/** The rule for a query whose composite index is missing. */
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

  /** The plan of a query; a promise if an index must be built. @throws FAILED_PRECONDITION if none serves in time */
  plan<P>(context: RequestContext, database: QueriedDatabase, planner: Planner<P>): MaybePromise<P> {
    const planned = orMissing(() => planner(database.catalogue.serving))
    if (!(planned instanceof MissingIndexError)) return planned
    return this.#provide(context, database, planner, planned).then(() => this.plan(context, database, planner))
  }

  /** For a query that was planned without an index (J1). @throws MissingIndexError */
  demandKeyOrder(context: RequestContext, database: QueriedDatabase, query: NormalQuery): MaybePromise<void> {
    if (!query.reverse || query.columns.length > 0 || query.kind === undefined || isReserved(query.kind)) return
    const missing = query.disjuncts
      .map(({ equalities }) => perfectIndex(query, equalities))
      .filter((index) => database.catalogue.find(index) === undefined)
    return missing.length === 0 ? undefined : this.#demand(context, database, missing)
  }

  async #demand(
    context: RequestContext,
    database: QueriedDatabase,
    missing: readonly IndexDefinition[],
  ): Promise<void> {
    const isRequired = database.settings.indexes === 'require'
    if (isRequired) await Promise.all([this.#indexes.file?.refresh(), this.#indexes.refresh(database)])
    const declared = new Set(this.#declared().map(identityOf))
    for (const index of missing) {
      if (database.catalogue.find(index) !== undefined) continue
      if (isRequired && !declared.has(identityOf(index)))
        throw this.#refusal(context, database, new MissingIndexError(index))
      // The query does not wait, because it is answered without the index.
      this.#indexes.ensureForQuery(database, index).catch(() => {})
    }
  }

  async #provide<P>(
    context: RequestContext,
    database: QueriedDatabase,
    planner: Planner<P>,
    missing: MissingIndexError,
  ): Promise<void> {
    const { catalogue, settings } = database
    await this.#indexes.file?.refresh()
    if (settings.indexes === 'require') {
      // A build does its own refresh.
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
    if (settings.indexes === 'require' || isReserved(missing.index.kind))
      throw this.#refusal(context, database, missing)
    await this.#wait(context, database, [missing.index], (index) => this.#indexes.ensureForQuery(database, index))
  }

  #refusal(context: RequestContext, database: QueriedDatabase, missing: MissingIndexError): MissingIndexError {
    if (!context.isUncounted) this.#indexes.refused.note(database, missing.index)
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
    const { deadlineAt, clock } = context
    const patience = new AbortController()
    const built: Promise<unknown>[] = [Promise.all(needed.map(ensure))]
    // Some time remains for sending the answer.
    if (deadlineAt !== undefined) {
      const leftMs = deadlineAt - clock.steadyMs()
      const ms = Math.max(0, leftMs - Math.min(1000, leftMs / 10))
      built.push(clock.sleep(ms, patience.signal).then(() => this.#refuseUnready(database, needed)))
    }
    // The operation of the build reports later failures.
    for (const one of built) one.catch(() => {})
    try {
      await whileWanted(context, Promise.race(built))
      await turnOfItsOwn(context)
    } finally {
      patience.abort()
    }
  }

  #refuseUnready(database: QueriedDatabase, needed: readonly IndexDefinition[]): never {
    const [index = needed[0]] = needed.filter((each) => database.catalogue.find(each)?.state !== 'serving')
    const words = index === undefined ? '' : formatIndex(index)
    const job = index && this.#indexes.jobOf(database, index)
    const { completed = 0, estimated = 0 } = job?.progress ?? {}
    throw failedPrecondition(
      `the index ${words} is being built and not ready to serve: ${completed} of ${estimated} entities are done; try again`,
      { index: words, completed: String(completed), estimated: String(estimated) },
    )
  }
}

/** The candidates that the plan needs (J2); `undefined` if all of them together are not enough. */
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

function serves(planner: Planner<unknown>, indexes: readonly CompositeIndex[]): boolean {
  return !(orMissing(() => planner(indexes)) instanceof MissingIndexError)
}
