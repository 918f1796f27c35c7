/**
 * Export and import over the wire, as operations with progress.
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
 * A call is answered when the work is done, so that a script can continue with its next line. A call with a deadline is answered after half
 * of its time at the latest, with an unfinished operation that the client can ask for later. Work that fails before the answer is
 * an error of the call, and also stays as a failed operation.
 *
 * Known: the messages of google.datastore.admin.v1. Measured: paths, members and names on Google's two emulators; that the first
 * kind refuses a folder that exists, and answers a finished operation, and errors of the call. Ours: `outputUrl` is the overall metadata
 * file, as in production; an import also accepts the folder of an export; the second kind has `kinds` and `namespace_ids`, and refuses
 * a folder that exists instead of overwriting it.
 */
import {
  type Database,
  type Engine,
  failedPrecondition,
  type ImportProgress,
  invalidArgument,
  overallSuffix,
  type TransferProgress,
} from '@sixtables/engine'
import { inCamelCase } from '../../convert/parameters.ts'
import type { RouteRequest, Router } from '../../protocols/router.ts'
import { type AdminMethod, bodyObject, type JsonObject } from '../admin-service.ts'
import type { ExportLocations } from '../export-locations.ts'
import { namedDatabase } from '../named-database.ts'
import type { CommonMetadata, OperationJson, Operations } from '../operations/operations.ts'
import { progressOf } from './indexes.ts'

const admin = 'type.googleapis.com/google.datastore.admin.v1.'
const emptyType = 'type.googleapis.com/google.protobuf.Empty'

interface TransferParts {
  readonly engine: Engine
  readonly operations: Operations
  readonly locations: ExportLocations
}

interface Transfer {
  readonly database: Database
  /** google.datastore.admin.v1.EntityFilter in JSON; '' is the default namespace. */
  readonly filter: { readonly kinds?: readonly string[]; readonly namespaceIds?: readonly string[] }
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The caller's text for the place, as a member of the metadata. */
  readonly place: { readonly outputUrlPrefix: string } | { readonly inputUrl: string }
  /** Maximum wait for the work before the answer; absent = until its end. */
  readonly patienceMs?: number | undefined
}

type Progress = TransferProgress & Partial<ImportProgress>

/**
 * Starts an export to a folder, or an import.
 *
 * @param files - of an import: an overall metadata file, or its folder
 * @throws the errors of the work before the answer
 */
async function start(
  { engine, operations, locations }: TransferParts,
  { database, labels, filter, place, patienceMs = Number.POSITIVE_INFINITY }: Transfer,
  files: { readonly dir: string; readonly name: string; readonly outputUrl: string } | string,
): Promise<OperationJson> {
  const verb = typeof files === 'string' ? 'Import' : 'Export'
  let progress: Progress = { entities: 0, bytes: 0 }
  const onProgress = (now: Progress): void => {
    progress = { ...progress, ...now }
  }
  const metadata = (common: CommonMetadata): JsonObject => ({
    '@type': `${admin}${verb}EntitiesMetadata`,
    common,
    progressEntities: progressOf(progress.entities, progress.entitiesTotal),
    progressBytes: progressOf(progress.bytes, progress.bytesTotal),
    entityFilter: filter,
    ...place,
  })
  const work = async (signal: AbortSignal): Promise<JsonObject> => {
    const options = { kinds: filter.kinds, namespaces: filter.namespaceIds, signal, onProgress }
    if (typeof files === 'string') {
      const metadataFile = await locations.metadataFileOf(files)
      const { skipped, ...read } = await engine.importEntities(database, { metadataFile, ...options })
      onProgress({ ...read, entitiesTotal: read.entities + skipped })
      return { '@type': emptyType }
    }
    const { outputUrl, ...folder } = files
    onProgress(await engine.exportEntities(database, { ...folder, ...options }))
    return { '@type': `${admin}ExportEntitiesResponse`, outputUrl }
  }
  let failure: { readonly error: unknown } | undefined
  const run = (signal: AbortSignal): Promise<JsonObject> =>
    work(signal).catch((error: unknown) => {
      failure = { error }
      throw error
    })
  const type = verb === 'Export' ? 'EXPORT_ENTITIES' : 'IMPORT_ENTITIES'
  const { name } = operations.start({ type, projectId: database.projectId, labels, metadata, run })
  let operation = operations.get(name)
  for (let waitedMs = 0; operation.done !== true && waitedMs < patienceMs; waitedMs += longestWaitMs) {
    operation = await operations.wait(name, Math.min(patienceMs - waitedMs, longestWaitMs))
  }
  if (failure !== undefined) throw failure.error
  return operation
}

const longestWaitMs = 600_000

export function transferMethods(parts: TransferParts): readonly AdminMethod[] {
  const { engine, locations } = parts
  const method = (
    verb: 'Export' | 'Import',
    answer: (request: EntitiesJson, transfer: Omit<Transfer, 'place'>) => Promise<OperationJson>,
  ): AdminMethod => ({
    name: `${verb}Entities`,
    rest: [
      {
        verb: 'POST',
        path: `/v1/projects/{project}:${verb.toLowerCase()}`,
        body: '*',
        members: ({ project }) => ({ projectId: project }),
      },
    ],
    answer: (request, call) => {
      const { entityFilter = {}, labels } = request as EntitiesJson
      const database = namedDatabase(engine, { project: request['projectId'] })
      // Half of the call's time, so that the answer still arrives.
      const patienceMs = call?.timeoutMs === undefined ? undefined : call.timeoutMs / 2
      return answer(request, { database, filter: entityFilter, labels, patienceMs })
    },
  })
  return [
    method('Export', ({ outputUrlPrefix = '' }, transfer) => {
      const place = locations.placeOf(outputUrlPrefix, 'output_url_prefix')
      if (!place.isBucket && locations.has(place.path)) {
        throw invalidArgument(`output_url_prefix: ${place.path} exists already; name a folder that does not`)
      }
      const startedAt = new Date(Number(engine.context().clock.nowMicros() / 1000n))
      const name = startedAt.toISOString().replace('.', '_').replace('Z', '')
      const outputUrl = place.nameOf(`${name}/${name}${overallSuffix}`)
      const dir = locations.below(place.path, name)
      return start(parts, { ...transfer, place: { outputUrlPrefix } }, { dir, name, outputUrl })
    }),
    method('Import', ({ inputUrl = '' }, transfer) =>
      start(parts, { ...transfer, place: { inputUrl } }, locations.placeOf(inputUrl, 'input_url').path),
    ),
  ]
}

interface EntitiesJson extends Pick<Transfer, 'labels'> {
  readonly outputUrlPrefix?: string
  readonly inputUrl?: string
  readonly entityFilter?: Transfer['filter']
}

export function addTransferRoutes(router: Router, parts: TransferParts): void {
  const { engine, locations } = parts
  const add = (
    verb: 'export' | 'import',
    answer: (members: JsonObject, directory: string, transfer: Omit<Transfer, 'place'>) => Promise<OperationJson>,
  ): void =>
    router.add('POST', `/emulator/v1/projects/{project}:${verb}`, async ({ body, query, parameters }) => {
      const members = bodyObject(body)
      const isAwaited = query.get('wait') !== 'false'
      const operation = await answer(members, text(members, 'export_directory'), {
        database: databaseIn(engine, members, parameters),
        filter: { kinds: texts(members, 'kinds'), namespaceIds: texts(members, 'namespace_ids') },
        labels: labelsOf(members),
        patienceMs: isAwaited ? undefined : 0,
      })
      return { json: isAwaited ? summaryOf(operation) : operation }
    })
  add('export', (members, directory, transfer) => {
    const { path, nameOf } = locations.placeOf(directory, 'export_directory')
    const seconds = engine.context().clock.nowMicros() / 1_000_000n
    const name = text(members, 'export_name') || `datastore_export_${seconds}`
    const dir = locations.below(path, name)
    if (locations.has(dir)) throw failedPrecondition(`the export folder ${dir} exists already; name one that does not`)
    const outputUrl = nameOf(`${name}/${name}${overallSuffix}`)
    return start(parts, { ...transfer, place: { outputUrlPrefix: directory } }, { dir, name, outputUrl })
  })
  add('import', (members, directory, transfer) => {
    const { path } = locations.placeOf(directory, 'export_directory')
    const place = { inputUrl: directory }
    return start(parts, { ...transfer, place }, locations.below(path, text(members, 'export_name')))
  })
}

/** The result of a finished operation, which tells more than the empty object of Google's emulator. */
function summaryOf({ metadata, response }: OperationJson): JsonObject {
  const { progressEntities } = metadata as { progressEntities?: { workCompleted?: string } }
  const { outputUrl } = (response ?? {}) as { outputUrl?: string }
  return { ...(outputUrl === undefined ? {} : { outputUrl }), entities: progressEntities?.workCompleted ?? '0' }
}

function databaseIn(engine: Engine, members: JsonObject, { project = '' }: RouteRequest['parameters']): Database {
  const named = text(members, 'database')
  if (named === '') return namedDatabase(engine, { project })
  const [, projectId = '', databaseId] = /^projects\/([^/]+)\/databases\/([^/]*)$/.exec(named) ?? []
  if (projectId !== project) {
    throw invalidArgument(
      `database is ${JSON.stringify(named)}; it is written projects/${project}/databases/ and the id, ` +
        'which is empty for the default database',
    )
  }
  return namedDatabase(engine, { project, database: databaseId })
}

/** A member of the body, in snake or lower camel case; '' if it is absent. */
function text(members: JsonObject, name: string): string {
  const value = memberOf(members, name) ?? ''
  if (typeof value !== 'string') throw invalidArgument(`${name} is no text`)
  return value
}

function memberOf(members: JsonObject, name: string): unknown {
  return members[name] ?? members[inCamelCase(name)]
}

function texts(members: JsonObject, name: string): readonly string[] {
  const value = memberOf(members, name) ?? []
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw invalidArgument(`${name} is a list of texts`)
}

function labelsOf({ labels }: JsonObject): Transfer['labels'] {
  const isLabels =
    typeof labels === 'object' && labels !== null && Object.values(labels).every((one) => typeof one === 'string')
  if (labels === undefined || isLabels) return labels as Transfer['labels']
  throw invalidArgument('labels must be an object whose values are strings')
}
