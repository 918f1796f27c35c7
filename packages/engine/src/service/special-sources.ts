/** Sources of queries of metadata and statistics kinds, with their caches. */
import type { RequestContext } from '../context.ts'
import type { StatisticsSource } from '../metadata/statistics.ts'
import { RememberedSurvey, surveyOf } from '../metadata/survey.ts'
import type { IndexRules } from '../tables/entity-rows.ts'
import type { TableView } from '../tables/table.ts'
import type { ReadOptions } from './api.ts'
import type { SharedParts } from './shared-parts.ts'

interface SurveyedDatabase extends IndexRules {
  readonly projectId: string
  readonly databaseId: string
  readonly code: string
}

export class SpecialSources {
  readonly #database: SurveyedDatabase
  readonly #shared: SharedParts
  readonly #survey = new RememberedSurvey()

  constructor(database: SurveyedDatabase, shared: SharedParts) {
    this.#database = database
    this.#shared = shared
  }

  /** For a read over `view`. */
  of(context: RequestContext, read: ReadOptions | undefined, view: TableView): StatisticsSource {
    const { projectId, databaseId, code } = this.#database
    const { onDemand, versions } = this.#shared
    const isOfNow =
      read?.transaction === undefined && read?.newTransaction === undefined && read?.readTime === undefined
    const survey = () =>
      this.#survey.get(
        () => (isOfNow ? this.#state() : undefined),
        () => surveyOf(context, view, code, this.#database),
      )
    return { projectId, databaseId, survey, hasAllRows: onDemand?.keepsAll ?? true, at: versions.readTime() }
  }

  /** Rows came or went without a commit. */
  forget(): void {
    this.#survey.forget()
  }

  /** The same as long as no commit comes, none waits to be applied, and the same indexes are maintained. */
  #state(): string | undefined {
    const { recent, log } = this.#shared
    if (log.pending.count > 0) return undefined
    return [recent.now, ...this.#database.indexes.map(({ id }) => id)].join(' ')
  }
}
