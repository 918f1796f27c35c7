/**
 * The composite indexes of an engine's databases: the builder together with the file index.yaml.
 *
 *   needed by a query     built, and written to the file
 *   in the file           built when the store is opened, or when a query of a database needs it
 *   created by name       built, and recorded in the store alone
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
  /** The file index.yaml, if the store has one. */
  file: IndexFile | undefined
  /** The indexes that refused queries needed. */
  readonly refused: RefusedIndexes = new RefusedIndexes()
  readonly #builder: IndexBuilder

  constructor(work: IndexWork) {
    this.#builder = new IndexBuilder(work)
  }

  /** Defines an index and builds it. @throws INVALID_ARGUMENT for an invalid definition; ALREADY_EXISTS */
  create(database: IndexedDatabase, definition: IndexDefinition): IndexJob {
    database.keep()
    return this.#builder.create(database, definition)
  }

  /**
   * Drops an index, also from the generated part of the file.
   *
   * @throws NOT_FOUND; FAILED_PRECONDITION if it is being dropped already
   */
  drop(database: IndexedDatabase, id: bigint): IndexJob {
    const job = this.#builder.drop(database, id)
    job.defined.then(
      (index) => this.file?.remove(index),
      () => {},
    )
    return job
  }

  /** Resolves when an index with this definition serves; starts a build if there is none. */
  ensure(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    database.keep()
    return this.#builder.ensure(database, definition)
  }

  /** {@link ensure} for a query that no other index serves; the index is added to the file. */
  ensureForQuery(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    const ensured = this.ensure(database, definition)
    const job = this.#builder.jobOf(database, definition)
    job?.defined.then(
      () => this.file?.add(definition),
      () => {},
    )
    return ensured
  }

  comingIn(database: IndexedDatabase): readonly IndexDefinition[] {
    return this.#builder.definitionsIn(database)
  }

  refresh(database: IndexedDatabase): Promise<void> {
    return this.#builder.refresh(database)
  }

  jobOf(database: IndexedDatabase, definition: IndexDefinition): IndexJob | undefined {
    return this.#builder.jobOf(database, definition)
  }

  /** Builds the indexes of the file that the database lacks. Resolves when all serve or have failed. */
  async deploy(database: IndexedDatabase): Promise<void> {
    await this.file?.refresh()
    await Promise.allSettled((this.file?.definitions ?? []).map((definition) => this.ensure(database, definition)))
  }

  resume(databases: readonly IndexedDatabase[]): void {
    this.#builder.resumeAll(databases)
  }

  /** Continues work of an earlier run, and builds the indexes of the file. Does not wait for the work. */
  open(databases: readonly IndexedDatabase[]): void {
    this.resume(databases)
    for (const database of databases) void this.deploy(database)
  }

  /** Stops all work on databases whose code begins with `scope`. {@link open} continues the unfinished part. */
  giveUp(scope: string): void {
    this.#builder.forget(scope)
  }

  /** The definitions that stay when the rows of some databases are deleted. */
  keptBy(databases: readonly IndexedDatabase[]): KeptIndexes {
    const kept = databases.map(({ projectId, databaseId, catalogue: before }) => {
      const catalogue = new IndexCatalogue({ projectId, databaseId })
      // Without entities there is nothing to build.
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

  /** Waits for the current steps; the next opening continues unfinished work. */
  async close(): Promise<void> {
    await this.#builder.close()
    await this.file?.refresh()
  }
}

export interface KeptIndexes {
  /** Rows for the write that deletes all other rows. */
  readonly rows: readonly KvRow[]
  /** Adds the definitions to the new catalogues after the deletion. */
  reinstate(databaseOf: (projectId: string, databaseId: string) => IndexedDatabase): void
}
