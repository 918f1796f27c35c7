/**
 * The index calls of the Firestore API that `gcloud datastore indexes create` and `cleanup` make; REST only.
 *
 *   GET     /v1/projects/{p}/databases/{d}/collectionGroups/{kind or -}/indexes
 *   POST    /v1/projects/{p}/databases/{d}/collectionGroups/{kind}/indexes            an operation of the database
 *   GET     /v1/projects/{p}/databases/{d}/collectionGroups/{kind or -}/indexes/{id}
 *   DELETE  /v1/projects/{p}/databases/{d}/collectionGroups/{kind or -}/indexes/{id}
 *
 * Known: the paths that gcloud uses, and google.firestore.admin.v1. No emulator answers these.
 */

import { invalidArgument } from '@sixtables/engine'
import type { DatabaseName } from '../../convert/parameters.ts'
import { databaseIdOf } from '../../convert/parameters.ts'
import type { RouteRequest, Router } from '../../protocols/router.ts'
import { bodyObject } from '../admin-service.ts'
import { definitionOfFirestore, firestoreIndex, firestoreIndexName } from '../index-json.ts'
import type { IndexDialect, IndexOperations } from '../index-operations.ts'

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
