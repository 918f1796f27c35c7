/**
 * TTL policies, which are settings of a field in the Firestore API, for `gcloud firestore fields ttls`.
 *
 *   GET    /v1/projects/{p}/databases/{d}/collectionGroups/{kind or -}/fields       those with a policy
 *   GET    /v1/projects/{p}/databases/{d}/collectionGroups/{kind}/fields/{field}
 *   PATCH  the same, updateMask=ttlConfig: {"ttlConfig": {}} sets a policy; without ttlConfig it is removed     an operation
 *
 * Known: google.firestore.admin.v1.Field; one policy a kind, on one property. No emulator answers these.
 */
import { type Database, type Engine, failedPrecondition, invalidArgument, type TtlPolicy } from '@sixtables/engine'
import { resourceNameOf } from '../../convert/parameters.ts'
import type { RouteRequest, Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { namedDatabase } from '../named-database.ts'
import type { Operations } from '../operations/operations.ts'

const admin = 'type.googleapis.com/google.firestore.admin.v1.'
const collection = '/v1/projects/{project}/databases/{database}/collectionGroups/{kind}/fields'
const item = `${collection}/{field}`

export function addFieldRoutes(router: Router, engine: Engine, operations: Operations): void {
  router.add('GET', collection, (request) => {
    const database = namedDatabase(engine, request.parameters)
    const { kind } = request.parameters
    const policies = database.ttlPolicies.filter((policy) => kind === '-' || policy.kind === kind)
    return { json: { fields: policies.map((policy) => fieldJson(database, policy, true)) } }
  })
  router.add('GET', item, (request) => {
    const database = namedDatabase(engine, request.parameters)
    const field = fieldOf(request)
    const isPolicy = database.ttlPolicies.some((policy) => isSame(policy, field))
    return { json: fieldJson(database, field, isPolicy) }
  })
  router.add('PATCH', item, (request) => {
    const database = namedDatabase(engine, request.parameters)
    const field = fieldOf(request)
    const { ttlConfig, indexConfig } = bodyObject(request.body)
    const mask = request.query.get('updateMask') ?? (indexConfig === undefined ? 'ttlConfig' : 'indexConfig')
    if (mask !== 'ttlConfig' && mask !== 'ttl_config') {
      throw invalidArgument(`${mask} of a field cannot be changed here, ttlConfig can; indexes are kept in index.yaml`)
    }
    const isWanted = ttlConfig !== undefined && ttlConfig !== null
    const others = database.ttlPolicies.filter((policy) => !isSame(policy, field))
    const other = others.find(({ kind }) => kind === field.kind)
    if (isWanted && other !== undefined) {
      throw failedPrecondition(
        `the kind ${other.kind} has a TTL policy on ${other.property} already; take that one away first`,
      )
    }
    return {
      json: operations.start({
        type: 'UPDATE_FIELD',
        projectId: database.projectId,
        databaseId: database.databaseId,
        metadata: ({ startTime, endTime }) => ({
          '@type': `${admin}FieldOperationMetadata`,
          startTime,
          ...(endTime === undefined ? {} : { endTime }),
          field: nameOf(database, field),
          ttlConfigDelta: { changeType: isWanted ? 'ADD' : 'REMOVE' },
        }),
        run: () => {
          database.configure({ ttlPolicies: isWanted ? [...others, field] : others })
          return { '@type': `${admin}Field`, ...fieldJson(database, field, isWanted) }
        },
      }),
    }
  })
}

function fieldOf({ parameters: { kind = '', field = '' } }: RouteRequest): TtlPolicy {
  // gcloud puts a name with special characters between backticks.
  const property = /^`.*`$/.test(field) ? field.slice(1, -1) : field
  if (kind === '-' || property === '*') throw invalidArgument('a TTL policy needs one kind and one property')
  return { kind, property }
}

function nameOf(database: Database, { kind, property }: TtlPolicy): string {
  return `${resourceNameOf(database)}/collectionGroups/${kind}/fields/${property}`
}

function fieldJson(database: Database, field: TtlPolicy, isPolicy: boolean): JsonObject {
  return { name: nameOf(database, field), ...(isPolicy ? { ttlConfig: { state: 'ACTIVE' } } : {}) }
}

function isSame(a: TtlPolicy, b: TtlPolicy): boolean {
  return a.kind === b.kind && a.property === b.property
}
