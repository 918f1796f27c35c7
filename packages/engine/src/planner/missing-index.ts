/**
 * The index that a query lacks: the perfect one, which serves it by one scan.
 *
 * Known: its columns are the equality properties by name, ascending, then the ordered properties in their directions, with
 * those of inequalities, distinct and projection among them in the order of orders.ts.
 */
import { DatastoreError } from '../errors.ts'
import { indexYaml } from '../indexes/index-yaml.ts'
import { formatIndex, type IndexDefinition, type IndexedProperty } from '../model/index-definition.ts'
import type { Equality, NormalQuery } from './normal-query.ts'

/** FAILED_PRECONDITION with the definition. In `details`: `index` in words, and `index.yaml` as an entry for the file. */
export class MissingIndexError extends DatastoreError {
  readonly index: IndexDefinition

  constructor(index: IndexDefinition) {
    const words = formatIndex(index)
    const yaml = indexYaml(index)
    // Production's text has kinds and properties without quotes.
    const bare = yaml.replace(/: "([A-Za-z_][\w.]*)"$/gm, ': $1')
    super(
      'FAILED_PRECONDITION',
      `no matching index found. recommended index is:\n${bare}(no index serves this query: define ${words}, in index.yaml)`,
      { details: { index: words, 'index.yaml': yaml } },
    )
    this.index = index
  }
}

/** The result of `make`, or the error that tells which index is missing. */
export function orMissing<T>(make: () => T): T | MissingIndexError {
  try {
    return make()
  } catch (error) {
    if (error instanceof MissingIndexError) return error
    throw error
  }
}

/** The index that serves the query, or a disjunct of it, without a join. */
export function perfectIndex(query: NormalQuery, equalities: readonly Equality[]): IndexDefinition {
  const names = [...new Set(equalities.map((equality) => equality.property))].sort()
  const properties: IndexedProperty[] = names.map((name) => ({ name, direction: 'ascending' }))
  for (const { property, direction } of query.columns) properties.push({ name: property, direction })
  if (query.reverse) properties.push({ name: '__key__', direction: 'descending' })
  return { kind: query.kind ?? '', ancestor: query.ancestor !== undefined, properties }
}
