/**
 * Export and import over the wire.
 *
 *   POST /v1/projects/{p}:export            outputUrlPrefix, entityFilter, labels       DatastoreAdmin.ExportEntities
 *   POST /v1/projects/{p}:import            inputUrl, entityFilter, labels              DatastoreAdmin.ImportEntities
 *   POST /emulator/v1/projects/{p}:export   database, export_directory, export_name     as in the Firestore emulator
 *   POST /emulator/v1/projects/{p}:import   database, export_directory
 *
 * The first kind of export makes a folder below the prefix, named by its start, such as 2030-01-31T12:00:00_679. A prefix on this machine must
 * not exist yet; a bucket may contain many exports. The second kind makes the folder export_name in export_directory. With
 * `?wait=false` it answers at once, with the name of an operation.
 *
 * Measured: paths, members and names on Google's two emulators, and that the first kind refuses a folder that exists.
 * Ours: `outputUrl` is the overall metadata file, as in production; an import also accepts the folder of an export; the
 * second kind has `kinds` and `namespace_ids`, and refuses a folder that exists instead of overwriting it.
 */

import { type Database, type Engine, failedPrecondition, invalidArgument, overallSuffix } from '@sixtables/engine'
import type { RouteAnswer, RouteRequest, Router } from '../../protocols/router.ts'
import { type AdminMethod, bodyObject } from '../admin-service.ts'
import { type EntityFilter, patienceMsOf, startExport, startImport, type TransferParts } from '../export-operations.ts'
import { namedDatabase } from '../named-database.ts'
import type { JsonObject, OperationJson } from '../operations/operations.ts'

/** ExportEntities and ImportEntities of DatastoreAdmin, for the default database. */
export function transferMethods(parts: TransferParts): readonly AdminMethod[] {
  const { engine, locations } = parts
  return [
    {
      name: 'ExportEntities',
      rest: [{ verb: 'POST', path: '/v1/projects/{project}:export', body: '*', members: projectMember }],
      answer: (request, call) => {
        const { outputUrlPrefix = '', entityFilter = {}, labels } = request as ExportEntitiesJson
        const database = namedDatabase(engine, { project: request['projectId'] })
        const place = locations.placeOf(outputUrlPrefix, 'output_url_prefix')
        if (!place.isBucket && locations.has(place.path)) {
          throw invalidArgument(`output_url_prefix: ${place.path} exists already; name a folder that does not`)
        }
        const name = exportNameOf(engine.context().clock.nowMicros())
        return startExport(
          parts,
          {
            database,
            dir: locations.below(place.path, name),
            name,
            filter: entityFilter,
            labels,
            outputUrlPrefix,
            outputUrl: place.nameOf(`${name}/${name}${overallSuffix}`),
          },
          patienceMsOf(call),
        )
      },
    },
    {
      name: 'ImportEntities',
      rest: [{ verb: 'POST', path: '/v1/projects/{project}:import', body: '*', members: projectMember }],
      answer: (request, call) => {
        const { inputUrl = '', entityFilter = {}, labels } = request as ImportEntitiesJson
        const database = namedDatabase(engine, { project: request['projectId'] })
        const { path } = locations.placeOf(inputUrl, 'input_url')
        return startImport(parts, { database, path, filter: entityFilter, labels, inputUrl }, patienceMsOf(call))
      },
    },
  ]
}

interface ExportEntitiesJson {
  readonly outputUrlPrefix?: string
  readonly entityFilter?: EntityFilter
  readonly labels?: Readonly<Record<string, string>>
}

interface ImportEntitiesJson {
  readonly inputUrl?: string
  readonly entityFilter?: EntityFilter
  readonly labels?: Readonly<Record<string, string>>
}

function projectMember({ project }: Readonly<Record<string, string>>): JsonObject {
  return { projectId: project }
}

/** The name of an export's folder: its start in UTC, with milliseconds after an underscore. */
function exportNameOf(micros: bigint): string {
  return new Date(Number(micros / 1000n)).toISOString().replace('.', '_').replace('Z', '')
}

/** The endpoints of the Firestore emulator. */
export function addTransferRoutes(router: Router, parts: TransferParts): void {
  const { engine, locations } = parts
  router.add('POST', '/emulator/v1/projects/{project}:export', async (request) => {
    const { members, database } = emulatorRequest(engine, request)
    const directory = text(members, 'export_directory')
    const { path, nameOf } = locations.placeOf(directory, 'export_directory')
    const seconds = engine.context().clock.nowMicros() / 1_000_000n
    const name = text(members, 'export_name') || `datastore_export_${seconds}`
    const dir = locations.below(path, name)
    if (locations.has(dir)) throw failedPrecondition(`the export folder ${dir} exists already; name one that does not`)
    const filter = filterOf(members)
    const outputUrl = nameOf(`${name}/${name}${overallSuffix}`)
    const wanted = { database, dir, name, filter, labels: labelsOf(members), outputUrlPrefix: directory, outputUrl }
    return answerOf(await startExport(parts, wanted, patienceMsIn(request)), request)
  })
  router.add('POST', '/emulator/v1/projects/{project}:import', async (request) => {
    const { members, database } = emulatorRequest(engine, request)
    const directory = text(members, 'export_directory')
    const place = locations.placeOf(directory, 'export_directory')
    const path = locations.below(place.path, text(members, 'export_name'))
    const filter = filterOf(members)
    const wanted = { database, path, filter, labels: labelsOf(members), inputUrl: directory }
    return answerOf(await startImport(parts, wanted, patienceMsIn(request)), request)
  })
}

function wantsToWait({ query }: RouteRequest): boolean {
  return query.get('wait') !== 'false'
}

function patienceMsIn(request: RouteRequest): number | undefined {
  return wantsToWait(request) ? undefined : 0
}

/** The answer, which tells more than the empty object of Google's emulator. */
function answerOf(operation: OperationJson, request: RouteRequest): RouteAnswer {
  if (!wantsToWait(request)) return { json: operation }
  const { metadata, response } = operation
  const { progressEntities } = metadata as { progressEntities?: { workCompleted?: string } }
  const { outputUrl } = (response ?? {}) as { outputUrl?: string }
  return {
    json: {
      ...(outputUrl === undefined ? {} : { outputUrl }),
      entities: progressEntities?.workCompleted ?? '0',
    },
  }
}

function emulatorRequest(
  engine: Engine,
  { body, parameters: { project = '' } }: RouteRequest,
): { members: JsonObject; database: Database } {
  const members = bodyObject(body)
  const named = text(members, 'database')
  if (named === '') return { members, database: namedDatabase(engine, { project }) }
  const [, projectId = '', databaseId] = /^projects\/([^/]+)\/databases\/([^/]*)$/.exec(named) ?? []
  if (projectId !== project) {
    throw invalidArgument(
      `database is ${JSON.stringify(named)}; it is written projects/${project}/databases/ and the id, ` +
        'which is empty for the default database',
    )
  }
  return { members, database: namedDatabase(engine, { project, database: databaseId }) }
}

/** A member of the body, in snake or lower camel case; '' if it is absent. */
function text(members: JsonObject, name: string): string {
  const value = memberOf(members, name) ?? ''
  if (typeof value !== 'string') throw invalidArgument(`${name} is no text`)
  return value
}

function memberOf(members: JsonObject, name: string): unknown {
  return members[name] ?? members[name.replace(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase())]
}

function filterOf(members: JsonObject): EntityFilter {
  const texts = (name: string): readonly string[] => {
    const value = memberOf(members, name) ?? []
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
      throw invalidArgument(`${name} is a list of texts`)
    }
    return value
  }
  return { kinds: texts('kinds'), namespaceIds: texts('namespace_ids') }
}

function labelsOf(members: JsonObject): Readonly<Record<string, string>> | undefined {
  const value = memberOf(members, 'labels')
  if (value === undefined) return undefined
  const isLabels =
    typeof value === 'object' && value !== null && Object.values(value).every((one) => typeof one === 'string')
  if (!isLabels) throw invalidArgument('labels must be an object whose values are strings')
  return value as Readonly<Record<string, string>>
}
