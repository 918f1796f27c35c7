/**
 * Entities, indexes and queries for the tests of building: a few keys in two namespaces and two groups each, index
 * definitions, and for each definition a query that nothing else serves, with its answer by brute force.
 */

import type { Database } from '../../src/database/database.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { IndexDefinition } from '../../src/model/index-definition.ts'
import { formatKey, type Key } from '../../src/model/key.ts'
import type { Filter, PropertyOrder, Query } from '../../src/model/query.ts'
import type { Value } from '../../src/model/value.ts'

export const namespaces = ['', 'n'] as const
const roots = ['g', 'h'] as const

export const indexKeys: readonly Key[] = namespaces.flatMap((namespaceId) =>
  roots.flatMap((root) =>
    [1n, 2n].map((id) => ({
      partition: { projectId: 'p', databaseId: '', namespaceId },
      path: [
        { kind: 'G', name: root },
        { kind: 'A', id },
      ],
    })),
  ),
)

/** The model: values by number of the key. What `mutationOf` stores for a value: v, parity, and list = [v, "all"]. */
export type Values = ReadonlyMap<number, number>

interface IndexedQuery {
  readonly definition: IndexDefinition
  query(namespaceId: string): Query
  /** The same without its order, where the built-in rows serve that. */
  builtIn?(namespaceId: string): Query
  /** Matches of a value of an entity at a key, each with what it is ordered by; the least counts. */
  order(value: number, key: Key): number | undefined
  readonly descending: boolean
  readonly keysDescending?: boolean
}

function definition(ancestor: boolean, ...properties: readonly string[]): IndexDefinition {
  return {
    kind: 'A',
    ancestor,
    properties: properties.map((text) => {
      const [name = '', direction] = text.split(' ')
      return { name, direction: direction === 'desc' ? 'descending' : 'ascending' }
    }),
  }
}

function where(property: string, value: Value, operator: 'equal' | 'hasAncestor' = 'equal'): Filter {
  return { type: 'property', property, operator, value }
}

function ask(namespaceId: string, filter: Filter | undefined, ...order: readonly string[]): Query {
  const partition = { projectId: 'p', databaseId: '', namespaceId }
  const orders = definition(false, ...order).properties.map(
    ({ name, direction }): PropertyOrder => ({ property: name, direction }),
  )
  return { partition, kind: 'A', projection: [], filter, order: orders, distinctOn: [], offset: 0 }
}

const root = (key: Key): string | undefined => key.path[0]?.name

export const indexedQueries: readonly IndexedQuery[] = [
  {
    definition: definition(false, 'parity', 'v desc'),
    query: (ns) => ask(ns, where('parity', { type: 'integer', value: 1n }), 'v desc'),
    builtIn: (ns) => ask(ns, where('parity', { type: 'integer', value: 1n })),
    order: (value) => (value % 2 === 1 ? value : undefined),
    descending: true,
  },
  {
    definition: definition(false, 'list', 'v'),
    query: (ns) => ask(ns, where('list', { type: 'string', value: 'all' }), 'v'),
    builtIn: (ns) => ask(ns, where('list', { type: 'string', value: 'all' })),
    order: (value) => value,
    descending: false,
  },
  {
    definition: definition(true, 'v'),
    query: (ns) => {
      const partition = { projectId: 'p', databaseId: '', namespaceId: ns }
      const key = { partition, path: [{ kind: 'G', name: 'g' }] }
      return ask(ns, where('__key__', { type: 'key', key }, 'hasAncestor'), 'v')
    },
    order: (value, key) => (root(key) === 'g' ? value : undefined),
    descending: false,
  },
  {
    definition: definition(false, 'v', '__key__ desc'),
    query: (ns) => ask(ns, undefined, 'v', '__key__ desc'),
    builtIn: (ns) => ask(ns, undefined, 'v'),
    order: (value) => value,
    descending: false,
    keysDescending: true,
  },
]

/** The keys that a query must give, in order. */
export function expectedKeys(asked: IndexedQuery, namespaceId: string, values: Values): readonly string[] {
  const found = [...values]
    .map(([at, value]) => ({ at, key: indexKeys[at] as Key, value }))
    .filter(({ key }) => key.partition.namespaceId === namespaceId)
    .map(({ at, key, value }) => ({ at, key, order: asked.order(value, key) }))
    .filter(({ order }) => order !== undefined)
  const sign = asked.descending ? -1 : 1
  const keySign = asked.keysDescending ? -1 : 1
  found.sort((a, b) => sign * ((a.order ?? 0) - (b.order ?? 0)) || keySign * (a.at - b.at))
  return found.map(({ key }) => formatKey(key))
}

export async function foundKeys(
  engine: Engine,
  database: Database,
  query: Query,
  transaction?: Uint8Array,
): Promise<readonly string[]> {
  const read = transaction === undefined ? { consistency: 'strong' as const } : { transaction }
  const { results } = await database.runQuery(engine.context(), { query, read })
  return results.map(({ key }) => formatKey(key))
}
