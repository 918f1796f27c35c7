/** Property masks of reads: the stored bytes of an entity are cut for the answer (encoding/property-mask.ts). */
import { cutProperties, type PropertyMask, parsePropertyMask } from '../encoding/property-mask.ts'
import { invalidArgument } from '../errors.ts'
import type { EntityImage } from '../model/entity.ts'
import type { QueryBatch, RunQueryRequest } from './api.ts'

/** The mask of a query. A projection must not have one (measured); a keys-only query ignores it. */
export function queryMask({ query, propertyMask }: RunQueryRequest): PropertyMask | undefined {
  if (propertyMask === undefined) return undefined
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

export function maskedBatch<T extends QueryBatch>(batch: T, mask: PropertyMask): T {
  const results = batch.results.map((result) =>
    result.image === undefined ? result : { ...result, image: maskedImage(result.image, mask) },
  )
  return { ...batch, results }
}
