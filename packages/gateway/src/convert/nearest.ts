/** Converts FindNearest of the API to the engine's, which checks whether its parts fit together. */
import {
  type DistanceMeasure,
  decodeValue,
  invalidArgument,
  type NearestQuery,
  type PartitionId,
} from '@sixtables/engine'
import type { FindNearest } from '#gen/wire.js'

const measures: Readonly<Record<number, DistanceMeasure>> = { 1: 'euclidean', 2: 'cosine', 3: 'dotProduct' }

export function nearestOf(nearest: FindNearest, partition: PartitionId): NearestQuery {
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
