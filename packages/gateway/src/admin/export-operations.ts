/**
 * Exports and imports as operations, with progress.
 *
 * A call is answered when the work is done, so that a script can continue with its next line. A call with a deadline is answered after half
 * of its time at the latest, with an unfinished operation that the client can ask for later. Work that fails before the answer is
 * an error of the call, and also stays as a failed operation.
 *
 * Known: the messages of google.datastore.admin.v1. Measured: Google's emulator answers a finished operation, and errors
 * of the call.
 */
import type { Database, Engine, ImportProgress, TransferProgress } from '@sixtables/engine'
import type { Call } from '../call.ts'
import type { ExportLocations } from './export-locations.ts'
import type { CommonMetadata, JsonObject, OperationJson, Operations, OperationWork } from './operations/operations.ts'

const admin = 'type.googleapis.com/google.datastore.admin.v1.'
const emptyType = 'type.googleapis.com/google.protobuf.Empty'

/** google.datastore.admin.v1.EntityFilter in JSON. */
export interface EntityFilter {
  readonly kinds?: readonly string[]
  /** '' for the default namespace. */
  readonly namespaceIds?: readonly string[]
}

export interface ExportRequest {
  readonly database: Database
  /** The folder for the export. */
  readonly dir: string
  readonly name: string
  readonly filter: EntityFilter
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The caller's text, for the answers. */
  readonly outputUrlPrefix: string
  readonly outputUrl: string
}

export interface ImportRequest {
  readonly database: Database
  /** The overall metadata file, or its folder. */
  readonly path: string
  readonly filter: EntityFilter
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** The caller's text. */
  readonly inputUrl: string
}

type Progress = TransferProgress & Partial<ImportProgress>

/** The options of the engine that exports and imports share. */
interface TransferOptions {
  readonly kinds: readonly string[] | undefined
  readonly namespaces: readonly string[] | undefined
  readonly signal: AbortSignal
  onProgress(now: Progress): void
}

interface Transfer extends Pick<OperationWork, 'labels' | 'projectId'> {
  readonly type: 'EXPORT_ENTITIES' | 'IMPORT_ENTITIES'
  readonly filter: EntityFilter
  /** The caller's text for the place, as a member of the metadata. */
  readonly place: JsonObject
  /** @returns the response with `@type` */
  work(options: TransferOptions): Promise<JsonObject>
}

/** The parts of a server for exports and imports. */
export interface TransferParts {
  readonly engine: Engine
  readonly operations: Operations
  readonly locations: ExportLocations
}

/** @throws the errors of the export before the answer */
export function startExport(
  { engine, operations }: TransferParts,
  { database, dir, name, outputUrlPrefix, outputUrl, ...request }: ExportRequest,
  patienceMs?: number,
): Promise<OperationJson> {
  const work = async (options: TransferOptions): Promise<JsonObject> => {
    options.onProgress(await engine.exportEntities(database, { dir, name, ...options }))
    return { '@type': `${admin}ExportEntitiesResponse`, outputUrl }
  }
  const { projectId } = database
  const transfer = { ...request, type: 'EXPORT_ENTITIES', projectId, place: { outputUrlPrefix }, work } as const
  return run(operations, transfer, patienceMs)
}

/** @throws the errors of the import before the answer */
export function startImport(
  { engine, operations, locations }: TransferParts,
  { database, path, inputUrl, ...request }: ImportRequest,
  patienceMs?: number,
): Promise<OperationJson> {
  const work = async (options: TransferOptions): Promise<JsonObject> => {
    const metadataFile = await locations.metadataFileOf(path)
    options.onProgress(await engine.importEntities(database, { metadataFile, ...options }))
    return { '@type': emptyType }
  }
  const { projectId } = database
  return run(operations, { ...request, type: 'IMPORT_ENTITIES', projectId, place: { inputUrl }, work }, patienceMs)
}

async function run(
  operations: Operations,
  { type, projectId, labels, filter, place, work }: Transfer,
  patienceMs: number = Number.POSITIVE_INFINITY,
): Promise<OperationJson> {
  let progress: Progress = { entities: 0, bytes: 0 }
  const onProgress = (now: Progress): void => {
    progress = { ...progress, ...now }
  }
  const metadata = (common: CommonMetadata): JsonObject => ({
    '@type': `${admin}${type === 'EXPORT_ENTITIES' ? 'Export' : 'Import'}EntitiesMetadata`,
    common,
    ...progressJson(progress),
    entityFilter: filter,
    ...place,
  })
  let failure: { readonly error: unknown } | undefined
  const start = async (signal: AbortSignal): Promise<JsonObject> => {
    try {
      return await work({ kinds: filter.kinds, namespaces: filter.namespaceIds, signal, onProgress })
    } catch (error) {
      failure = { error }
      throw error
    }
  }
  const { name } = operations.start({ type, projectId, labels, metadata, run: start })
  let operation = operations.get(name)
  for (let waitedMs = 0; operation.done !== true && waitedMs < patienceMs; waitedMs += longestWaitMs) {
    operation = await operations.wait(name, Math.min(patienceMs - waitedMs, longestWaitMs))
  }
  if (failure !== undefined) throw failure.error
  return operation
}

/** Maximum wait of a call for its work: half of its time, so that the answer still arrives. */
export function patienceMsOf(call: Call | undefined): number {
  return call?.timeoutMs === undefined ? Number.POSITIVE_INFINITY : call.timeoutMs / 2
}

const longestWaitMs = 600_000

/** Progress in JSON; only imports have estimates. */
function progressJson({ entities, bytes, entitiesTotal, bytesTotal }: Progress): JsonObject {
  const inJson = (completed: number, estimated: number | undefined): JsonObject => ({
    workCompleted: String(completed),
    ...(estimated === undefined ? {} : { workEstimated: String(estimated) }),
  })
  return { progressEntities: inJson(entities, entitiesTotal), progressBytes: inJson(bytes, bytesTotal) }
}
