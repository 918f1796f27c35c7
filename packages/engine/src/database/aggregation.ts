/**
 * Aggregations over a query: checks, names of the answers, and a plan that reads the values.
 *
 *   COUNT(*) alone         counts the results of the query as RunQuery gives them
 *   SUM(price), AVG(tax)   read the query as a projection of price and tax, in the query's order, limit and offset: an
 *                          entity without one of them, or with one unindexed, is not even in COUNT(*); one with several
 *                          values has a row for each combination
 *   price = 4 in WHERE     gives price the value 4 in each result, and needs no row of price
 *
 * The results of find_nearest are ordered by distance, which no index row has, so that query runs and its results are aggregated one
 * by one, by the same rules: an entity with several values counts once for each.
 *
 * Metadata and statistics kinds are aggregated like any other. Known: aggregations read index entries; five at most.
 * Measured on Google's Firestore emulator in Datastore mode: the projection and each refusal. Ours: the fixed value
 * (docs/reference/differences.md), and find_nearest: Google's Firestore emulator aggregates all candidates, as if it were not there.
 */
import type { RequestContext } from '../context.ts'
import { type IndexOptions, indexEntries } from '../encoding/index-entries.ts'
import { isReserved, validateNameBytes } from '../encoding/validate-key.ts'
import { invalidArgument } from '../errors.ts'
import { aggregate, resultOf } from '../executor/aggregate.ts'
import { NumberTotal } from '../executor/aggregate-number.ts'
import { limits } from '../limits.ts'
import { andThen, type MaybePromise, runSteps } from '../maybe-promise.ts'
import { checkMetadataQuery } from '../metadata/metadata-kinds.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'
import { isInequality } from '../planner/disjuncts.ts'
import { type Conjunction, countFilters, keyProperty, readFilter } from '../planner/filters.ts'
import { normalize, type QueryDatabase } from '../planner/normalize.ts'
import type { Aggregation, AggregationBatch, QueryBatch, RunAggregationQueryRequest } from './api.ts'
import type { Explanation } from './explanation.ts'
import { type PlannedRead, queryFact, readByPlan, runQuery } from './query.ts'
import type { VerbParts } from './verb-parts.ts'

export function runAggregationQuery(
  parts: VerbParts,
  context: RequestContext,
  request: RunAggregationQueryRequest,
  explanation?: Explanation,
): MaybePromise<AggregationBatch> {
  const { database } = parts
  const { aggregations, ...ofQuery } = request
  const { query, read } = ofQuery
  if (query.nearest !== undefined) {
    const checked = checkAggregations(aggregations, query)
    return andThen(runQuery(parts, context, ofQuery, explanation), ({ results, readTime, transaction }) => {
      return { values: valuesOfResults(results, aggregations, checked, database.indexOptions), readTime, transaction }
    })
  }
  const asked = aggregatedRead(request, database)
  return andThen(runSteps(readByPlan(parts, context, read, asked, explanation)), (result) => {
    if (explanation?.analyze !== false) context.ledger.fact = queryFact(query, result.plan, 0, 0)
    const { found: values, readTime, transaction } = result
    return { values, readTime, transaction }
  })
}

/** Checks a request; its read gives the answers by name, in request order. @throws INVALID_ARGUMENT */
export function aggregatedRead(
  { query, aggregations }: RunAggregationQueryRequest,
  database: QueryDatabase,
): PlannedRead<ReadonlyMap<string, Value>> {
  checkMetadataQuery(query)
  const { names, properties } = checkAggregations(aggregations, query)
  const filter = properties.length === 0 ? undefined : query.filter
  checkPartCount(partLimits.queryComponents, countFilters(filter))
  const { conjunctions } = readFilter(filter, query.partition)
  const fixed = new Map<string, string>()
  for (const property of properties) {
    const code = fixedCode(conjunctions, property)
    if (code !== undefined) fixed.set(property, code)
  }
  const columns = properties.filter((property) => !fixed.has(property))
  return {
    query,
    normal: normalize(columns.length === 0 ? query : withoutKeyOrder(query), database, columns),
    aggregated: names,
    run: (execution, window) =>
      andThen(
        aggregate(execution, { terms: aggregations, fixed }, window),
        ({ values }) => new Map(names.map((name, i) => [name, values[i] as Value])),
      ),
    none: () => new Map(),
  }
}

interface CheckedAggregations {
  /** Names of the answers, in request order. */
  readonly names: readonly string[]
  readonly properties: readonly string[]
}

const none = new Uint8Array(0)

function valuesOfResults(
  results: QueryBatch['results'],
  aggregations: readonly Aggregation[],
  { names, properties }: CheckedAggregations,
  indexOptions: IndexOptions,
): ReadonlyMap<string, Value> {
  const totals = new Map(properties.map((property) => [property, new NumberTotal()]))
  let count = 0
  for (const { image, projected } of results) {
    const entries = properties.length === 0 ? [] : indexEntries(image?.properties ?? projected ?? none, indexOptions)
    const values = properties.map((property) => entries.filter((entry) => entry.property === property))
    const rows = values.reduce((product, { length }) => product * length, 1)
    count += rows
    for (const [i, total] of [...totals.values()].entries()) {
      const mine = values[i] ?? []
      for (const { valueCode } of mine) {
        for (let row = 0; row < rows / mine.length; row++) total.addCode(valueCode, 0, false)
      }
    }
  }
  return new Map(aggregations.map((term, i) => [names[i] ?? '', resultOf(term, count, totals)]))
}

/** @throws INVALID_ARGUMENT for a forbidden aggregation */
function checkAggregations(aggregations: readonly Aggregation[], query: Query): CheckedAggregations {
  const { length } = aggregations
  if (length === 0)
    throw invalidArgument(
      'an aggregation query has no aggregations; it needs at least one',
      'Aggregations can not be empty.',
    )
  checkPartCount(partLimits.aggregations, length)
  for (const aggregation of aggregations) {
    if (aggregation.operator === 'count' && aggregation.upTo !== undefined && aggregation.upTo < 0n) {
      throw invalidArgument(
        `up_to of a count is ${aggregation.upTo}; it must not be negative`,
        'The `up_to` value in a COUNT aggregation must be greater than or equal to zero.',
      )
    }
  }
  const names = namesOf(aggregations)
  const properties = [...new Set(aggregations.flatMap((each) => (each.operator === 'count' ? [] : [each.property])))]
  checkProperties(properties, query)
  return { names, properties }
}

/** The aliases. Missing ones are property_1, property_2, …, numbered among themselves (measured). */
function namesOf(aggregations: readonly Aggregation[]): readonly string[] {
  let unnamed = 0
  const names = aggregations.map(({ alias }) => alias || `property_${++unnamed}`)
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i)
      throw invalidArgument(
        `the alias ${JSON.stringify(name)} is used twice`,
        `Aggregation aliases contain duplicate alias: ${name}.`,
      )
    if (isReserved(name))
      throw invalidArgument(
        `the alias ${JSON.stringify(name)} is reserved`,
        `The property.name ${JSON.stringify(name)} is reserved.`,
      )
    validateNameBytes(name, limits.propertyNameBytesMax, 'an alias')
  }
  return names
}

function checkProperties(properties: readonly string[], { kind, projection }: Query): void {
  for (const property of properties) {
    if (property === '') throw invalidArgument('a sum or an average names no property', 'Empty aggregation field.')
    validateNameBytes(property, limits.propertyNameBytesMax, 'the name of an aggregated property')
    if (isReserved(property)) throw invalidArgument(`Aggregations are not supported for the property: ${property}`)
    if (kind === undefined) {
      throw invalidArgument(
        `a query without kind has no rows of ${property} to aggregate: name a kind`,
        'kind is required',
      )
    }
    if (projection.length > 0 && !projection.includes(property)) {
      throw invalidArgument(
        projection.every((name) => name === keyProperty)
          ? `the query gives keys only, so ${property} cannot be aggregated: select *, or ${property}`
          : `the query does not project ${property}, so it cannot be aggregated: add it to the projection`,
      )
    }
  }
}

/**
 * The code of the value that equality filters in all conjunctions give the property; the least of several, which only arrays
 * have. A property with an inequality has no fixed value.
 */
function fixedCode(conjunctions: readonly Conjunction[], property: string): string | undefined {
  const atoms = conjunctions.map((conjunction) => conjunction.filter((atom) => atom.property === property))
  if (atoms.some((mine) => mine.some(isInequality))) return undefined
  const codes = atoms.map((mine) => mine.filter(({ operator }) => operator === 'equal').map((atom) => atom.codes[0]))
  const [first = [], ...others] = codes
  return first.filter((code) => others.every((each) => each.includes(code))).sort()[0]
}

/** The query without its order by key, unless limit, offset or cursors need it. Columns behind the key would make it slow. */
function withoutKeyOrder(query: Query): Query {
  const { order, limit, offset, startCursor, endCursor } = query
  const at = order.findIndex(({ property }) => property === keyProperty)
  if (at < 0 || limit !== undefined || offset > 0 || startCursor !== undefined || endCursor !== undefined) return query
  return { ...query, order: order.slice(0, at) }
}
