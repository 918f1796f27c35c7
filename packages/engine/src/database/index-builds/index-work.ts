/**
 * The build and the removal of a composite index in a store of one process. A build walks over EntitiesByKind and writes the
 * index rows of each entity, while commits continue. For ToDo(done, -priority), ToDo:1 gets the row done=false,
 * priority=4. The walk costs the entities of the kind, not those of the database.
 *
 * X1  An entity's rows are written while nothing is committed or applied, from the image that its other index rows have. So
 *     the index agrees with all others, also while commits are held back.
 * X2  A build that was interrupted starts again at the next opening; the rows already written are right.
 * X3  No read continues in an index that is being dropped: transactions that read it are ended, other reads start again.
 *
 * When a definition is created or dropped, pending records get or lose its rows. Known: an index is written while it is
 * built. Ours: the walk.
 */
import type { Scheduler } from '../../clock.ts'
import { requestContext } from '../../context.ts'
import { keyCodesOfPath } from '../../encoding/key-codec.ts'
import type { CataloguedIndex } from '../../indexes/catalogue.ts'
import { checkCompositeRows } from '../../indexes/row-limit.ts'
import { workOf } from '../../log/apply.ts'
import type { CommitLog } from '../../log/commit-log.ts'
import type { MaybePromise } from '../../maybe-promise.ts'
import { formatIndex, type IndexDefinition } from '../../model/index-definition.ts'
import { giveWay } from '../../slices.ts'
import type { Kv, KvWrite } from '../../storage/kv.ts'
import { entityRowKey } from '../../tables/entities.ts'
import { compositeIndexRange } from '../../tables/entities-by-composite-property.ts'
import { EntityRows, handRows, type IndexRules } from '../../tables/entity-rows.ts'
import { rowKeysOf, walkKind } from '../../tables/kind-walk.ts'
import { groupOf } from '../../tables/log-rows.ts'
import { isOf } from '../../tables/rows.ts'
import type { Transactions } from '../../transactions/transactions.ts'
import type { IndexedDatabase, IndexJob } from './index-job.ts'

/** The steps of a job. Each ends with a stored state, from which another process can continue. */
export interface IndexWork {
  /** Stores a new definition: from now on writes maintain it. */
  define(job: IndexJob, definition: IndexDefinition): Promise<CataloguedIndex>
  /** Writes its rows, and lets it serve. */
  build(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex>
  /** Lets it serve no more. */
  leave(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex>
  /** Reads definitions again, which other processes may have changed; absent = there are no others. */
  refresh?(database: IndexedDatabase): Promise<void>
  sweep(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex>
}

/** Entities, or rows to delete, between two pauses. */
const entitiesPerStep = 16
const rowsPerStep = 1000
/** A step ends at these bytes of entities: to read all values of one megabyte takes tens of milliseconds. */
const bytesPerStep = 64 * 1024

export interface LocalIndexParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly transactions: Transactions
  readonly scheduler: Scheduler
  /** Called when rows of an index were written or deleted outside of commits. */
  readonly onRowsChanged?: (() => void) | undefined
}

export class LocalIndexWork implements IndexWork {
  readonly #parts: LocalIndexParts

  constructor(parts: LocalIndexParts) {
    this.#parts = parts
  }

  define(job: IndexJob, definition: IndexDefinition): Promise<CataloguedIndex> {
    const { database } = job
    return this.#parts.log.alone(async () => {
      const index = await this.#store(job, () => database.catalogue.propose(definition))
      await this.#changePending(database)
      return index
    })
  }

  leave(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex> {
    const { database } = job
    const { code } = database
    return this.#parts.log.alone(async () => {
      const deleting = await this.#store(job, () => ({ ...index, state: 'deleting' }))
      await this.#changePending(database)
      const reason = `the index ${formatIndex(index)}, by which this transaction has read, was deleted; try again`
      this.#parts.transactions.abortReaders(code, compositeIndexRange(index, code), reason)
      return deleting
    })
  }

  /** Stores an index in a new state, unless the job must stop. @param servedAfter - as for the catalogue's record() */
  async #store(job: IndexJob, make: () => CataloguedIndex, servedAfter?: number): Promise<CataloguedIndex> {
    job.stopped.throwIfAborted()
    const { catalogue } = job.database
    const index = make()
    await this.#parts.kv.mutate(catalogue.writeOf(index))
    catalogue.record(index, servedAfter)
    return index
  }

  /** Gives pending records the index rows of the current definitions, in slices: meanwhile nothing is committed or applied. */
  async #changePending({ code, catalogue, indexOptions }: IndexedDatabase): Promise<void> {
    const { log, scheduler } = this.#parts
    const rules: IndexRules = { indexes: catalogue.maintained, indexOptions }
    const context = requestContext({ clock: scheduler })
    for (const group of log.pending.groupsOf(code)) {
      for (const record of log.pending.of(group)) {
        record.changes = record.changes.map((one) => new EntityRows(one, rules))
        await giveWay(context, workOf(record))
      }
    }
  }

  async build(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex> {
    const { log, transactions } = this.#parts
    try {
      let counted = 0
      await this.#walk(job, rowsPerStep, (paths) => {
        counted += paths.length
      })
      job.estimated = counted
      await this.#walk(job, entitiesPerStep, async (paths, partition) => {
        for (let at = 0, written = 0; at < paths.length; at += written) {
          if (at > 0) await this.#pause()
          written = await log.alone(() => {
            job.stopped.throwIfAborted()
            return this.#writeRows(job.database, index, partition, paths.slice(at))
          })
          job.completed += written
        }
      })
      return await log.exclusive(async () => {
        const serving = await this.#store(job, () => ({ ...index, state: 'serving' }), transactions.lastId)
        this.#parts.onRowsChanged?.()
        return serving
      })
    } catch (error) {
      if (error !== job.stopped.reason) await this.#fail(job, index, error)
      throw error
    }
  }

  /** Marks the index as failed; it stays, unusable, until it is dropped. If the store failed, the build restarts at opening. */
  async #fail(job: IndexJob, index: CataloguedIndex, error: unknown): Promise<void> {
    const { log, kv } = this.#parts
    const { catalogue } = job.database
    const failure = error instanceof Error ? error.message : String(error)
    const failed: CataloguedIndex = { ...index, state: 'failed', failure }
    await log.exclusive(async () => {
      catalogue.record(failed)
      try {
        await kv.mutate(catalogue.writeOf(failed))
      } catch {
        // The job fails with the error of the store.
      }
    })
  }

  /** Walks over the kind's entities with pauses, until the job must stop. */
  #walk(
    job: IndexJob,
    count: number,
    visit: (paths: readonly string[], partition: string) => MaybePromise<void>,
  ): Promise<void> {
    return walkKind(this.#parts.kv, job.database.code, job.definition.kind, count, async (paths, partition) => {
      job.stopped.throwIfAborted()
      await visit(paths, partition)
      await this.#pause()
    })
  }

  /** Writes the rows of the first of these entities in the index (X1). @returns the number of entities */
  async #writeRows(
    database: IndexedDatabase,
    index: CataloguedIndex,
    partition: string,
    paths: readonly string[],
  ): Promise<number> {
    const { catalogue, indexOptions } = database
    const writes: KvWrite[] = []
    const sink = {
      wants: (prefix: string): boolean => isOf('EntitiesByCompositeProperty', prefix),
      write: (key: string, value: Uint8Array | undefined): number => writes.push({ key, value }),
    }
    let count = 0
    let bytes = 0
    for (const path of paths) {
      const after = await this.#imageShown(partition, path)
      const delta = { codes: keyCodesOfPath(partition, path), before: undefined, after }
      checkCompositeRows(delta, { indexes: catalogue.maintained, indexOptions })
      handRows(delta, { indexes: [index], indexOptions }, sink)
      count++
      bytes += after?.length ?? 0
      if (writes.length >= rowsPerStep || bytes >= bytesPerStep) break
    }
    if (writes.length > 0) await this.#parts.kv.batch(writes)
    return count
  }

  /** The image to which an entity's index rows belong: the stored one, unless a record is between milestones A and B. */
  async #imageShown(partition: string, path: string): Promise<Uint8Array | undefined> {
    const { kv, log } = this.#parts
    const oldest = log.pending.count === 0 ? undefined : log.pending.oldest(groupOf(partition, path))
    const change = oldest?.milestone === 'A' ? oldest.changes.find((each) => each.path === path) : undefined
    return change === undefined ? await kv.get(entityRowKey(partition, path)) : change.before
  }

  async sweep(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex> {
    const { kv, log } = this.#parts
    const { catalogue, code } = job.database
    const range = compositeIndexRange(index, code)
    for (;;) {
      const rows = await rowKeysOf(kv, range, rowsPerStep)
      if (rows.length === 0) break
      await log.exclusive(async () => {
        job.stopped.throwIfAborted()
        await kv.batch(rows.map((key) => ({ key, value: undefined })))
      })
      job.completed += rows.length
      await this.#pause()
    }
    return await log.exclusive(async () => {
      job.stopped.throwIfAborted()
      await kv.mutate({ key: catalogue.rowOf(index), value: undefined })
      catalogue.remove(index)
      this.#parts.onRowsChanged?.()
      return index
    })
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#parts.scheduler.defer(resolve))
  }
}
