/** The use of indexes by a query: its properties, the composite indexes of its plan, and the number of skipped results. */

import type { QueryFact } from '../call-fact.ts'
import type { ResultPage } from '../executor/result-page.ts'
import { formatIndex } from '../model/index-definition.ts'
import type { Filter, Query } from '../model/query.ts'
import { type Plan, scansOf } from '../planner/plan-node.ts'

export function queryFact(query: Query, planned: Plan, { results, skipped }: ResultPage): QueryFact {
  const { partition, kind } = query
  const properties = propertiesNamed(query)
  const indexes = scansOf(planned.source).flatMap(({ index }) => (index === undefined ? [] : [formatIndex(index)]))
  return { call: 'query', partition, kind, properties, indexes, returned: results.length, skipped }
}

/** Properties in the filters, orders, projection or groups of the query. */
function propertiesNamed({ filter, order, projection, distinctOn }: Query): readonly string[] {
  const names = [...order.map(({ property }) => property), ...projection, ...distinctOn]
  if (filter !== undefined) addNames(filter, names)
  return names
}

function addNames(filter: Filter, names: string[]): void {
  if (filter.type === 'property') names.push(filter.property)
  else for (const part of filter.filters) addNames(part, names)
}
