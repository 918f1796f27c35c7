/** The engine's own verbs in this process, behind the interface of the suite: no gateway, no protocol. */
import {
  DatastoreError,
  decodeProperties,
  type Engine,
  encodeKey,
  encodeProperties,
  type Filter,
  type Key,
  type Mutation,
  type PathElement,
  type Properties,
  type PropertyOperator,
  type Query,
  statusCodes,
  type Value,
} from '@sixtables/engine'
import {
  type ApiClient,
  type Comparison,
  type Plain,
  type PlainEntity,
  type PlainKey,
  type PlainQuery,
  pageOf,
} from './api-client.ts'

const projectId = 'api'

const operators: Readonly<Record<Comparison, PropertyOperator>> = {
  '=': 'equal',
  '<': 'lessThan',
  '<=': 'lessThanOrEqual',
  '>': 'greaterThan',
  '>=': 'greaterThanOrEqual',
  '!=': 'notEqual',
  IN: 'in',
}

export function engineClient(engine: Engine): ApiClient {
  const database = () => engine.database(projectId)

  const commit = async (mutations: readonly Mutation[]): Promise<readonly { readonly key?: Key }[]> => {
    const { mutationResults } = await coded(() =>
      database().commit(engine.context(), { mode: 'nonTransactional', mutations }),
    )
    return mutationResults
  }

  return {
    async write(operation, entities) {
      const results = await commit(entities.map((one) => ({ operation, entity: entityBytes(one) })))
      return results.map(({ key }, i) => (key === undefined ? (entities[i]?.path ?? []) : plainKey(key).path))
    },
    async remove(keys) {
      await commit(keys.map((key) => ({ operation: 'delete', key: keyOf(key) })))
    },
    async read(keys) {
      const { found } = await coded(() => database().lookup(engine.context(), { keys: keys.map(keyOf) }))
      const entities = found.map(({ key, image }) => plainEntity(key, decodeProperties(image.properties)))
      const byName = new Map(entities.map((entity) => [nameOf(entity), entity]))
      return keys.map((key) => byName.get(nameOf(key)))
    },
    query: (query) =>
      pageOf(query, async (asked) => {
        const batch = await coded(() => database().runQuery(engine.context(), { query: queryOf(asked) }))
        return {
          entities: batch.results.map(({ key, image }) => {
            return plainEntity(key, image === undefined ? new Map() : decodeProperties(image.properties))
          }),
          cursor: Buffer.from(batch.endCursor).toString('base64'),
          hasMore: batch.moreResults !== 'noMoreResults',
          isFinished: batch.moreResults !== 'notFinished',
        }
      }),
    async allocate(path, count) {
      const keys = Array.from({ length: count }, () => keyOf({ path }))
      const completed = await coded(() => database().allocateIds(engine.context(), keys))
      return completed.map((key) => plainKey(key).path)
    },
    async close() {},
  }
}

/** Errors with the number of their code, as the suite knows them. */
async function coded<T>(verb: () => T | Promise<T>): Promise<T> {
  try {
    return await verb()
  } catch (error) {
    if (!(error instanceof DatastoreError)) throw error
    throw Object.assign(new Error(error.message), { code: statusCodes[error.code] })
  }
}

function keyOf({ path, namespace = '' }: PlainKey): Key {
  const elements: PathElement[] = []
  for (let i = 0; i < path.length; i += 2) {
    const kind = String(path[i])
    const end = path[i + 1]
    if (end === undefined) elements.push({ kind })
    else elements.push(typeof end === 'number' ? { kind, id: BigInt(end) } : { kind, name: end })
  }
  return { partition: { projectId, databaseId: '', namespaceId: namespace }, path: elements }
}

function plainKey({ partition, path }: Key): PlainKey {
  const plainPath = path.flatMap(({ kind, id, name }) => [kind, name ?? Number(id)])
  return partition.namespaceId === '' ? { path: plainPath } : { path: plainPath, namespace: partition.namespaceId }
}

/** A serialized google.datastore.v1.Entity: its key is field 1. */
function entityBytes(entity: PlainEntity): Uint8Array {
  const key = encodeKey(keyOf(entity))
  const head = key.length < 128 ? [0x0a, key.length] : [0x0a, (key.length & 0x7f) | 0x80, key.length >>> 7]
  return Buffer.concat([Uint8Array.from(head), key, encodeProperties(propertiesOf(entity.properties))])
}

function propertiesOf(properties: { readonly [name: string]: Plain }): Properties {
  return new Map(Object.entries(properties).map(([name, value]) => [name, engineValue(value)]))
}

function engineValue(value: Plain): Value {
  if (value === null) return { type: 'null' }
  if (typeof value === 'boolean') return { type: 'boolean', value }
  if (typeof value === 'string') return { type: 'string', value }
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { type: 'integer', value: BigInt(value) } : { type: 'double', value }
  }
  if (value instanceof Date) return { type: 'timestamp', micros: BigInt(value.getTime()) * 1000n }
  if (Buffer.isBuffer(value)) return { type: 'blob', value }
  if (Array.isArray(value)) return { type: 'array', values: value.map(engineValue) }
  return { type: 'entity', properties: propertiesOf(value as { readonly [name: string]: Plain }) }
}

function plainEntity(key: Key, properties: Properties): PlainEntity {
  return { ...plainKey(key), properties: plainProperties(properties) }
}

function plainProperties(properties: Properties): PlainEntity['properties'] {
  return Object.fromEntries([...properties].map(([name, value]) => [name, plainValue(value)]))
}

function plainValue(value: Value): Plain {
  switch (value.type) {
    case 'null':
      return null
    case 'boolean':
    case 'string':
    case 'double':
      return value.value
    case 'integer':
      return Number(value.value)
    case 'timestamp':
      return new Date(Number(value.micros / 1000n))
    case 'blob':
      return Buffer.from(value.value)
    case 'array':
      return value.values.map(plainValue)
    case 'entity':
      return plainProperties(value.properties)
    default:
      throw new Error(`the suite knows no value of type ${value.type}`)
  }
}

function queryOf({ kind, namespace = '', filters = [], ancestor, order = [], ...asked }: PlainQuery): Query {
  const { limit, offset = 0, after, keysOnly } = asked
  const conditions: Filter[] = filters.map(([property, comparison, value]) => {
    return { type: 'property', property, operator: operators[comparison], value: engineValue(value) }
  })
  if (ancestor !== undefined) {
    const value: Value = { type: 'key', key: keyOf({ path: ancestor, namespace }) }
    conditions.push({ type: 'property', property: '__key__', operator: 'hasAncestor', value })
  }
  return {
    partition: { projectId, databaseId: '', namespaceId: namespace },
    kind,
    projection: keysOnly === true ? ['__key__'] : [],
    filter: conditions.length === 0 ? undefined : { type: 'composite', operator: 'and', filters: conditions },
    order: order.map((name) => ({
      property: name.replace(/^-/, ''),
      direction: name.startsWith('-') ? 'descending' : 'ascending',
    })),
    distinctOn: [],
    startCursor: after === undefined ? undefined : Buffer.from(after, 'base64'),
    offset,
    limit,
  }
}

function nameOf({ path, namespace = '' }: PlainKey): string {
  return JSON.stringify([namespace, path])
}
