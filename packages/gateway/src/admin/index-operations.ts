/**
 * Creation and deletion of indexes as operations, with progress and cancellation.
 *
 * The first answer is sent after the definition is stored in its new state, so that a wrong definition is an error of the call. Cancelling
 * a creation deletes the index; a deletion cannot be cancelled.
 *
 * With a shared store every gateway can answer for such an operation: its name, such as `index-create-7`, contains the number of the index,
 * and the catalogue in the store has its progress. Its start is the time at which this gateway first saw it.
 */
import {
  type CataloguedIndex,
  type Database,
  DatastoreError,
  type Engine,
  failedPrecondition,
  formatIndex,
  type IndexDefinition,
  type IndexedProperty,
  type IndexJob,
  invalidArgument,
  notFound,
  validateDatabase,
} from '@sixtables/engine'
import { type DatabaseName, databaseIdOf } from '../convert/parameters.ts'
import type { JsonObject } from './admin-service.ts'
import type { CommonMetadata, OperationJson, Operations } from './operations/operations.ts'

/** An API's form of an index and of the operations on it. */
export interface IndexDialect {
  /** Whether its operations belong to the database instead of the project. */
  readonly isOfDatabase: boolean
  response(place: DatabaseName, index: CataloguedIndex): JsonObject
  metadata(
    place: DatabaseName,
    index: CataloguedIndex,
    job: Pick<IndexJob, 'progress'>,
    common: CommonMetadata,
  ): JsonObject
}

type Dialects = Readonly<Record<'ofProject' | 'ofDatabase', IndexDialect>>

type IndexOperationType = 'CREATE_INDEX' | 'DELETE_INDEX'

/** `index-create-7`, followed by the database if it is not the default one and no earlier part of the name contains it. */
const sharedId = /^index-(create|delete)-(\d{1,18})(?:-(.+))?$/

export class IndexOperations {
  readonly #engine: Engine
  readonly #operations: Operations
  readonly #dialects: Dialects

  constructor(engine: Engine, operations: Operations, dialects: Dialects) {
    this.#engine = engine
    this.#operations = operations
    this.#dialects = dialects
  }

  /** Adds the operation of this name to the registry, if another gateway began it. */
  async adopt(name: string): Promise<void> {
    if (!this.#engine.hasOtherWriters || this.#operations.has(name)) return
    const [, projectId = '', ofDatabase, id = ''] =
      /^projects\/([^/]+)(?:\/databases\/([^/]+))?\/operations\/([^/]+)$/.exec(name) ?? []
    const [, work, index = '', inId = ''] = sharedId.exec(id) ?? []
    if (work === undefined) return
    const place = { projectId, databaseId: databaseIdOf(ofDatabase ?? inId) ?? '' }
    const database = this.database(place)
    await this.#engine.indexes.refresh(database)
    this.#adopt(place, BigInt(index), work === 'create' ? 'CREATE_INDEX' : 'DELETE_INDEX', ofDatabase !== undefined)
  }

  async adoptAll(parent: string): Promise<void> {
    if (!this.#engine.hasOtherWriters) return
    const [, project, ofDatabase] = /^projects\/([^/]+)(?:\/databases\/([^/]+))?$/.exec(parent) ?? []
    for (const database of this.#engine.databases()) {
      const { projectId, databaseId } = database
      if (projectId !== project || (ofDatabase !== undefined && databaseIdOf(ofDatabase) !== databaseId)) continue
      await this.#engine.indexes.refresh(database)
      for (const { id, state } of database.catalogue.all) {
        if (state !== 'building' && state !== 'deleting') continue
        const type = state === 'building' ? 'CREATE_INDEX' : 'DELETE_INDEX'
        this.#adopt({ projectId, databaseId }, id, type, ofDatabase !== undefined)
      }
    }
  }

  #adopt(place: DatabaseName, id: bigint, type: IndexOperationType, isOfDatabase: boolean): void {
    const database = this.database(place)
    const dialect = isOfDatabase ? this.#dialects.ofDatabase : this.#dialects.ofProject
    const index = database.catalogue.byId(id)
    if (index === undefined) {
      if (!database.catalogue.hasGiven(id)) return
      const gone: CataloguedIndex = { id, kind: '', ancestor: false, properties: [], state: 'deleting' }
      this.#start(place, gone, undefined, dialect, type)
      return
    }
    const job = this.#engine.indexes.jobOf(database, index)
    if (type === 'DELETE_INDEX' && (index.state !== 'deleting' || job === undefined)) return
    this.#start(place, index, job, dialect, type)
  }

  database({ projectId, databaseId }: DatabaseName): Database {
    validateDatabase({ projectId, databaseId })
    return this.#engine.database(projectId, databaseId)
  }

  /** A database with freshly read definitions, since other gateways may have changed them. */
  async #refreshed(place: DatabaseName): Promise<Database> {
    const database = this.database(place)
    await this.#engine.indexes.refresh(database)
    return database
  }

  async list(place: DatabaseName): Promise<readonly CataloguedIndex[]> {
    return (await this.#refreshed(place)).catalogue.all
  }

  async get(place: DatabaseName, id: string): Promise<CataloguedIndex> {
    const { catalogue } = await this.#refreshed(place)
    const index = /^\d{1,18}$/.test(id) ? catalogue.byId(BigInt(id)) : undefined
    if (index !== undefined) return index
    const where = place.databaseId === '' ? place.projectId : `${place.projectId}, database ${place.databaseId}`
    throw notFound(`there is no index "${id}" in project ${where}`)
  }

  async create(place: DatabaseName, definition: IndexDefinition, dialect: IndexDialect): Promise<OperationJson> {
    const database = await this.#refreshed(place)
    const job = this.#engine.indexes.create(database, definition)
    const index = await job.defined
    return this.#start(place, index, job, dialect, 'CREATE_INDEX')
  }

  /** Waits for the creation of an index. @param job - absent if it is ready, has failed, or is being deleted */
  async #created(
    database: Database,
    index: CataloguedIndex,
    job: IndexJob | undefined,
    signal: AbortSignal,
  ): Promise<CataloguedIndex> {
    const name = index.kind === '' ? index.id : formatIndex(index)
    const gone = (): DatastoreError => new DatastoreError('CANCELLED', `the index ${name} was deleted`)
    if (job === undefined || job.type === 'drop') {
      if (index.state === 'serving') return index
      throw index.state === 'failed' ? failedPrecondition(`the index could not be built: ${index.failure}`) : gone()
    }
    const drop = (): void => {
      if (database.catalogue.byId(index.id)?.state === 'building') this.#engine.indexes.drop(database, index.id)
    }
    signal.addEventListener('abort', drop, { once: true })
    try {
      return await job.done
    } catch (error) {
      if (signal.aborted) throw signal.reason
      const now = database.catalogue.byId(index.id)
      // Another gateway has cancelled it.
      if (this.#engine.hasOtherWriters && (now === undefined || now.state === 'deleting')) throw gone()
      throw error
    }
  }

  /** @throws NOT_FOUND; FAILED_PRECONDITION unless it is ready or has failed */
  async delete(place: DatabaseName, id: string, dialect: IndexDialect): Promise<OperationJson> {
    const index = await this.get(place, id)
    if (index.state === 'building') {
      throw failedPrecondition(
        `the index ${formatIndex(index)} is being built; wait for it, or cancel the operation that builds it`,
      )
    }
    const job = await this.drop(place, id)
    const deleting = await job.defined
    return this.#start(place, deleting, job, dialect, 'DELETE_INDEX')
  }

  /** Deletes an index in any state. @throws NOT_FOUND; FAILED_PRECONDITION if it is being deleted already */
  async drop(place: DatabaseName, id: string): Promise<IndexJob> {
    const index = await this.get(place, id)
    return this.#engine.indexes.drop(this.database(place), index.id)
  }

  #start(
    place: DatabaseName,
    index: CataloguedIndex,
    job: IndexJob | undefined,
    dialect: IndexDialect,
    type: IndexOperationType,
  ): OperationJson {
    const { isOfDatabase } = dialect
    const database = this.database(place)
    const inId = isOfDatabase || place.databaseId === '' ? '' : `-${place.databaseId}`
    const work = type === 'CREATE_INDEX' ? 'create' : 'delete'
    const progress = job ?? { progress: { completed: 0, estimated: 0 } }
    return this.#operations.start({
      ...(this.#engine.hasOtherWriters ? { id: `index-${work}-${index.id}${inId}` } : {}),
      type,
      projectId: place.projectId,
      ...(isOfDatabase ? { databaseId: place.databaseId } : {}),
      metadata: (common) => dialect.metadata(place, index, progress, common),
      run: async (signal) => {
        const done = type === 'CREATE_INDEX' ? this.#created(database, index, job, signal) : (job?.done ?? index)
        return dialect.response(place, await done)
      },
    })
  }
}

/** The direction in a definition of either API. @throws INVALID_ARGUMENT with the wrong member */
export function directionOf(direction: unknown, member: string): IndexedProperty['direction'] {
  if (direction === 'ASCENDING') return 'ascending'
  if (direction === 'DESCENDING') return 'descending'
  throw invalidArgument(`${member} is ${said(direction)}; it is ASCENDING or DESCENDING`)
}

export function said(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value)
}
