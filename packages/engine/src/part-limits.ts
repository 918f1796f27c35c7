/**
 * Limits on the number of parts of a request, with their errors. The gateway checks them while it reads a request, and the
 * engine before it plans one, with the same messages. Parts are counted before they are sorted, compared or multiplied out
 * (normalize.test.ts, repeated-fields.test.ts).
 *
 * Ours: the limits on projected and distinct properties, since a query with more of them needs an index that may not exist; and those on bindings
 * and on paths of masks.
 */
import { type DatastoreError, invalidArgument } from './errors.ts'
import { limits } from './limits.ts'

export interface PartLimit {
  readonly max: number
  /** INVALID_ARGUMENT with the number found, up to {@link countedMax}, and the limit. */
  refusal(count: number): DatastoreError
}

/** Longer lists are not counted to their end: a request has room for five million empty elements. */
export const countedMax = 100_000

/** @throws INVALID_ARGUMENT */
export function checkPartCount({ max, refusal }: PartLimit, count: number): void {
  if (count > max) throw refusal(count)
}

/** @param message - with the places {count} and {max}. @param known - production's text, with {max} */
function partLimit(max: number, message: string, known?: string): PartLimit {
  const filled = (text: string, count: number): string =>
    text
      .replace('{count}', count > countedMax ? `more than ${countedMax}` : String(count))
      .replace('{max}', String(max))
  return { max, refusal: (count) => invalidArgument(filled(message, count), known && filled(known, count)) }
}

type PartLimitName =
  | 'kinds'
  | 'queryComponents'
  | 'projectedProperties'
  | 'distinctProperties'
  | 'aggregations'
  | 'queryValues'
  | 'lookupKeys'
  | 'pathElements'
  | 'propertyTransforms'
  | 'gqlBindings'
  | 'maskPaths'
  | 'jsonMembers'
  | 'unknownFields'

export const partLimits: Readonly<Record<PartLimitName, PartLimit>> = {
  // One is allowed. For a few the reader of the query names them in its error.
  kinds: partLimit(10, 'a query names at most one kind; this one names {count}', 'multiple kinds not supported'),
  queryComponents: partLimit(
    limits.queryComponentsMax,
    'the query has {count} filters and orders; at most {max} are allowed, both together',
    'The query may not have more than {max} filters + sort orders + ancestor total.',
  ),
  projectedProperties: partLimit(
    limits.compositeIndexPropertiesMax,
    'the query projects {count} properties; at most {max} are allowed, as in an index',
  ),
  distinctProperties: partLimit(
    limits.compositeIndexPropertiesMax,
    'the query is distinct on {count} properties; at most {max} are allowed, as in an index',
  ),
  aggregations: partLimit(
    limits.aggregationsMax,
    // Clients compare the whole text.
    'The maximum number of aggregations allowed in an aggregation query is {max}. Received: {count}',
  ),
  queryValues: partLimit(
    limits.vectorDimensionsMax,
    'an array in the query has {count} values; at most {max} are allowed, the dimensions of a vector',
  ),
  lookupKeys: partLimit(
    limits.lookupKeysMax,
    'the lookup names {count} keys, at most {max} are allowed: divide them among several calls',
  ),
  pathElements: partLimit(
    limits.pathElementsMax,
    'a key has {count} path elements, at most {max} are allowed',
    'Key path is too long. Cannot exceed {max} elements.',
  ),
  propertyTransforms: partLimit(
    limits.propertyTransformsMax,
    'an entity has {count} property transforms in one commit, at most {max} are allowed',
  ),
  // Valid queries use far fewer, and none may be unused.
  gqlBindings: partLimit(1_000, 'the GQL query has {count} bindings of one kind, at most {max} are allowed'),
  maskPaths: partLimit(5_000, 'a property mask has {count} paths, at most {max} are allowed'),
  jsonMembers: partLimit(
    100_000,
    'the body has more than {max} members of objects and elements of lists, which JSON of this method may have at most',
  ),
  // A field has at least two bytes, so a stored entity never has more.
  unknownFields: partLimit(
    limits.entityBytesMax / 2,
    'a message has more than {max} fields that this API does not have',
  ),
}
