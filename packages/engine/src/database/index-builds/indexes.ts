/**
 * The composite indexes of an engine's databases, for everyone above: the builder and the file index.yaml together.
 *
 *   made for a query      built, and written to the file
 *   in the file           built when the store is opened, or when a query of a database needs it
 *   made by name          built, and kept by the store alone
 */
import { type CataloguedIndex, IndexCatalogue } from '../../indexes/catalogue.ts'
import type { IndexFile } from '../../indexes/index-file.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import type { KvRow } from '../../storage/kv.ts'
import { IndexBuilder } from './index-builder.ts'
import type { IndexedDatabase, IndexJob } from './index-job.ts'
import type { IndexWork } from './index-work.ts'
import { RefusedIndexes } from './refused-indexes.ts'

export class Indexes {
  /** index.yaml, where the store has one. */
  file: IndexFile | undefined
  /** Those that queries were refused for. */
  readonly refused: RefusedIndexes = new RefusedIndexes()
  readonly #builder: IndexBuilder

  constructor(work: IndexWork) {
    this.#builder = new IndexBuilder(work)
  }

  /** Defines an index and builds it. @throws INVALID_ARGUMENT for a definition that makes no sense; ALREADY_EXISTS */
  create(database: IndexedDatabase, definition: IndexDefinition): IndexJob {
    database.keep()
    return this.#builder.create(database, definition)
  }

  /**
   * Takes an index away, also from what is generated in the file.
   *
   * @throws NOT_FOUND; FAILED_PRECONDITION when that is under way already
   */
  drop(database: IndexedDatabase, id: bigint): IndexJob {
    const job = this.#builder.drop(database, id)
    job.defined.then(
      (index) => this.file?.remove(index),
      () => {},
    )
    return job
  }

  /** Resolves when an index of this definition serves; it is built if it is not there. */
  ensure(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    database.keep()
    return this.#builder.ensure(database, definition)
  }

  /** As {@link ensure}, for a query that nothing else serves: the file keeps it. */
  ensureForQuery(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    const ensured = this.ensure(database, definition)
    const job = this.#builder.jobOf(database, definition)
    job?.defined.then(
      () => this.file?.add(definition),
      () => {},
    )
    return ensured
  }

  /** The indexes being defined or built in a database. */
  comingIn(database: IndexedDatabase): readonly IndexDefinition[] {
    return this.#builder.definitionsIn(database)
  }

  /** Reads definitions anew that other processes may have changed. */
  refresh(database: IndexedDatabase): Promise<void> {
    return this.#builder.refresh(database)
  }

  /** The job that is at work on an index. */
  jobOf(database: IndexedDatabase, definition: IndexDefinition): IndexJob | undefined {
    return this.#builder.jobOf(database, definition)
  }

  /** Builds in a database what the file has and it lacks. Resolves when all serve; a failed one is no hindrance. */
  async deploy(database: IndexedDatabase): Promise<void> {
    await this.file?.refresh()
    await Promise.allSettled((this.file?.definitions ?? []).map((definition) => this.ensure(database, definition)))
  }

  /** Goes on with what an earlier run, or another gateway, has not finished. */
  resume(databases: readonly IndexedDatabase[]): void {
    this.#builder.resumeAll(databases)
  }

  /** Goes on with what an earlier run did not finish, and builds what the file has. Nothing here waits for the work. */
  open(databases: readonly IndexedDatabase[]): void {
    this.resume(databases)
    for (const database of databases) void this.deploy(database)
  }

  /** Gives up all work on the databases whose code begins with `scope`. What the store has unfinished goes on by {@link open}. */
  giveUp(scope: string): void {
    this.#builder.forget(scope)
  }

  /** The definitions that stay when the rows of some databases are deleted. */
  keptBy(databases: readonly IndexedDatabase[]): KeptIndexes {
    const kept = databases.map(({ projectId, databaseId, catalogue: before }) => {
      const catalogue = new IndexCatalogue({ projectId, databaseId })
      // No entity is stored, so there is nothing to build.
      for (const definition of before.maintained) {
        catalogue.record({ ...catalogue.propose(definition), state: 'serving' })
      }
      return { projectId, databaseId, catalogue }
    })
    return {
      rows: kept.flatMap(({ catalogue }) => catalogue.all.map((index) => catalogue.rowWith(index))),
      reinstate(databaseOf) {
        for (const { projectId, databaseId, catalogue } of kept) {
          for (const index of catalogue.all) databaseOf(projectId, databaseId).catalogue.record(index)
        }
      },
    }
  }

  /** Waits for the steps under way; what is not finished goes on at the next opening. */
  async close(): Promise<void> {
    await this.#builder.close()
    await this.file?.refresh()
  }
}

export interface KeptIndexes {
  /** To be set by the write that deletes the rows. */
  readonly rows: readonly KvRow[]
  /** Puts the definitions into the new catalogues, once the rows are gone. */
  reinstate(databaseOf: (projectId: string, databaseId: string) => IndexedDatabase): void
}
