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

export class TransferOperations {
  readonly #engine: Engine
  readonly #operations: Operations
  readonly #locations: ExportLocations

  constructor(engine: Engine, operations: Operations, locations: ExportLocations) {
    this.#engine = engine
    this.#locations = locations
    this.#operations = operations
  }

  /** @throws the errors of the export before the answer */
  export(
    { database, dir, name, filter, ...request }: ExportRequest,
    patienceMs: number = Number.POSITIVE_INFINITY,
  ): Promise<OperationJson> {
    let progress: TransferProgress = { entities: 0, bytes: 0 }
    const metadata = (common: CommonMetadata): JsonObject => ({
      '@type': `${admin}ExportEntitiesMetadata`,
      common,
      ...progressJson(progress, undefined),
      entityFilter: filter,
      outputUrlPrefix: request.outputUrlPrefix,
    })
    const run = async (signal: AbortSignal): Promise<JsonObject> => {
      progress = await this.#engine.exportEntities(database, {
        dir,
        name,
        ...filterOptions(filter),
        signal,
        onProgress: (now) => {
          progress = now
        },
      })
      return { '@type': `${admin}ExportEntitiesResponse`, outputUrl: request.outputUrl }
    }
    const { labels } = request
    return this.#run({ type: 'EXPORT_ENTITIES', projectId: database.projectId, labels, metadata, run }, patienceMs)
  }

  /** @throws the errors of the import before the answer */
  import(
    { database, path, filter, labels, inputUrl }: ImportRequest,
    patienceMs: number = Number.POSITIVE_INFINITY,
  ): Promise<OperationJson> {
    let progress: TransferProgress = { entities: 0, bytes: 0 }
    let totals: ImportProgress | undefined
    const metadata = (common: CommonMetadata): JsonObject => ({
      '@type': `${admin}ImportEntitiesMetadata`,
      common,
      ...progressJson(progress, totals),
      entityFilter: filter,
      inputUrl,
    })
    const run = async (signal: AbortSignal): Promise<JsonObject> => {
      progress = await this.#engine.importEntities(database, {
        metadataFile: await this.#locations.metadataFileOf(path),
        ...filterOptions(filter),
        signal,
        onProgress: (now) => {
          progress = now
          totals = now
        },
      })
      return { '@type': emptyType }
    }
    return this.#run({ type: 'IMPORT_ENTITIES', projectId: database.projectId, labels, metadata, run }, patienceMs)
  }

  async #run(work: OperationWork, patienceMs: number): Promise<OperationJson> {
    let failure: { readonly error: unknown } | undefined
    const run = async (signal: AbortSignal): Promise<JsonObject> => {
      try {
        return await work.run(signal)
      } catch (error) {
        failure = { error }
        throw error
      }
    }
    const { name } = this.#operations.start({ ...work, run })
    let operation = this.#operations.get(name)
    for (let waitedMs = 0; operation.done !== true && waitedMs < patienceMs; waitedMs += longestWaitMs) {
      operation = await this.#operations.wait(name, Math.min(patienceMs - waitedMs, longestWaitMs))
    }
    if (failure !== undefined) throw failure.error
    return operation
  }
}

/** Maximum wait of a call for its work: half of its time, so that the answer still arrives. */
export function patienceMsOf(call: Call | undefined): number {
  return call?.timeoutMs === undefined ? Number.POSITIVE_INFINITY : call.timeoutMs / 2
}

const longestWaitMs = 600_000

function filterOptions({ kinds, namespaceIds }: EntityFilter): {
  kinds?: readonly string[] | undefined
  namespaces?: readonly string[] | undefined
} {
  return { kinds, namespaces: namespaceIds }
}

/** Progress in JSON; only imports have estimates. */
function progressJson({ entities, bytes }: TransferProgress, totals: ImportProgress | undefined): JsonObject {
  return {
    progressEntities: {
      workCompleted: String(entities),
      ...(totals === undefined ? {} : { workEstimated: String(totals.entitiesTotal) }),
    },
    progressBytes: {
      workCompleted: String(bytes),
      ...(totals === undefined ? {} : { workEstimated: String(totals.bytesTotal) }),
    },
  }
}
