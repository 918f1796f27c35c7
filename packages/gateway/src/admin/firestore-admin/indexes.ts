/**
 * The index calls of the Firestore API that `gcloud datastore indexes create` and `cleanup` make; REST only.
 *
 *   Index   {name: projects/…/collectionGroups/{kind}/indexes/{id}, apiScope: DATASTORE_MODE_API,
 *            queryScope: COLLECTION_GROUP | COLLECTION_RECURSIVE (ancestor), fields: [{fieldPath, order}], state}
 *
 * Every index ends with the key, named `__name__`.
 *
 * Known: the paths that gcloud uses, and google.firestore.admin.v1. No emulator answers these.
 */
import {
  type CataloguedIndex,
  type IndexDefinition,
  type IndexedProperty,
  type IndexState,
  invalidArgument,
} from '@sixtables/engine'
import { type DatabaseName, databaseIdOf, resourceNameOf } from '../../convert/parameters.ts'
import type { RouteRequest, Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { directionOf, type IndexDialect, type IndexOperations, said } from '../index-operations.ts'

const admin = 'type.googleapis.com/google.firestore.admin.v1.'
const collection = '/v1/projects/{project}/databases/{database}/collectionGroups/{kind}/indexes'
const item = `${collection}/{index}`

export const firestoreDialect: IndexDialect = {
  isOfDatabase: true,
  response: (place, index) => ({ '@type': `${admin}Index`, ...firestoreIndex(place, index) }),
  metadata: (place, index, { progress }, { startTime, endTime, state }) => ({
    '@type': `${admin}IndexOperationMetadata`,
    startTime,
    ...(endTime === undefined ? {} : { endTime }),
    index: firestoreIndexName(place, index.kind, index.id),
    state,
    progressDocuments: {
      ...(progress.estimated === 0 ? {} : { estimatedWork: String(progress.estimated) }),
      completedWork: String(progress.completed),
    },
  }),
}

export function addFirestoreIndexRoutes(router: Router, indexes: IndexOperations): void {
  router.add('GET', collection, async (request) => {
    const place = placeOf(request)
    const { kind } = request.parameters
    const found = (await indexes.list(place)).filter((index) => kind === '-' || index.kind === kind)
    return { json: { indexes: found.map((index) => firestoreIndex(place, index)) } }
  })
  router.add('POST', collection, async (request) => {
    const { kind = '' } = request.parameters
    if (kind === '-') throw invalidArgument('an index is created for one kind, not for all (-)')
    const definition = definitionOfFirestore(kind, bodyObject(request.body))
    return { json: await indexes.create(placeOf(request), definition, firestoreDialect) }
  })
  router.add('GET', item, async (request) => {
    const place = placeOf(request)
    return { json: firestoreIndex(place, await indexes.get(place, request.parameters['index'] ?? '')) }
  })
  router.add('DELETE', item, async (request) => {
    const job = await indexes.drop(placeOf(request), request.parameters['index'] ?? '')
    await job.defined
    return { json: {} }
  })
}

function placeOf({ parameters: { project = '', database = '' } }: RouteRequest): DatabaseName {
  return { projectId: project, databaseId: databaseIdOf(database) }
}

/** `projects/p/databases/(default)/collectionGroups/{kind}/indexes/{id}` */
function firestoreIndexName(place: DatabaseName, kind: string, id: bigint): string {
  return `${resourceNameOf(place)}/collectionGroups/${kind}/indexes/${id}`
}

const firestoreStates: Readonly<Record<IndexState, string>> = {
  building: 'CREATING',
  serving: 'READY',
  // Known: that API has no state for deletion; the index is listed until it is deleted.
  deleting: 'READY',
  failed: 'NEEDS_REPAIR',
}

function firestoreIndex(place: DatabaseName, index: CataloguedIndex): JsonObject {
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

function definitionOfFirestore(kind: string, index: JsonObject): IndexDefinition {
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
