/**
 * A vector search, checked and split into the query for the candidates and the rest.
 *
 * Known: comments of google.datastore.v1.FindNearest; dimensions and limit of Firestore's page on vector search. Measured:
 * the Firestore emulator refuses an array that is no vector value. Ours: an empty vector is refused. A projection may contain
 * the distance; keys only plus the distance is a projection.
 */
import type { PropertyMask } from '../encoding/property-mask.ts'
import { isReserved, validateNameBytes } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { DistanceMeasure, NearestQuery, Query } from '../model/query.ts'
import { type Value, vectorMeaning } from '../model/value.ts'

export interface NearestPlan {
  /** The query for the candidates. */
  readonly base: Query
  readonly property: string
  readonly vector: Float64Array
  readonly measure: DistanceMeasure
  readonly limit: number
  readonly distanceProperty: string | undefined
  readonly threshold: number | undefined
  /** The properties in the result, besides the distance. */
  readonly mask: PropertyMask | undefined
}

/** @throws INVALID_ARGUMENT for an invalid vector search */
export function planNearest(query: Query, nearest: NearestQuery, mask: PropertyMask | undefined): NearestPlan {
  const { nearest: _, ...base } = query
  const { property, measure, threshold } = nearest
  checkName(property, 'vector_property')
  const vector = vectorOf(nearest.vector)
  const limit = limitOf(nearest)
  const distanceProperty = nearest.distanceProperty || undefined
  if (distanceProperty !== undefined) checkName(distanceProperty, 'distance_result_property')
  const projection = projectionOf(query.projection, distanceProperty)
  return { base: { ...base, projection }, property, vector, measure, limit, distanceProperty, threshold, mask }
}

function checkName(name: string, what: string): void {
  if (name === '') throw invalidArgument(`find_nearest: ${what} is empty; name a property`)
  if (isReserved(name)) throw invalidArgument(`find_nearest: ${what} is ${name}, which is reserved`)
  validateNameBytes(name, limits.propertyNameBytesMax, `find_nearest: ${what}`)
}

function vectorOf(value: Value): Float64Array {
  if (value.type !== 'array' || value.meaning !== vectorMeaning) {
    throw invalidArgument(
      `find_nearest: the query vector is not a vector value: give an array of doubles with meaning ${vectorMeaning}`,
      'Query Value must be of type vector.',
    )
  }
  const { values } = value
  if (values.length === 0 || values.length > limits.vectorDimensionsMax) {
    throw invalidArgument(
      `find_nearest: the query vector has ${values.length} dimensions; 1 to ${limits.vectorDimensionsMax} are allowed`,
    )
  }
  return Float64Array.from(values, (element) => {
    if (element.type === 'double') return element.value
    throw invalidArgument(`find_nearest: the query vector holds a value of type ${element.type}; it holds doubles only`)
  })
}

function limitOf({ limit }: NearestQuery): number {
  if (limit === undefined) throw invalidArgument('find_nearest has no limit; say how many results are wanted')
  if (limit < 1 || limit > limits.nearestResultsMax) {
    throw invalidArgument(`find_nearest: the limit is ${limit}; 1 to ${limits.nearestResultsMax} are allowed`)
  }
  return limit
}

/** The projection of the candidates, without the distance, which is in no row. */
function projectionOf(projection: readonly string[], distanceProperty: string | undefined): readonly string[] {
  const rest = projection.filter((name) => name !== distanceProperty)
  return projection.length > 0 && rest.length === 0 ? ['__key__'] : rest
}
