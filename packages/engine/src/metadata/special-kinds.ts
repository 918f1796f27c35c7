/**
 * Where the rows of a query come from: the tables, or for the kinds that are about the database a store made for the query.
 */
import type { RequestContext } from '../context.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { Query } from '../model/query.ts'
import type { TableView } from '../tables/table.ts'
import { checkMetadataQuery, isMetadataKind, metadataView } from './metadata-kinds.ts'
import { isStatisticsKind, type StatisticsSource, statisticsView } from './statistics.ts'

/** Whether a kind is about the database, and so reads all of it whatever its ancestor. Refuses what it cannot be asked. */
export function isSpecialKind(query: Query): boolean {
  if (isMetadataKind(query.kind)) {
    checkMetadataQuery(query)
    return true
  }
  return isStatisticsKind(query.kind)
}

/** The tables as a query of a special kind sees them. */
export function specialView(
  context: RequestContext,
  view: TableView,
  query: Query,
  source: StatisticsSource,
): MaybePromise<TableView> {
  const { kind, partition } = query
  if (!isMetadataKind(kind)) return statisticsView(context, view, source)
  const { projectId, databaseId } = source
  return metadataView(context, view, kind, { projectId, databaseId, namespaceId: partition.namespaceId })
}
