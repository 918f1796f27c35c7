/** Facts of a call of the data API that faults, the log and recordings use. */

import { type Aggregation, decodeKey, formatKeyPath, type Key, type Mutation, type Query } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'
import type { DataMethod } from '../methods.ts'

/** A database by its names; an empty `databaseId` is the default one. */
export interface DatabaseName {
  readonly projectId: string
  readonly databaseId: string
}

/** The request, as far as it says what is read and written. */
export interface Asked {
  readonly keys?: readonly Key[]
  readonly mutations?: readonly Mutation[]
  readonly query?: Query
  readonly aggregations?: readonly Aggregation[]
  /** The open transaction that it belongs to. */
  readonly transaction?: Uint8Array | undefined
}

/** The parts of an answer that later calls refer to. */
export interface Given {
  /** The transaction that the call began. */
  readonly transaction?: Uint8Array | undefined
  /** Keys in the order of the request's keys or mutations, where ids were allocated. */
  readonly keys?: readonly (Key | undefined)[]
}

export class CallFacts implements DatabaseName {
  readonly method: DataMethod
  readonly projectId: string
  readonly databaseId: string
  readonly asked: Asked
  /** Set once the engine has answered. */
  given: Given | undefined = undefined

  constructor(method: DataMethod, { projectId, databaseId }: DatabaseName, asked: Asked) {
    this.method = method
    this.projectId = projectId
    this.databaseId = databaseId
    this.asked = asked
  }

  /** The keys it names, or the namespace and kind of a query. Computed at each call. */
  named(): readonly Named[] {
    const { keys, mutations, query } = this.asked
    if (query !== undefined) return [{ namespaceId: query.partition.namespaceId, kind: query.kind }]
    return [...(keys ?? []), ...(mutations ?? []).map((mutation) => keyOfMutation(mutation, this))].map(namedOf)
  }
}

export interface Named {
  readonly namespaceId: string
  readonly kind: string | undefined
  /** As {@link formatKeyPath} writes it; absent for queries and incomplete keys. */
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

/** The key of what a mutation writes or deletes; without a path where the entity has none, or none that decodes. */
export function keyOfMutation(mutation: Mutation, scope: DatabaseName): Key {
  return mutation.operation === 'delete' ? mutation.key : keyOfEntity(mutation.entity, scope)
}

/** An entity's key, which is its field 1. What has none, or does not decode, is for the engine to refuse. */
function keyOfEntity(entity: Uint8Array, { projectId, databaseId }: DatabaseName): Key {
  const scope = { projectId, databaseId }
  const none: Key = { partition: { ...scope, namespaceId: '' }, path: [] }
  try {
    const reader = protobuf.Reader.create(entity)
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      if (tag >>> 3 === 1) return decodeKey(reader.bytes(), scope)
      reader.skipType(tag & 7)
    }
    return none
  } catch {
    return none
  }
}
