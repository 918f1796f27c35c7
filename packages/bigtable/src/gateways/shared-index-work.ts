/**
 * The work on a composite index at a store that several processes share. A definition that is added, becomes ready or is deleted raises the epoch of
 * its database, and every gateway then reads the definitions again before it commits or reads.
 *
 *   define   stored by conditional write of its number, for commits of an epoch some steps ahead
 *   build    epoch raised that far ─▶ epoch at b ─▶ all below b resolved ─▶ rows of each entity as of b, at the entity's version ─▶ serving since b ─▶ epoch
 *   leave    stored ─▶ epoch
 *   sweep    epoch at c ─▶ all below c resolved ─▶ its rows deleted at c ─▶ only the number is left ─▶ epoch
 *
 * - Later commits have later cells, so commits continue during a build, and each step may be done twice.
 * - A read at a moment before b does not use the index, which lacks rows of older images.
 * - Commits of its first epoch and later ones write the index, whichever gateway applies them; earlier commits never do. So the definition
 *   must be stored before that epoch begins, which its gateway checks.
 * - Images are written within a minute of their read. A later commit may delete rows of an older image, and that deletion may be swept.
 * - The number of a deleted index is never reused: its rows may arrive late.
 *
 * XS1  One gateway at a time does the work, by a lease; the others wait for it, and one of them continues when it has died. Two at
 *      once, one of which has lost its lease, do no harm.                                           shared-index-work.test.ts
 */
import {
  type CataloguedIndex,
  DatastoreError,
  formatIndex,
  type IndexDefinition,
  type IndexJob,
  invalidArgument,
  stopwatch,
} from '@sixtables/engine'
import {
  checkCompositeRows,
  compositeIndexRange,
  decodeImage,
  entityRowKey,
  failedIndex,
  handRows,
  type IndexedDatabase,
  type IndexWork,
  isOf,
  keyCodesOfPath,
  walkKind,
} from '@sixtables/engine/store'
import type { RowChange } from '../row-store/row-store.ts'
import { expectedBytesMax, type RowsKv, valueCell } from '../row-store/rows-kv.ts'
import type { SharedDatabase, SharedDatabases } from './shared-databases.ts'
import { deleteAt } from './shared-delete.ts'
import { momentNow, pastMoment } from './shared-reads.ts'

/** Leaves 1,000 bytes of a condition for later states (docs/reference/limits.md). */
const definitionBytesMax = 9_000
const entitiesPerStep = 64
/** Epochs between the storing of an index and its first epoch: other definitions may change meanwhile. */
const epochsAhead = 1_000
/** Time after which others continue the work of a gateway that died. */
const leaseMs = 5_000
const lookEveryMs = 250
/** Longest time from the read of an image to the sending of its rows. */
const imagesForMicros = 60_000_000n

export class SharedIndexWork implements IndexWork {
  readonly #databases: SharedDatabases
  readonly #kv: RowsKv

  constructor(databases: SharedDatabases) {
    this.#databases = databases
    this.#kv = databases.store.kv
  }

  async refresh(database: IndexedDatabase): Promise<void> {
    await this.#of(database).clock.read()
  }

  async define(job: IndexJob, definition: IndexDefinition): Promise<CataloguedIndex> {
    const { database } = job
    const { catalogue } = database
    const { clock } = this.#of(database)
    for (;;) {
      job.stopped.throwIfAborted()
      const { epoch } = await clock.read()
      // The read has brought definitions of other gateways.
      const found = catalogue.find(definition)
      if (found !== undefined && found.state !== 'deleting') return found
      const index = { ...catalogue.propose(definition), epoch: epoch + epochsAhead }
      checkLength(database, index)
      if (!(await this.#kv.mutateIf(catalogue.writeOf(index), undefined))) {
        // Its number was used, or the answer was lost: try again.
        await clock.raiseEpoch()
        continue
      }
      // Only in time if it is stored before its first epoch.
      if ((await clock.read()).epoch < index.epoch) return index
      const stored = await this.#kv.get(catalogue.rowOf(index))
      if (stored !== undefined && isLate(stored)) {
        const failed = failedFor(database, index, 'too many indexes were created at once')
        await this.#kv.mutateIf(catalogue.writeOf(failed), stored)
      }
      await clock.raiseEpoch()
    }
  }

  build(job: IndexJob, found: CataloguedIndex): Promise<CataloguedIndex> {
    return this.#inTurn(job, found, () => this.#build(job, found))
  }

  /**
   * Does the work with its lease, or waits until the gateway with the lease has done it.
   *
   * @returns the index afterwards; if it was deleted, as it was found
   */
  async #inTurn(job: IndexJob, found: CataloguedIndex, work: () => Promise<CataloguedIndex>): Promise<CataloguedIndex> {
    const { store, leases } = this.#databases
    const { catalogue } = job.database
    const duty = dutyOf(job.database, found)
    while (!(await leases.take(duty, leaseMs))) {
      job.stopped.throwIfAborted()
      await store.scheduler.sleep(lookEveryMs, job.stopped, true).catch(() => job.stopped.throwIfAborted())
      await this.#of(job.database).clock.read()
      const index = catalogue.byId(found.id)
      if (index === undefined && job.type === 'drop') return found
      if (job.type === 'drop') continue
      if (this.#current(job, found.id).state === 'failed') throw failedIndex(index ?? found)
      if (index?.state === 'serving') return index
    }
    try {
      return await work()
    } finally {
      // Without this, others would only wait longer.
      await leases.end(duty).catch(() => {})
    }
  }

  async #build(job: IndexJob, found: CataloguedIndex): Promise<CataloguedIndex> {
    const { catalogue } = job.database
    const { id } = found
    try {
      const { clock } = this.#of(job.database)
      const { epoch = 0 } = found
      if (clock.epoch < epoch) {
        await this.#markSeen(job, found)
        await clock.raiseEpoch(epoch)
      }
      const since = await this.#settled(this.#of(job.database))
      const index = this.#current(job, id)
      if (index.state === 'serving') return index
      if (index.state === 'failed') throw failedIndex(index)
      const last = await this.#writeRows(job, index, since)
      return await this.#store(job, index, { ...index, state: 'serving', since: Number(last) })
    } catch (error) {
      const index = catalogue.byId(id)
      const isOver = error === job.stopped.reason || (error instanceof DatastoreError && error.code === 'UNAVAILABLE')
      if (!isOver && index?.state === 'building') {
        const failure = error instanceof Error ? error.message : String(error)
        await this.#store(job, index, failedFor(job.database, index, failure))
      }
      throw error
    }
  }

  /** Notes, for the gateway that stores the definition, that another one has read it before its first epoch. */
  async #markSeen({ database: { catalogue } }: IndexJob, index: CataloguedIndex): Promise<void> {
    const stored = await this.#kv.get(catalogue.rowOf(index))
    if (stored === undefined || indexIn(stored).state !== 'building') return
    await this.#kv.mutateIf(catalogue.writeOf({ ...index, isSeen: true }), stored)
  }

  async leave(job: IndexJob, { id }: CataloguedIndex): Promise<CataloguedIndex> {
    for (;;) {
      const index = this.#current(job, id)
      // Another gateway may have built it meanwhile.
      const stored = await this.#store(job, index, { ...index, state: 'deleting' })
      if (stored.state === 'deleting') return stored
    }
  }

  sweep(job: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex> {
    return this.#inTurn(job, index, () => this.#sweep(job, index))
  }

  async #sweep({ database }: IndexJob, index: CataloguedIndex): Promise<CataloguedIndex> {
    const shared = this.#of(database)
    const stamp = await this.#settled(shared)
    await deleteAt(this.#databases.store, compositeIndexRange(index, database.code), stamp)
    await this.#kv.mutate(database.catalogue.tombstoneOf(index))
    await shared.clock.raiseEpoch()
    return index
  }

  #of({ code }: IndexedDatabase): SharedDatabase {
    return this.#databases.of(code)
  }

  /** A moment at which every gateway knows the current definitions, and up to which every commit is resolved. */
  async #settled(database: SharedDatabase): Promise<bigint> {
    const stamp = await database.clock.raiseEpoch()
    await pastMoment(database, stamp, 'global')
    return stamp
  }

  #current(job: IndexJob, id: bigint): CataloguedIndex {
    job.stopped.throwIfAborted()
    const index = job.database.catalogue.byId(id)
    if (index === undefined || index.state === 'deleting') {
      throw new DatastoreError(
        'ABORTED',
        `the index ${formatIndex(job.definition)} is being deleted by another gateway`,
      )
    }
    return index
  }

  /** Stores a new state, if the stored one is as expected. */
  async #store(job: IndexJob, before: CataloguedIndex, after: CataloguedIndex): Promise<CataloguedIndex> {
    const { catalogue } = job.database
    const { clock } = this.#of(job.database)
    for (;;) {
      const stored = await this.#kv.get(catalogue.rowOf(before))
      const isAsBefore = stored !== undefined && indexIn(stored).state === before.state
      if (isAsBefore) await this.#kv.mutateIf(catalogue.writeOf(after), stored)
      await clock.raiseEpoch()
      const now = after.state === 'deleting' ? catalogue.byId(before.id) : this.#current(job, before.id)
      // Another gateway has finished the deletion.
      if (now === undefined) return after
      if (now.state === after.state || now.state !== before.state) return now
    }
  }

  /**
   * Writes rows of images that are read now, even if the step is repeated much later.
   *
   * @param moment - of the walk
   * @returns the last moment of an image: rows of older images may be missing before it
   */
  async #writeRows(job: IndexJob, index: CataloguedIndex, moment: bigint): Promise<bigint> {
    const { database } = job
    const { store, leases } = this.#databases
    const { scheduler } = store
    let since = moment
    let keptAtMs = scheduler.steadyMs()
    let age: (() => bigint) | undefined
    await walkKind(this.#kv.at(moment), database.code, index.kind, entitiesPerStep, async (paths, partition) => {
      job.stopped.throwIfAborted()
      for (let rows: readonly RowChange[] | undefined; rows === undefined; ) {
        if (age === undefined || age() > imagesForMicros) {
          age = stopwatch(scheduler)
          since = (await momentNow(this.#of(database), 'global')).at
        }
        const read = await this.#rowsOf(database, index, since, partition, paths)
        if (age() <= imagesForMicros) rows = read
        if (rows !== undefined && rows.length > 0) await this.#kv.rows.mutateRows(rows)
      }
      job.completed += paths.length
      job.estimated = job.completed
      const nowMs = scheduler.steadyMs()
      if (nowMs - keptAtMs < leaseMs / 4) return
      keptAtMs = nowMs
      await leases.take(dutyOf(database, index), leaseMs)
    })
    return since
  }

  async #rowsOf(
    { catalogue, indexOptions }: IndexedDatabase,
    index: CataloguedIndex,
    moment: bigint,
    partition: string,
    paths: readonly string[],
  ): Promise<readonly RowChange[]> {
    const cells = await this.#kv.at(moment).getAll(paths.map((path) => entityRowKey(partition, path)))
    const rows: RowChange[] = []
    for (const [i, path] of paths.entries()) {
      const after = cells[i]
      if (after === undefined) continue
      const at = decodeImage(after).version
      const delta = { codes: keyCodesOfPath(partition, path), before: undefined, after }
      checkCompositeRows(delta, { indexes: catalogue.maintained, indexOptions })
      handRows(
        delta,
        { indexes: [index], indexOptions },
        {
          wants: (prefix) => isOf('EntitiesByCompositeProperty', prefix),
          write: (key, value) => {
            rows.push({ key, changes: [{ type: 'set', family: 'v', at, value: valueCell(value) }] })
          },
        },
      )
    }
    return rows
  }
}

/** Whether a stored definition may have missed its first epoch; false if only its number is left. */
function isLate(stored: Uint8Array): boolean {
  const { state, isSeen } = indexIn(stored)
  return (state === 'building' || state === 'serving') && isSeen !== true
}

function rowBytes({ catalogue }: IndexedDatabase, index: CataloguedIndex): number {
  return catalogue.writeOf(index).value?.length ?? 0
}

/** @throws INVALID_ARGUMENT for a definition that is too long to change its state */
function checkLength(database: IndexedDatabase, index: CataloguedIndex): void {
  const bytes = rowBytes(database, index)
  if (bytes <= definitionBytesMax) return
  throw invalidArgument(
    `the index on ${index.kind} with ${index.properties.length} properties has a definition of ${bytes} bytes; at most ` +
      `${definitionBytesMax} are allowed where gateways share a store: shorten the names of its properties, or leave some out`,
  )
}

/** The index with a failure, shortened to the room in its row. */
function failedFor(database: IndexedDatabase, index: CataloguedIndex, failure: string): CataloguedIndex {
  const failed: CataloguedIndex = { ...index, state: 'failed', failure }
  if (failure === '' || rowBytes(database, failed) <= expectedBytesMax) return failed
  return failedFor(database, index, failure.slice(0, failure.length / 2))
}

function indexIn(stored: Uint8Array): Pick<CataloguedIndex, 'state' | 'isSeen'> {
  return JSON.parse(Buffer.from(stored).toString('utf8')) as Pick<CataloguedIndex, 'state' | 'isSeen'>
}

function dutyOf({ projectId, databaseId }: IndexedDatabase, { id }: CataloguedIndex): string {
  return `index ${projectId} ${databaseId} ${id}`
}
