/**
 * The databases of a project in the Firestore API, where they have Datastore mode, for `gcloud firestore databases`; and TTL policies, which
 * are settings of a field there, for `gcloud firestore fields ttls`. All other settings are in emulator/settings.ts.
 *
 *   PATCH  …/collectionGroups/{kind}/fields/{field}?updateMask=ttlConfig     {"ttlConfig": {}} sets a policy; without ttlConfig it is removed
 *
 * Known: google.firestore.admin.v1.Database and Field, and the paths that gcloud uses; one policy a kind, on one property. No emulator answers
 * these.
 */
import {
  type Database,
  DatastoreError,
  type Engine,
  failedPrecondition,
  invalidArgument,
  notFound,
  type TtlPolicy,
  validateDatabase,
} from '@sixtables/engine'
import { resourceNameOf } from '../../convert/parameters.ts'
import type { RouteRequest, Router } from '../../protocols/router.ts'
import { bodyObject, type JsonObject } from '../admin-service.ts'
import { concurrencyModes, concurrencyOf } from '../emulator/settings.ts'
import { namedDatabase } from '../named-database.ts'
import type { OperationJson, Operations } from '../operations/operations.ts'

const admin = 'type.googleapis.com/google.firestore.admin.v1.'
const collection = '/v1/projects/{project}/databases'
const item = `${collection}/{database}`

export function addDatabaseRoutes(router: Router, engine: Engine, operations: Operations): void {
  const operation = (
    verb: 'Create' | 'Update' | 'Delete',
    database: Database,
    run: () => void | Promise<void>,
  ): OperationJson => {
    const { projectId, databaseId } = database
    const response = (): JsonObject => ({ '@type': `${admin}Database`, ...databaseJson(database) })
    return operations.start({
      type: `${verb.toUpperCase() as Uppercase<typeof verb>}_DATABASE`,
      projectId,
      databaseId,
      metadata: () => ({ '@type': `${admin}${verb}DatabaseMetadata` }),
      run: () => run()?.then(response) ?? response(),
    })
  }

  router.add('GET', collection, ({ parameters: { project = '' } }) => {
    validateDatabase({ projectId: project, databaseId: '' })
    const others = engine.databases().filter(({ projectId, databaseId }) => projectId === project && databaseId !== '')
    return { json: { databases: [engine.database(project), ...others].map(databaseJson) } }
  })
  router.add('POST', collection, ({ parameters, query, body }) => {
    const name = query.get('databaseId')
    if (name === null) throw invalidArgument('databaseId is missing: name the database in the query')
    const named = { parameters: { ...parameters, database: name } }
    if (isKnown(engine, named)) throw new DatastoreError('ALREADY_EXISTS', `the database ${name} exists already`)
    const asked = bodyObject(body)
    const { type = 'DATASTORE_MODE' } = asked
    if (type !== 'DATASTORE_MODE') {
      throw invalidArgument(`type is ${JSON.stringify(type)}; every database here has DATASTORE_MODE`)
    }
    const changed = asked['concurrencyMode'] === undefined ? {} : concurrencySetting(asked)
    const database = namedDatabase(engine, named.parameters)
    return { json: operation('Create', database, () => database.configure(changed)) }
  })
  router.add('GET', item, (request) => ({ json: databaseJson(found(engine, request)) }))
  router.add('PATCH', item, (request) => {
    const database = found(engine, request)
    const asked = bodyObject(request.body)
    checkMask(request, asked)
    const changed = concurrencySetting(asked)
    return { json: operation('Update', database, () => database.configure(changed)) }
  })
  router.add('DELETE', item, (request) => {
    const database = found(engine, request)
    const { projectId, databaseId } = database
    return { json: operation('Delete', database, () => engine.reset({ projectId, databaseId })) }
  })
}

function databaseJson(database: Database): JsonObject {
  return {
    name: resourceNameOf(database),
    locationId: 'local',
    type: 'DATASTORE_MODE',
    concurrencyMode: concurrencyModes[database.settings.concurrency],
    appEngineIntegrationMode: 'DISABLED',
    pointInTimeRecoveryEnablement: 'POINT_IN_TIME_RECOVERY_DISABLED',
    deleteProtectionState: 'DELETE_PROTECTION_DISABLED',
  }
}

type Named = Pick<RouteRequest, 'parameters'>

/** Whether the database exists: the default one always, another one after its first write or setting. */
function isKnown(engine: Engine, { parameters: { project, database } }: Named): boolean {
  if (database === '(default)') return true
  return engine.databases().some(({ projectId, databaseId }) => projectId === project && databaseId === database)
}

function found(engine: Engine, request: Named): Database {
  if (isKnown(engine, request)) return namedDatabase(engine, request.parameters)
  const { project, database } = request.parameters
  throw notFound(`there is no database "${database}" in project ${project}; its first write makes it`)
}

function checkMask({ query }: RouteRequest, asked: JsonObject): void {
  const members = query.get('updateMask')?.split(',') ?? Object.keys(asked).filter((name) => name !== 'name')
  const other = members.find((member) => member !== 'concurrencyMode' && member !== 'concurrency_mode')
  if (other === undefined && members.length > 0) return
  throw invalidArgument(
    `${other ?? 'nothing'} cannot be changed here: of a database, concurrencyMode can; see the settings of the emulator`,
  )
}

function concurrencySetting({ concurrencyMode }: JsonObject): Partial<Database['settings']> {
  return { concurrency: concurrencyOf(concurrencyMode) }
}

const fieldsPath = '/v1/projects/{project}/databases/{database}/collectionGroups/{kind}/fields'
const fieldPath = `${fieldsPath}/{field}`

export function addFieldRoutes(router: Router, engine: Engine, operations: Operations): void {
  router.add('GET', fieldsPath, (request) => {
    const database = namedDatabase(engine, request.parameters)
    const { kind } = request.parameters
    const policies = database.ttlPolicies.filter((policy) => kind === '-' || policy.kind === kind)
    return { json: { fields: policies.map((policy) => fieldJson(database, policy, true)) } }
  })
  router.add('GET', fieldPath, (request) => {
    const database = namedDatabase(engine, request.parameters)
    const field = fieldOf(request)
    const isPolicy = database.ttlPolicies.some((policy) => isSame(policy, field))
    return { json: fieldJson(database, field, isPolicy) }
  })
  router.add('PATCH', fieldPath, (request) => {
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
