/**
 * Short forms of entities and queries, for tests of planner and executor.
 *
 *   entity('A:1', { p: 1n, tags: ['x', 'y'] })      paths as formatKey writes them: A:1/B:"x"
 *   query({ kind: 'A', filter: where('p', '>', 1n), order: ['p desc'] })
 */
import { encodeProperties } from '../encoding/entity-codec.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import type { EntityImage } from '../model/entity.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key, PathElement } from '../model/key.ts'
import type { Filter, PropertyOperator, PropertyOrder, Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { encodeImage } from '../tables/entities.ts'
import { rowsOfCell, type TableRow } from './row-list.ts'

export interface ModelEntity {
  readonly key: Key
  readonly properties: ReadonlyMap<string, Value>
}

export const queryDatabase = { projectId: 'p', databaseId: '' }

export function imageOf(entity: ModelEntity): EntityImage {
  return { version: 7n, createTime: 1n, updateTime: 2n, properties: encodeProperties(entity.properties) }
}

export function entityRows(entity: ModelEntity, indexes: readonly CompositeIndex[] = []): readonly TableRow[] {
  return rowsOfCell(keyCodes(entity.key), encodeImage(imageOf(entity)), indexes)
}

export function storeOf(entities: readonly ModelEntity[], indexes: readonly CompositeIndex[] = []): MemoryKv {
  const rows = entities.flatMap((entity) => entityRows(entity, indexes))
  return new MemoryKv(rows.map(({ key: rowKey, value }) => ({ key: rowKey, value })))
}

export type PlainValue = null | boolean | bigint | number | string | Key | Value | readonly PlainValue[]

/** A model value from a plain one: bigint is an integer, number a double. */
export function plainValue(plain: PlainValue): Value {
  if (plain === null) return { type: 'null' }
  if (Array.isArray(plain)) return { type: 'array', values: plain.map(plainValue) }
  switch (typeof plain) {
    case 'boolean':
      return { type: 'boolean', value: plain }
    case 'bigint':
      return { type: 'integer', value: plain }
    case 'number':
      return { type: 'double', value: plain }
    case 'string':
      return { type: 'string', value: plain }
  }
  return 'path' in plain ? { type: 'key', key: plain } : (plain as Value)
}

/** A key from its short form: `A:1`, `A:"x"/B:2`, `A:?`. */
export function key(words: string, namespaceId = ''): Key {
  const path = words.split('/').map((step): PathElement => {
    const [kind = '', name = ''] = step.split(':')
    if (name === '?') return { kind }
    return name.startsWith('"') ? { kind, name: name.slice(1, -1) } : { kind, id: BigInt(name) }
  })
  return { partition: { ...queryDatabase, namespaceId }, path }
}

export function entity(words: string, properties: Readonly<Record<string, PlainValue>> = {}): ModelEntity {
  const values = Object.entries(properties).map(([name, value]) => [name, plainValue(value)] as const)
  return { key: key(words), properties: new Map(values) }
}

const operators: Readonly<Record<string, PropertyOperator>> = {
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  '=': 'equal',
  '!=': 'notEqual',
  in: 'in',
  'not in': 'notIn',
  under: 'hasAncestor',
}

export function where(property: string, operator: string, value: PlainValue): Filter {
  return { type: 'property', property, operator: operators[operator] ?? 'equal', value: plainValue(value) }
}

export function and(...filters: readonly Filter[]): Filter {
  return { type: 'composite', operator: 'and', filters }
}

export function or(...filters: readonly Filter[]): Filter {
  return { type: 'composite', operator: 'or', filters }
}

export interface QueryWords extends Omit<Partial<Query>, 'order'> {
  /** `p` or `p desc`. */
  readonly order?: readonly string[]
}

export function query({ order = [], ...parts }: QueryWords): Query {
  const orders = order.map((words): PropertyOrder => {
    const [property = '', direction] = words.split(' ')
    return { property, direction: direction === 'desc' ? 'descending' : 'ascending' }
  })
  const partition = { ...queryDatabase, namespaceId: '' }
  return { partition, projection: [], distinctOn: [], offset: 0, ...parts, order: orders }
}

/** `A(ancestor, p, q desc)` as a definition. */
export function index(words: string, id = 1n): CompositeIndex {
  const [kind = '', list = ''] = words.replace(')', '').split('(')
  const columns = list.split(', ')
  const properties = columns
    .filter((column) => column !== 'ancestor')
    .map((column) => {
      const [name = '', direction] = column.split(' ')
      return { name, direction: direction === 'desc' ? ('descending' as const) : ('ascending' as const) }
    })
  return { id, kind, ancestor: columns.includes('ancestor'), properties }
}
