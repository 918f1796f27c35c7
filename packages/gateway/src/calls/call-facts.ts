/** Facts of a call of the data API, for faults, the log and recordings. */

import { type Aggregation, decodeKey, formatKeyPath, type Key, type Mutation, type Query } from '@sixtables/engine'
import type { DatabaseName } from '../convert/parameters.ts'
import { contentOf, fieldsOf } from '../convert/wire-fields.ts'
import type { DataMethod } from '../methods.ts'

/** The parts of a request that say which data it reads and writes. */
export interface Asked {
  readonly keys?: readonly Key[]
  readonly mutations?: readonly Mutation[]
  readonly query?: Query
  readonly aggregations?: readonly Aggregation[]
  readonly transaction?: Uint8Array | undefined
}

/** The parts of an answer to which later calls refer. */
export interface Given {
  readonly transaction?: Uint8Array | undefined
  /** Keys with allocated ids, in the order of the request's keys or mutations. */
  readonly keys?: readonly (Key | undefined)[]
}

export class CallFacts implements DatabaseName {
  readonly method: DataMethod
  readonly projectId: string
  readonly databaseId: string
  readonly asked: Asked
  given: Given | undefined = undefined

  constructor(method: DataMethod, { projectId, databaseId }: DatabaseName, asked: Asked) {
    this.method = method
    this.projectId = projectId
    this.databaseId = databaseId
    this.asked = asked
  }

  *keys(): Generator<Key> {
    const { keys = [], mutations = [] } = this.asked
    yield* keys
    for (const mutation of mutations) yield keyOfMutation(mutation, this)
  }

  /** The keys of the request, or the namespace and kind of a query. Computed at each call. */
  named(): readonly Named[] {
    const { query } = this.asked
    if (query !== undefined) return [{ namespaceId: query.partition.namespaceId, kind: query.kind }]
    return [...this.keys()].map(namedOf)
  }
}

export interface Named {
  readonly namespaceId: string
  readonly kind: string | undefined
  /** In the form of {@link formatKeyPath}; absent for queries and incomplete keys. */
  readonly key?: string
}

function namedOf({ partition, path }: Key): Named {
  const last = path[path.length - 1]
  const isComplete = last?.id !== undefined || last?.name !== undefined
  return {
    namespaceId: partition.namespaceId,
    kind: last?.kind,
    ...(isComplete ? { key: formatKeyPath(path) } : {}),
  }
}

/** The key of a mutation; its path is empty if the entity has no key, or none that decodes. */
export function keyOfMutation(mutation: Mutation, scope: DatabaseName): Key {
  return mutation.operation === 'delete' ? mutation.key : keyOfEntity(mutation.entity, scope)
}

/** The key of an entity, its field 1. The engine refuses an entity without a key, or with one that does not decode. */
function keyOfEntity(entity: Uint8Array, { projectId, databaseId }: DatabaseName): Key {
  const scope = { projectId, databaseId }
  const none: Key = { partition: { ...scope, namespaceId: '' }, path: [] }
  try {
    for (const { number, bytes } of fieldsOf(entity)) if (number === 1) return decodeKey(contentOf(bytes), scope)
    return none
  } catch {
    return none
  }
}
