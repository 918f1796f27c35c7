/** Property masks of reads: the stored bytes of an entity are cut for the answer (encoding/property-mask.ts). */
import type { RequestContext } from '../context.ts'
import { cutProperties, type PropertyMask, parsePropertyMask } from '../encoding/property-mask.ts'
import { invalidArgument } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Query } from '../model/query.ts'
import { forEachInSlices } from '../slices.ts'
import { propertiesBytes } from '../tables/entities.ts'
import type { QueryBatch, QueryResult } from './api.ts'

/** The mask of a query. A projection must not have one (measured); a keys-only query ignores it. */
export function queryMask(query: Query, propertyMask: readonly string[]): PropertyMask {
  if (query.projection.some((property) => property !== '__key__')) {
    throw invalidArgument(
      'a query has both a projection and a property mask; leave one of them out',
      'property masks are not allowed on projection queries',
    )
  }
  return parsePropertyMask(propertyMask)
}

export function maskedImage(image: EntityImage, mask: PropertyMask): EntityImage {
  const { version, createTime, updateTime, properties } = image
  return { version, createTime, updateTime, properties: cutProperties(properties, mask) }
}

/** Names of this many bytes of properties take as long to read as a row. */
const bytesOfWork = 64

/** The work of {@link maskedImage} for giveWay(): it reads names up to the last one of the mask. */
export function maskWork(image: EntityImage): number {
  return 1 + propertiesBytes(image) / bytesOfWork
}

export function maskedBatch<T extends QueryBatch>(
  context: RequestContext,
  batch: T,
  mask: PropertyMask,
): MaybePromise<T> {
  const results: QueryResult[] = []
  const step = (result: QueryResult): void => {
    const { image } = result
    results.push(image === undefined ? result : { ...result, image: maskedImage(image, mask) })
  }
  const workOf = ({ image }: QueryResult): number => (image === undefined ? 1 : maskWork(image))
  return andThen(forEachInSlices(context, batch.results, workOf, step), () => ({ ...batch, results }))
}
