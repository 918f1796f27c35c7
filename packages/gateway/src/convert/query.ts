/**
 * Converts a Query of the API to the engine's. It refuses only parts that the engine's form cannot express, such as two
 * kinds or an unknown operator; the planner checks whether the parts fit together.
 */

import {
  type DistanceMeasure,
  decodeValue,
  type Filter,
  fillPartition,
  invalidArgument,
  type NearestQuery,
  type PartitionId,
  type PropertyOperator,
  type Query,
  validatePartition,
} from '@sixtables/engine'
import type { FindNearest, Filter as WireFilter, PartitionId as WirePartition, Query as WireQuery } from '#gen/wire.js'
import type { DatabaseName } from './parameters.ts'

/** PropertyFilter.Operator. */
export const operatorNumbers: Readonly<Record<PropertyOperator, number>> = {
  lessThan: 1,
  lessThanOrEqual: 2,
  greaterThan: 3,
  greaterThanOrEqual: 4,
  equal: 5,
  in: 6,
  notEqual: 9,
  hasAncestor: 11,
  notIn: 13,
}

const operators = new Map(Object.entries(operatorNumbers).map(([name, number]) => [number, name as PropertyOperator]))

const descending = 2

/** The partition of a query; empty parts are filled from the request, as for keys. */
export function partitionOf(partition: WirePartition | null, scope: DatabaseName): PartitionId {
  const { projectId = '', databaseId = '', namespaceId = '' } = partition ?? {}
  const filled = fillPartition({ projectId, databaseId, namespaceId }, scope)
  validatePartition(filled, scope)
  return filled
}

export function queryOf(query: WireQuery, partition: PartitionId): Query {
  return {
    partition,
    kind: kindOf(query),
    projection: query.projection.map(({ property }) => property?.name ?? ''),
    filter: query.filter === null ? undefined : filterOf(query.filter, partition),
    order: query.order.map(({ property, direction }) => ({
      property: property?.name ?? '',
      direction: directionOf(direction),
    })),
    distinctOn: query.distinctOn.map(({ name }) => name),
    startCursor: query.startCursor.length === 0 ? undefined : query.startCursor,
    endCursor: query.endCursor.length === 0 ? undefined : query.endCursor,
    offset: query.offset,
    limit: query.limit?.value,
    nearest: query.findNearest === null ? undefined : nearestOf(query.findNearest, partition),
  }
}

function kindOf({ kind }: WireQuery): string | undefined {
  if (kind.length > 1) {
    const names = kind.map(({ name }) => `"${name}"`).join(', ')
    throw invalidArgument(`a query names at most one kind; this one names ${names}`, 'multiple kinds not supported')
  }
  const name = kind[0]?.name
  if (name === '')
    throw invalidArgument(
      'the kind of a query is empty; name a kind, or leave it out for all kinds',
      'The kind is the empty string.',
    )
  return name
}

function directionOf(direction: number): 'ascending' | 'descending' {
  if (direction < 0 || direction > descending) {
    throw invalidArgument(`the direction ${direction} of an order is unknown; choose ASCENDING (1) or DESCENDING (2)`)
  }
  return direction === descending ? 'descending' : 'ascending'
}

function filterOf({ compositeFilter, propertyFilter }: WireFilter, partition: PartitionId): Filter {
  if (propertyFilter !== null) {
    const property = propertyFilter.property?.name ?? ''
    const operator = operators.get(propertyFilter.op)
    if (operator === undefined) {
      throw invalidArgument(
        propertyFilter.op === 0
          ? `the filter on "${property}" has no operator`
          : `the filter on "${property}" has the unknown operator ${propertyFilter.op}`,
        propertyFilter.op === 0 ? 'a property filter must specify an operator' : undefined,
      )
    }
    return { type: 'property', property, operator, value: decodeValue(propertyFilter.value, partition, property) }
  }
  if (compositeFilter === null)
    throw invalidArgument(
      'a filter is neither a composite nor a property filter',
      'a filter must have exactly one of its fields set',
    )
  const { op, filters } = compositeFilter
  if (op !== 1 && op !== 2) {
    throw invalidArgument(
      op === 0 ? 'a composite filter has no operator' : `a composite filter has the unknown operator ${op}`,
      op === 0 ? 'a composite filter must specify an operator' : undefined,
    )
  }
  if (filters.length === 0)
    throw invalidArgument(
      'a composite filter has no filters; give at least one',
      'A composite filter must have at least one sub-filter.',
    )
  return {
    type: 'composite',
    operator: op === 1 ? 'and' : 'or',
    filters: filters.map((filter) => filterOf(filter, partition)),
  }
}

const measures: Readonly<Record<number, DistanceMeasure>> = { 1: 'euclidean', 2: 'cosine', 3: 'dotProduct' }

/** A vector search. The engine checks whether its parts fit together. */
function nearestOf(nearest: FindNearest, partition: PartitionId): NearestQuery {
  const { vectorProperty, queryVector, distanceMeasure, limit, distanceResultProperty, distanceThreshold } = nearest
  const measure = measures[distanceMeasure]
  if (measure === undefined) {
    throw invalidArgument(
      distanceMeasure === 0
        ? 'find_nearest has no distance measure; choose EUCLIDEAN (1), COSINE (2) or DOT_PRODUCT (3)'
        : `find_nearest has the unknown distance measure ${distanceMeasure}`,
    )
  }
  if (queryVector.length === 0) throw invalidArgument('find_nearest has no query vector')
  return {
    property: vectorProperty?.name ?? '',
    vector: decodeValue(queryVector, partition, 'query_vector'),
    measure,
    limit: limit?.value,
    distanceProperty: distanceResultProperty === '' ? undefined : distanceResultProperty,
    threshold: distanceThreshold?.value,
  }
}
