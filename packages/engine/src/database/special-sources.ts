/**
 * Sources of queries of metadata and statistics kinds, with their caches. Statistics are those of the moment of the read. With
 * a `statisticsEveryMs` of 60,000, reads of the present get statistics that are up to a minute old.
 */
import type { RequestContext } from '../context.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { isStatisticsKind, type StatisticsSource } from '../metadata/statistics.ts'
import { type Survey, surveyOf } from '../metadata/survey.ts'
import type { DatabaseName } from '../model/key.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadOptions } from './api.ts'
import type { DatabaseParts } from './database-parts.ts'

interface SurveyedDatabase extends IndexRules, DatabaseName {
  readonly code: string
}

export class SpecialSources {
  readonly #database: SurveyedDatabase
  readonly #parts: DatabaseParts
  /** The latest survey of now, and the state of the store that it shows. */
  #survey: { readonly found: Survey; readonly state: string } | undefined
  /** The latest statistics, if the engine takes them at intervals. */
  #taken: { readonly survey: Survey; readonly at: bigint } | undefined

  constructor(database: SurveyedDatabase, parts: DatabaseParts) {
    this.#database = database
    this.#parts = parts
  }

  /** The source for a read over `view`. @param kind - the queried kind */
  of(
    context: RequestContext,
    read: ReadOptions | undefined,
    view: TableView,
    kind: string | undefined,
  ): StatisticsSource {
    const { projectId, databaseId, code } = this.#database
    const { local, versions, statisticsEveryMs } = this.#parts
    const isOfNow =
      read?.transaction === undefined && read?.newTransaction === undefined && read?.readTime === undefined
    const survey = (): MaybePromise<Survey> => {
      const state = isOfNow ? this.#state() : undefined
      if (state !== undefined && state === this.#survey?.state) return this.#survey.found
      return andThen(surveyOf(context, view, code, this.#database), (found) => {
        if (state !== undefined && state === this.#state()) this.#survey = { found, state }
        return found
      })
    }
    const source = { projectId, databaseId, hasAllRows: local?.onDemand?.keepsAll ?? true }
    const at = versions.readTime()
    if (statisticsEveryMs === 0 || !isOfNow || !isStatisticsKind(kind)) return { ...source, survey, at }
    const taken = this.#taken
    if (taken !== undefined && at - taken.at < BigInt(statisticsEveryMs) * 1000n) {
      return { ...source, survey: () => taken.survey, at: taken.at }
    }
    const take = () =>
      andThen(survey(), (fresh) => {
        this.#taken = { survey: fresh, at }
        return fresh
      })
    return { ...source, survey: take, at }
  }

  /** Called when rows changed without a commit. */
  forget(): void {
    this.#survey = undefined
    this.#taken = undefined
  }

  /** A text that changes with each commit and with the maintained indexes; `undefined` while records are pending. */
  #state(): string | undefined {
    const { local } = this.#parts
    if (local === undefined || local.log.pending.count > 0) return undefined
    return [local.recent.now, ...this.#database.indexes.map(({ id }) => id)].join(' ')
  }
}
