/**
 * Indexes that are made and taken away as operations: begun, watched by their progress, cancelled.
 *
 * The first answer comes when the definition is stored in its new state, so that what is wrong with it is an error of the
 * call. Cancelling the making of an index drops it; the taking away of one goes on, whatever is asked.
 *
 * IO1  At a store that several gateways share each of them answers for such an operation: its name says which index it is of, and the
 *      catalogue how far that is. Its start is the moment at which a gateway first heard of it.    test/contract/shared-operations.test.ts
 */
import {
  type CataloguedIndex,
  type Database,
  DatastoreError,
  type Engine,
  failedPrecondition,
  formatIndex,
  type IndexDefinition,
  type IndexJob,
  validateDatabase,
} from '@sixtables/engine'
import { databaseIdOf } from '../convert/parameters.ts'
import type { IndexPlace } from './index-json.ts'
import type { CommonMetadata, JsonObject, OperationJson, Operations } from './operations/operations.ts'
import type { OperationSource } from './operations/operations-service.ts'

/** How an API speaks of an index and of the work on it. */
export interface IndexDialect {
  /** Whether its operations stand under the database, and not under the project. */
  readonly isOfDatabase: boolean
  /** With `@type`. */
  response(place: IndexPlace, index: CataloguedIndex): JsonObject
  /** With `@type`. */
  metadata(
    place: IndexPlace,
    index: CataloguedIndex,
    job: Pick<IndexJob, 'progress'>,
    common: CommonMetadata,
  ): JsonObject
}

interface Dialects {
  readonly ofProject: IndexDialect
  readonly ofDatabase: IndexDialect
}

type IndexOperationType = 'CREATE_INDEX' | 'DELETE_INDEX'

/** `index-create-7`, with a database behind it where the name has none before it and it is not the default one. */
const sharedId = /^index-(create|delete)-(\d{1,18})(?:-(.+))?$/

export class IndexOperations implements OperationSource {
  readonly #engine: Engine
  readonly #operations: Operations
  readonly #dialects: Dialects

  constructor(engine: Engine, operations: Operations, dialects: Dialects) {
    this.#engine = engine
    this.#operations = operations
    this.#dialects = dialects
  }

  async adopt(name: string): Promise<void> {
    if (!this.#engine.isShared || this.#operations.has(name)) return
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
    if (!this.#engine.isShared) return
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

  /** Puts the operation of an index into the registry, by what the catalogue says of it. */
  #adopt(place: IndexPlace, id: bigint, type: IndexOperationType, isOfDatabase: boolean): void {
    const database = this.database(place)
    const dialect = isOfDatabase ? this.#dialects.ofDatabase : this.#dialects.ofProject
    const index = database.catalogue.byId(id)
    if (index === undefined) {
      if (!database.catalogue.hasGiven(id)) return
      const gone: CataloguedIndex = { id, kind: '', ancestor: false, properties: [], state: 'deleting' }
      const run = async (): Promise<CataloguedIndex> => {
        if (type === 'DELETE_INDEX') return gone
        throw new DatastoreError('CANCELLED', `the index ${id} was deleted`)
      }
      this.#start(place, gone, undefined, dialect, type, run)
      return
    }
    const job = this.#engine.indexes.jobOf(database, index)
    if (type === 'DELETE_INDEX') {
      if (index.state === 'deleting' && job !== undefined) this.#start(place, index, job, dialect, type, () => job.done)
      return
    }
    this.#start(place, index, job, dialect, type, (signal) => this.#created(database, index, job, signal))
  }

  /** @throws INVALID_ARGUMENT for names that no project or database can have */
  database({ projectId, databaseId }: IndexPlace): Database {
    validateDatabase({ projectId, databaseId })
    return this.#engine.database(projectId, databaseId)
  }

  /** A database with its definitions read anew, since other gateways may have changed them. */
  async #refreshed(place: IndexPlace): Promise<Database> {
    const database = this.database(place)
    await this.#engine.indexes.refresh(database)
    return database
  }

  /** All indexes of a database, by number. */
  async list(place: IndexPlace): Promise<readonly CataloguedIndex[]> {
    return (await this.#refreshed(place)).catalogue.all
  }

  /** @throws NOT_FOUND */
  async get(place: IndexPlace, id: string): Promise<CataloguedIndex> {
    const { catalogue } = await this.#refreshed(place)
    const index = /^\d{1,18}$/.test(id) ? catalogue.byId(BigInt(id)) : undefined
    if (index !== undefined) return index
    const where = place.databaseId === '' ? place.projectId : `${place.projectId}, database ${place.databaseId}`
    throw new DatastoreError('NOT_FOUND', `there is no index "${id}" in project ${where}`)
  }

  /** @throws INVALID_ARGUMENT, ALREADY_EXISTS */
  async create(place: IndexPlace, definition: IndexDefinition, dialect: IndexDialect): Promise<OperationJson> {
    const database = await this.#refreshed(place)
    const job = this.#engine.indexes.create(database, definition)
    const index = await job.defined
    return this.#start(place, index, job, dialect, 'CREATE_INDEX', (signal) =>
      this.#created(database, index, job, signal),
    )
  }

  /** Waits for the making of an index. @param job - absent: it serves, has failed, or is being deleted */
  async #created(
    database: Database,
    index: CataloguedIndex,
    job: IndexJob | undefined,
    signal: AbortSignal,
  ): Promise<CataloguedIndex> {
    const gone = (): DatastoreError => new DatastoreError('CANCELLED', `the index ${formatIndex(index)} was deleted`)
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
      // Another gateway has been asked to cancel it.
      if (this.#engine.isShared && (now === undefined || now.state === 'deleting')) throw gone()
      throw error
    }
  }

  /** @throws NOT_FOUND; FAILED_PRECONDITION unless it serves or has failed */
  async delete(place: IndexPlace, id: string, dialect: IndexDialect): Promise<OperationJson> {
    const index = await this.get(place, id)
    if (index.state === 'building') {
      throw failedPrecondition(
        `the index ${formatIndex(index)} is being built; wait for it, or cancel the operation that builds it`,
      )
    }
    const job = await this.drop(place, id)
    const deleting = await job.defined
    return this.#start(place, deleting, job, dialect, 'DELETE_INDEX', () => job.done)
  }

  /** Takes an index away in whatever state. @throws NOT_FOUND; FAILED_PRECONDITION when that is under way already */
  async drop(place: IndexPlace, id: string): Promise<IndexJob> {
    const index = await this.get(place, id)
    return this.#engine.indexes.drop(this.database(place), index.id)
  }

  #start(
    place: IndexPlace,
    index: CataloguedIndex,
    job: IndexJob | undefined,
    dialect: IndexDialect,
    type: IndexOperationType,
    run: (signal: AbortSignal) => Promise<CataloguedIndex>,
  ): OperationJson {
    const { isOfDatabase } = dialect
    const inId = isOfDatabase || place.databaseId === '' ? '' : `-${place.databaseId}`
    const work = type === 'CREATE_INDEX' ? 'create' : 'delete'
    const progress = job ?? { progress: { completed: 0, estimated: 0 } }
    return this.#operations.start({
      ...(this.#engine.isShared ? { id: `index-${work}-${index.id}${inId}` } : {}),
      type,
      projectId: place.projectId,
      ...(isOfDatabase ? { databaseId: place.databaseId } : {}),
      metadata: (common) => dialect.metadata(place, index, progress, common),
      run: async (signal) => dialect.response(place, await run(signal)),
    })
  }
}
