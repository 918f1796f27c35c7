/**
 * Aggregations over find_nearest. Its results are ordered by distance, which no index row has, so the query runs and its results
 * are aggregated one by one, by the rules of aggregation.ts: an entity without an aggregated property does not count, and one
 * with several values counts once for each.
 *
 * Ours: Google's Firestore emulator aggregates all candidates, as if find_nearest were not there (measured).
 */
import { type IndexOptions, indexEntries } from '../encoding/index-entries.ts'
import { resultOf } from '../executor/aggregate.ts'
import { NumberTotal } from '../executor/aggregate-number.ts'
import type { Value } from '../model/value.ts'
import type { Aggregation, QueryBatch } from './api.ts'

interface Asked {
  readonly names: readonly string[]
  readonly properties: readonly string[]
}

/** The answers by name, in request order. @param results - all results of the query */
export function valuesOfNearest(
  results: QueryBatch['results'],
  aggregations: readonly Aggregation[],
  { names, properties }: Asked,
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

const none = new Uint8Array(0)
