/**
 * The index calls of google.datastore.admin.v1.DatastoreAdmin, over gRPC and REST. Their requests have no field for a database, so they use the
 * default one.
 *
 *   Index   {projectId, indexId, kind, ancestor: NONE | ALL_ANCESTORS, properties: [{name, direction}], state}
 *
 * Known: the service's proto. No emulator answers these.
 */
import { type CataloguedIndex, type IndexDefinition, type IndexState, invalidArgument } from '@sixtables/engine'
import type { DatabaseName } from '../../convert/parameters.ts'
import type { AdminMethod, JsonObject } from '../admin-service.ts'
import { directionOf, type IndexDialect, type IndexOperations } from '../index-operations.ts'
import type { ListRequest } from '../operations/operations.ts'

const admin = 'type.googleapis.com/google.datastore.admin.v1.'
const collection = '/v1/projects/{projectId}/indexes'
const item = `${collection}/{indexId}`
const pageSizeDefault = 100

export const datastoreDialect: IndexDialect = {
  isOfDatabase: false,
  response: (place, index) => ({ '@type': `${admin}Index`, ...datastoreIndex(place, index) }),
  metadata: (_place, index, job, common) => ({
    '@type': `${admin}IndexOperationMetadata`,
    common,
    progressEntities: progressOf(job.progress.completed, job.progress.estimated || undefined),
    indexId: index.id.toString(),
  }),
}

export function indexMethods(indexes: IndexOperations): readonly AdminMethod[] {
  return [
    {
      name: 'CreateIndex',
      rest: [{ verb: 'POST', path: collection, body: 'index' }],
      answer: (request) => {
        const { index } = request
        if (index === undefined) throw invalidArgument('the request has no index')
        return indexes.create(placeOf(request), definitionOfDatastore(index as JsonObject), datastoreDialect)
      },
    },
    {
      name: 'ListIndexes',
      rest: [{ verb: 'GET', path: collection }],
      answer: (request) => list(indexes, request),
    },
    {
      name: 'GetIndex',
      rest: [{ verb: 'GET', path: item }],
      answer: async (request) => {
        const place = placeOf(request)
        return datastoreIndex(place, await indexes.get(place, String(request['indexId'] ?? '')))
      },
    },
    {
      name: 'DeleteIndex',
      rest: [{ verb: 'DELETE', path: item }],
      answer: (request) => indexes.delete(placeOf(request), String(request['indexId'] ?? ''), datastoreDialect),
    },
  ]
}

/** google.datastore.admin.v1.Progress in JSON, where its numbers are texts. */
export function progressOf(completed: number, estimated: number | undefined): JsonObject {
  return { workCompleted: String(completed), ...(estimated === undefined ? {} : { workEstimated: String(estimated) }) }
}

async function list(indexes: IndexOperations, request: JsonObject): Promise<JsonObject> {
  const place = placeOf(request)
  const { filter = '', pageSize = 0, pageToken = '' } = request as Partial<ListRequest>
  if (filter !== '') throw invalidArgument('a filter for indexes is not supported; leave it out')
  if (pageSize < 0) throw invalidArgument(`page_size is ${pageSize}; it must not be negative`)
  if (pageToken !== '' && !/^\d{1,18}$/.test(pageToken))
    throw invalidArgument('the page token is not of this list: begin without one')
  const from = pageToken === '' ? 0n : BigInt(pageToken)
  const rest = (await indexes.list(place)).filter(({ id }) => id >= from)
  const page = rest.slice(0, pageSize || pageSizeDefault)
  const next = rest[page.length]
  return {
    indexes: page.map((index) => datastoreIndex(place, index)),
    ...(next === undefined ? {} : { nextPageToken: next.id.toString() }),
  }
}

function placeOf({ projectId }: JsonObject): DatabaseName {
  return { projectId: String(projectId ?? ''), databaseId: '' }
}

const datastoreStates: Readonly<Record<IndexState, string>> = {
  building: 'CREATING',
  serving: 'READY',
  deleting: 'DELETING',
  failed: 'ERROR',
}

function datastoreIndex({ projectId }: DatabaseName, index: CataloguedIndex) {
  return {
    projectId,
    indexId: index.id.toString(),
    kind: index.kind,
    ancestor: index.ancestor ? 'ALL_ANCESTORS' : 'NONE',
    properties: index.properties.map(({ name, direction }) => ({ name, direction: direction.toUpperCase() })),
    state: datastoreStates[index.state],
  }
}

function definitionOfDatastore(index: JsonObject): IndexDefinition {
  const { kind = '', ancestor, properties = [] } = index as Partial<ReturnType<typeof datastoreIndex>>
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
