/**
 * The special kinds, such as `__kind__`, whose entities describe the database. A query of ToDo gets its plan from planner/plan.ts
 * and reads the tables; one of `__kind__` reads a small store that is made for it.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Query } from '../model/query.ts'
import { MissingIndexError, orMissing } from '../planner/missing-index.ts'
import type { NormalQuery } from '../planner/normal-query.ts'
import { plan } from '../planner/plan.ts'
import type { Plan } from '../planner/plan-node.ts'
import type { TableView } from '../tables/table.ts'
import { isMetadataKind, metadataView } from './metadata-kinds.ts'
import { isStatisticsKind, type StatisticsSource, statisticsView } from './statistics.ts'

/** Whether a kind describes the database, so that a query reads all of it whatever its ancestor. */
export function isSpecialKind({ kind }: Query): boolean {
  return kind?.startsWith('__') === true && (isMetadataKind(kind) || isStatisticsKind(kind))
}

/** The plan of a query. One of a special kind needs no declared index: missing ones go to `made`, and get rows. */
export function planSpecial(
  query: NormalQuery,
  indexes: readonly CompositeIndex[],
  made: CompositeIndex[],
  shape?: number,
): Plan {
  if (!isMetadataKind(query.kind)) return plan(query, indexes, shape)
  for (;;) {
    const planned = orMissing(() => plan(query, made))
    if (!(planned instanceof MissingIndexError)) return planned
    made.push({ ...planned.index, id: BigInt(made.length + 1) })
  }
}

/** The tables as seen by a query of a special kind, with rows of the indexes that planSpecial() added. */
export function specialView(
  context: RequestContext,
  view: TableView,
  query: Query,
  source: StatisticsSource,
  made: readonly CompositeIndex[],
): MaybePromise<TableView> {
  const { kind, partition } = query
  if (!isMetadataKind(kind)) return statisticsView(context, source, kind)
  const { projectId, databaseId } = source
  const { namespaceId } = partition
  const survey = source.hasAllRows ? undefined : source.survey
  return metadataView(context, view, kind, { projectId, databaseId, namespaceId }, made, survey)
}
