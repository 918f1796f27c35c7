/**
 * The composite indexes of an engine's databases, with the file index.yaml: one job builds or removes each, shared by all callers. The
 * store does the work (index-work.ts).
 *
 *   create   definition stored (building: writes maintain it) ─▶ rows of each entity written ─▶ serving
 *   drop     definition stored (deleting: not visible) ─▶ its rows deleted ─▶ definition gone
 *
 *   needed by a query     built, and written to the file
 *   in the file           built when the store is opened, or when a query of a database needs it
 *   created by name       built, and recorded in the store alone
 */
import { DatastoreError, failedPrecondition, notFound } from '../../errors.ts'
import { type CataloguedIndex, IndexCatalogue } from '../../indexes/catalogue.ts'
import { identityOf, plainDefinition } from '../../indexes/definition.ts'
import type { IndexFile } from '../../indexes/index-file.ts'
import { formatIndex, type IndexDefinition } from '../../model/index-definition.ts'
import type { KvRow } from '../../storage/kv.ts'
import { type IndexedDatabase, IndexJob } from './index-job.ts'
import type { IndexWork } from './index-work.ts'
import { RefusedIndexes } from './refused-indexes.ts'

export class Indexes {
  file: IndexFile | undefined
  readonly refused: RefusedIndexes = new RefusedIndexes()
  readonly #work: IndexWork
  /** By database and definition: equal requests share one job. */
  readonly #jobs = new Map<string, IndexJob>()
  #closed = false

  constructor(work: IndexWork) {
    this.#work = work
  }

  async refresh(database: IndexedDatabase): Promise<void> {
    await this.#work.refresh?.(database)
  }

  jobOf(database: IndexedDatabase, definition: IndexDefinition): IndexJob | undefined {
    return this.#jobs.get(jobName(database, definition))
  }

  comingIn(database: IndexedDatabase): readonly IndexDefinition[] {
    return [...this.#jobs.values()]
      .filter((job) => job.type === 'create' && job.database.code === database.code)
      .map(({ definition }) => definition)
  }

  /** Defines an index and builds it. @throws INVALID_ARGUMENT for an invalid definition; ALREADY_EXISTS */
  create(database: IndexedDatabase, definition: IndexDefinition): IndexJob {
    database.keep()
    const plain = database.catalogue.propose(definition)
    if (this.jobOf(database, plain) !== undefined) {
      throw new DatastoreError('ALREADY_EXISTS', `the index ${formatIndex(plain)} is being defined already`)
    }
    return this.#begin(database, plain, 'create', (job) => this.#work.define(job, plain))
  }

  /** Resolves when the index serves; starts a build if none runs. @throws FAILED_PRECONDITION if it has failed */
  async ensure(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    database.keep()
    const plain = plainDefinition(definition)
    for (;;) {
      const job = this.jobOf(database, plain)
      if (job !== undefined) {
        const index = await job.done
        if (job.type === 'create') return index
        continue
      }
      const found = database.catalogue.find(plain)
      if (found === undefined) return await this.create(database, plain).done
      if (found.state === 'serving') return found
      if (found.state === 'failed') throw failedIndex(found)
      return await this.#resume(database, found).done
    }
  }

  /** {@link ensure} for a query that no other index serves; the index is added to the file. */
  ensureForQuery(database: IndexedDatabase, definition: IndexDefinition): Promise<CataloguedIndex> {
    const ensured = this.ensure(database, definition)
    this.jobOf(database, definition)?.defined.then(
      () => this.file?.add(definition),
      () => {},
    )
    return ensured
  }

  /**
   * Drops an index, also from the generated part of the file, and stops its build if it is unfinished.
   *
   * @throws NOT_FOUND; FAILED_PRECONDITION if it is being dropped already
   */
  drop(database: IndexedDatabase, id: bigint): IndexJob {
    const { catalogue, projectId, databaseId } = database
    const index = catalogue.byId(id)
    if (index === undefined) {
      const place = databaseId === '' ? `project ${projectId}` : `project ${projectId}, database ${databaseId}`
      throw notFound(`there is no index with id ${id} in ${place}`)
    }
    if (index.state === 'deleting') throw failedPrecondition(`the index ${formatIndex(index)} is being deleted already`)
    const building = this.jobOf(database, index)
    if (building !== undefined) {
      building.stop(new DatastoreError('ABORTED', `the index ${formatIndex(index)} is deleted before it was built`))
    }
    const define = async (job: IndexJob): Promise<CataloguedIndex> => {
      await building?.done.catch(() => {})
      return await this.#work.leave(job, index)
    }
    const dropping = this.#begin(database, index, 'drop', define)
    dropping.defined.then(
      (dropped) => this.file?.remove(dropped),
      () => {},
    )
    return dropping
  }

  /** Builds the indexes of the file that the database lacks. Resolves when all serve or have failed. */
  async deploy(database: IndexedDatabase): Promise<void> {
    await this.file?.refresh()
    await Promise.allSettled((this.file?.definitions ?? []).map((definition) => this.ensure(database, definition)))
  }

  /** Continues work that an earlier run or another gateway left (index-work/X2); running jobs are left alone. */
  resume(databases: readonly IndexedDatabase[]): void {
    if (this.#closed) return
    for (const database of databases) {
      for (const index of database.catalogue.all) {
        const isUnfinished = index.state === 'building' || index.state === 'deleting'
        if (isUnfinished && this.jobOf(database, index) === undefined) this.#resume(database, index)
      }
    }
  }

  /** Continues work of an earlier run, and builds the indexes of the file. Does not wait for the work. */
  open(databases: readonly IndexedDatabase[]): void {
    this.resume(databases)
    for (const database of databases) void this.deploy(database)
  }

  /**
   * Stops all work on databases whose code begins with `scope`, because their rows are being deleted. {@link open} continues the
   * unfinished part.
   */
  giveUp(scope: string): void {
    for (const job of this.#jobs.values()) {
      if (job.database.code.startsWith(scope)) job.stop(new DatastoreError('ABORTED', 'the store was reset'))
    }
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
      rows: kept.flatMap(({ catalogue }) => catalogue.all.map((index) => catalogue.writeOf(index))),
      reinstate(databaseOf) {
        for (const { projectId, databaseId, catalogue } of kept) {
          for (const index of catalogue.all) databaseOf(projectId, databaseId).catalogue.record(index)
        }
      },
    }
  }

  /** Prevents further steps, and waits for the current ones; the next opening continues unfinished work. */
  async close(): Promise<void> {
    this.#closed = true
    const closing = new DatastoreError('UNAVAILABLE', 'the store is being closed')
    const jobs = [...this.#jobs.values()]
    for (const job of jobs) job.stop(closing)
    await Promise.allSettled(jobs.map(({ done }) => done))
    await this.file?.refresh()
  }

  #begin(
    database: IndexedDatabase,
    definition: IndexDefinition,
    type: IndexJob['type'],
    define: (job: IndexJob) => Promise<CataloguedIndex>,
  ): IndexJob {
    if (this.#closed) throw new DatastoreError('UNAVAILABLE', 'the store is being closed')
    const name = jobName(database, definition)
    const job = new IndexJob(database, definition, type, define, (own, index) =>
      type === 'drop' ? this.#work.sweep(own, index) : this.#work.build(own, index),
    )
    this.#jobs.set(name, job)
    const forget = (): void => {
      if (this.#jobs.get(name) === job) this.#jobs.delete(name)
    }
    job.done.then(forget, forget)
    return job
  }

  #resume(database: IndexedDatabase, index: CataloguedIndex): IndexJob {
    return this.#begin(database, index, index.state === 'deleting' ? 'drop' : 'create', async () => index)
  }
}

export interface KeptIndexes {
  /** Rows for the write that deletes all other rows. */
  readonly rows: readonly KvRow[]
  /** Adds the definitions to the new catalogues after the deletion. */
  reinstate(databaseOf: (projectId: string, databaseId: string) => IndexedDatabase): void
}

export function failedIndex(index: CataloguedIndex): DatastoreError {
  return failedPrecondition(
    `the index ${formatIndex(index)} could not be built (${index.failure}): delete it (id ${index.id}) and create it again`,
  )
}

function jobName(database: IndexedDatabase, definition: IndexDefinition): string {
  return `${database.code} ${identityOf(definition)}`
}
