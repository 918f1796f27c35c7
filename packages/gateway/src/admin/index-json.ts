/**
 * Composite indexes in the JSON of the two admin APIs.
 *
 *   google.datastore.admin.v1.Index     {projectId, indexId, kind, ancestor: NONE | ALL_ANCESTORS,
 *                                        properties: [{name, direction}], state}
 *   google.firestore.admin.v1.Index     {name: projects/…/collectionGroups/{kind}/indexes/{id}, apiScope: DATASTORE_MODE_API,
 *                                        queryScope: COLLECTION_GROUP | COLLECTION_RECURSIVE (ancestor),
 *                                        fields: [{fieldPath, order}], state}
 *
 * In the second, every index ends with the key, named `__name__`.
 *
 * Known: the protos; what gcloud sends and expects for the second.
 */
import {
  type CataloguedIndex,
  type IndexDefinition,
  type IndexedProperty,
  type IndexState,
  invalidArgument,
} from '@sixtables/engine'
import { type DatabaseName, resourceNameOf } from '../convert/parameters.ts'
import type { JsonObject } from './operations/operations.ts'

const datastoreStates: Readonly<Record<IndexState, string>> = {
  building: 'CREATING',
  serving: 'READY',
  deleting: 'DELETING',
  failed: 'ERROR',
}

export function datastoreIndex({ projectId }: DatabaseName, index: CataloguedIndex): JsonObject {
  return {
    projectId,
    indexId: index.id.toString(),
    kind: index.kind,
    ancestor: index.ancestor ? 'ALL_ANCESTORS' : 'NONE',
    properties: index.properties.map(({ name, direction }) => ({ name, direction: direction.toUpperCase() })),
    state: datastoreStates[index.state],
  }
}

/** @throws INVALID_ARGUMENT with the wrong member */
export function definitionOfDatastore(index: JsonObject): IndexDefinition {
  const {
    kind = '',
    ancestor,
    properties = [],
  } = index as {
    kind?: string
    ancestor?: string
    properties?: readonly { readonly name?: string; readonly direction?: string }[]
  }
  if (ancestor !== 'NONE' && ancestor !== 'ALL_ANCESTORS') {
    throw invalidArgument('index.ancestor is missing; it is NONE or ALL_ANCESTORS')
  }
  return {
    kind,
    ancestor: ancestor === 'ALL_ANCESTORS',
    properties: properties.map(({ name = '', direction }, i) => ({
      name,
      direction: directionOf(direction, `index.properties[${i}].direction`),
    })),
  }
}

/** `projects/p/databases/(default)/collectionGroups/{kind}/indexes/{id}` */
export function firestoreIndexName(place: DatabaseName, kind: string, id: bigint): string {
  return `${resourceNameOf(place)}/collectionGroups/${kind}/indexes/${id}`
}

const firestoreStates: Readonly<Record<IndexState, string>> = {
  building: 'CREATING',
  serving: 'READY',
  // Known: that API has no state for deletion; the index is listed until it is deleted.
  deleting: 'READY',
  failed: 'NEEDS_REPAIR',
}

export function firestoreIndex(place: DatabaseName, index: CataloguedIndex): JsonObject {
  const fields = index.properties.map(({ name, direction }) => ({
    fieldPath: name === '__key__' ? '__name__' : name,
    order: direction.toUpperCase(),
  }))
  if (fields.at(-1)?.fieldPath !== '__name__') fields.push({ fieldPath: '__name__', order: 'ASCENDING' })
  return {
    name: firestoreIndexName(place, index.kind, index.id),
    queryScope: index.ancestor ? 'COLLECTION_RECURSIVE' : 'COLLECTION_GROUP',
    fields,
    state: firestoreStates[index.state],
    apiScope: 'DATASTORE_MODE_API',
    density: 'SPARSE_ALL',
  }
}

/** @throws INVALID_ARGUMENT with the wrong member */
export function definitionOfFirestore(kind: string, index: JsonObject): IndexDefinition {
  const { apiScope, queryScope, fields } = index
  if (apiScope !== 'DATASTORE_MODE_API') {
    throw invalidArgument(`apiScope is ${said(apiScope)}; a database in Datastore mode has DATASTORE_MODE_API alone`)
  }
  if (queryScope !== 'COLLECTION_GROUP' && queryScope !== 'COLLECTION_RECURSIVE') {
    throw invalidArgument(
      `queryScope is ${said(queryScope)}; it is COLLECTION_GROUP, or COLLECTION_RECURSIVE with ancestors`,
    )
  }
  if (!Array.isArray(fields)) throw invalidArgument('the index has no list "fields"')
  return { kind, ancestor: queryScope === 'COLLECTION_RECURSIVE', properties: fields.map(propertyOfField) }
}

function propertyOfField(field: unknown, at: number): IndexedProperty {
  const { fieldPath, order, arrayConfig, vectorConfig } = (field ?? {}) as Readonly<Record<string, unknown>>
  if (arrayConfig !== undefined || vectorConfig !== undefined) {
    throw invalidArgument(`fields[${at}]: only fields with an order are built here`)
  }
  if (typeof fieldPath !== 'string') throw invalidArgument(`fields[${at}].fieldPath is missing`)
  return {
    name: fieldPath === '__name__' ? '__key__' : fieldPath,
    direction: directionOf(order, `fields[${at}].order`),
  }
}

function directionOf(direction: unknown, member: string): IndexedProperty['direction'] {
  if (direction === 'ASCENDING') return 'ascending'
  if (direction === 'DESCENDING') return 'descending'
  throw invalidArgument(`${member} is ${said(direction)}; it is ASCENDING or DESCENDING`)
}

function said(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}
