/**
 * Indexes that are made and taken away as operations: begun, watched by their progress, cancelled.
 *
 * The first answer comes when the definition is stored in its new state, so that what is wrong with it is an error of the
 * call. Cancelling the making of an index drops it; the taking away of one goes on, whatever is asked.
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
import type { IndexPlace } from './index-json.ts'
import type { CommonMetadata, JsonObject, OperationJson, Operations } from './operations/operations.ts'

/** How an API speaks of an index and of the work on it. */
export interface IndexDialect {
  /** Whether its operations stand under the database, and not under the project. */
  readonly isOfDatabase: boolean
  /** With `@type`. */
  response(place: IndexPlace, index: CataloguedIndex): JsonObject
  /** With `@type`. */
  metadata(place: IndexPlace, index: CataloguedIndex, job: IndexJob, common: CommonMetadata): JsonObject
}

export class IndexOperations {
  readonly #engine: Engine
  readonly #operations: Operations

  constructor(engine: Engine, operations: Operations) {
    this.#engine = engine
    this.#operations = operations
  }

  /** @throws INVALID_ARGUMENT for names that no project or database can have */
  database({ projectId, databaseId }: IndexPlace): Database {
    validateDatabase({ projectId, databaseId })
    return this.#engine.database(projectId, databaseId)
  }

  /** All indexes of a database, by number. */
  list(place: IndexPlace): readonly CataloguedIndex[] {
    return this.database(place).catalogue.all
  }

  /** @throws NOT_FOUND */
  get(place: IndexPlace, id: string): CataloguedIndex {
    const index = /^\d{1,18}$/.test(id) ? this.database(place).catalogue.byId(BigInt(id)) : undefined
    if (index !== undefined) return index
    const where = place.databaseId === '' ? place.projectId : `${place.projectId}, database ${place.databaseId}`
    throw new DatastoreError('NOT_FOUND', `there is no index "${id}" in project ${where}`)
  }

  /** @throws INVALID_ARGUMENT, ALREADY_EXISTS */
  async create(place: IndexPlace, definition: IndexDefinition, dialect: IndexDialect): Promise<OperationJson> {
    const database = this.database(place)
    const job = this.#engine.indexes.create(database, definition)
    const index = await job.defined
    const drop = (): void => {
      if (database.catalogue.byId(index.id)?.state === 'building') this.#engine.indexes.drop(database, index.id)
    }
    return this.#start(place, index, job, dialect, 'CREATE_INDEX', async (signal) => {
      signal.addEventListener('abort', drop, { once: true })
      try {
        return await job.done
      } catch (error) {
        throw signal.aborted ? signal.reason : error
      }
    })
  }

  /** @throws NOT_FOUND; FAILED_PRECONDITION unless it serves or has failed */
  async delete(place: IndexPlace, id: string, dialect: IndexDialect): Promise<OperationJson> {
    const index = this.get(place, id)
    if (index.state === 'building') {
      throw failedPrecondition(
        `the index ${formatIndex(index)} is being built; wait for it, or cancel the operation that builds it`,
      )
    }
    const job = this.drop(place, id)
    const deleting = await job.defined
    return this.#start(place, deleting, job, dialect, 'DELETE_INDEX', () => job.done)
  }

  /** Takes an index away in whatever state. @throws NOT_FOUND; FAILED_PRECONDITION when that is under way already */
  drop(place: IndexPlace, id: string): IndexJob {
    return this.#engine.indexes.drop(this.database(place), this.get(place, id).id)
  }

  #start(
    place: IndexPlace,
    index: CataloguedIndex,
    job: IndexJob,
    dialect: IndexDialect,
    type: 'CREATE_INDEX' | 'DELETE_INDEX',
    run: (signal: AbortSignal) => Promise<CataloguedIndex>,
  ): OperationJson {
    return this.#operations.start({
      type,
      projectId: place.projectId,
      ...(dialect.isOfDatabase ? { databaseId: place.databaseId } : {}),
      metadata: (common) => dialect.metadata(place, index, job, common),
      run: async (signal) => dialect.response(place, await run(signal)),
    })
  }
}
