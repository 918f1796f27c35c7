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

/** @param known - production's text */
function partLimit(max: number, message: (count: number | string) => string, known?: string): PartLimit {
  const inWords = (count: number): number | string => (count > countedMax ? `more than ${countedMax}` : count)
  return { max, refusal: (count) => invalidArgument(message(inWords(count)), known) }
}

const gqlBindingsMax = 1000
const maskPathsMax = 5000
const jsonMembersMax = 100_000
/** A field has at least two bytes, so a stored entity never has more. */
const unknownFieldsMax = limits.entityBytesMax / 2
const indexPropertiesMax = limits.compositeIndexPropertiesMax

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
  kinds: partLimit(
    10,
    (count) => `a query names at most one kind; this one names ${count}`,
    'multiple kinds not supported',
  ),
  queryComponents: partLimit(
    limits.queryComponentsMax,
    (count) =>
      `the query has ${count} filters and orders; at most ${limits.queryComponentsMax} are allowed, both together`,
    `The query may not have more than ${limits.queryComponentsMax} filters + sort orders + ancestor total.`,
  ),
  projectedProperties: partLimit(
    indexPropertiesMax,
    (count) => `the query projects ${count} properties; at most ${indexPropertiesMax} are allowed, as in an index`,
  ),
  distinctProperties: partLimit(
    indexPropertiesMax,
    (count) =>
      `the query is distinct on ${count} properties; at most ${indexPropertiesMax} are allowed, as in an index`,
  ),
  aggregations: partLimit(
    limits.aggregationsMax,
    // Clients compare the whole text.
    (count) =>
      `The maximum number of aggregations allowed in an aggregation query is ${limits.aggregationsMax}. Received: ${count}`,
  ),
  queryValues: partLimit(
    limits.vectorDimensionsMax,
    (count) =>
      `an array in the query has ${count} values; at most ${limits.vectorDimensionsMax} are allowed, the dimensions of a vector`,
  ),
  lookupKeys: partLimit(
    limits.lookupKeysMax,
    (count) =>
      `the lookup names ${count} keys, at most ${limits.lookupKeysMax} are allowed: divide them among several calls`,
  ),
  pathElements: partLimit(
    limits.pathElementsMax,
    (count) => `a key has ${count} path elements, at most ${limits.pathElementsMax} are allowed`,
    `Key path is too long. Cannot exceed ${limits.pathElementsMax} elements.`,
  ),
  propertyTransforms: partLimit(
    limits.propertyTransformsMax,
    (count) =>
      `an entity has ${count} property transforms in one commit, at most ${limits.propertyTransformsMax} are allowed`,
  ),
  // Valid queries use far fewer, and none may be unused.
  gqlBindings: partLimit(
    gqlBindingsMax,
    (count) => `the GQL query has ${count} bindings of one kind, at most ${gqlBindingsMax} are allowed`,
  ),
  maskPaths: partLimit(
    maskPathsMax,
    (count) => `a property mask has ${count} paths, at most ${maskPathsMax} are allowed`,
  ),
  jsonMembers: partLimit(
    jsonMembersMax,
    () =>
      `the body has more than ${jsonMembersMax} members of objects and elements of lists, which JSON of this method may have at most`,
  ),
  unknownFields: partLimit(
    unknownFieldsMax,
    () => `a message has more than ${unknownFieldsMax} fields that this API does not have`,
  ),
}
