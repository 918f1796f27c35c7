/**
 * The work on a composite index at a store that several processes share. A definition that comes, serves or goes raises the epoch of its
 * database: then every gateway reads the definitions anew before it commits or reads.
 *
 *   define   stored by conditional write of its number, for commits of an epoch some steps ahead
 *   build    epoch raised that far ─▶ epoch at b ─▶ all below b resolved ─▶ rows of each entity as of b, at the entity's version ─▶ serving since b ─▶ epoch
 *   leave    stored ─▶ epoch
 *   sweep    epoch at c ─▶ all below c resolved ─▶ its rows deleted at c ─▶ only the number is left ─▶ epoch
 *
 * XS1  Later commits have later cells: so nothing stands still while an index is built, and each step may be done twice.
 * XS2  A read at a moment before b does not use the index: rows of older images are not in it.
 * XS3  Commits of its first epoch and later ones write the index, whichever gateway applies them, and earlier commits never do: the definition is stored
 *      before that epoch begins, which its gateway sees for itself. (If the gateway dies, and its write lands after so many epochs, that fails.)
 * XS4  One gateway at a time does the work, by a lease that it keeps; the others wait for it, and one of them goes on when it has died.
 *      Two at once, of which one has lost its lease, are harmless by XS1.                          shared-index-work.test.ts
 * XS5  Images are written within a minute: of an older one a later commit may have deleted rows, and that may be swept. An image may be newer
 *      than the walk, whose row of its kind is there, or a later commit has written it all.        test/property/gateways.test.ts
 * XS6  The number of a deleted index is never given again: rows and definitions of it may land late, and a gateway that stood still may
 *      delete its rows once more.                                                              shared-index-work.test.ts
 * XS7  Each row of a definition is short enough to be expected by the next conditional write.    shared-index-work.test.ts
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

/** XS7: leaves 1,000 bytes for states that come later. docs/reference/limits.md */
const definitionBytesMax = 9_000
const entitiesPerStep = 64
/** Between the epoch in which an index is stored and its first one: other definitions may come and go meanwhile. */
const epochsAhead = 1_000
/** A gateway that dies leaves the work to others after this time. */
const leaseMs = 5_000
const lookEveryMs = 250
/** XS5 */
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
      job.checkStopped()
      const { epoch } = await clock.read()
      // Another gateway may have defined it: the read has brought that.
      const found = catalogue.find(definition)
      if (found !== undefined && found.state !== 'deleting') return found
      const index = { ...catalogue.propose(definition), epoch: epoch + epochsAhead }
      checkLength(database, index)
      if (!(await this.#kv.mutateIf(catalogue.writeOf(index), undefined))) {
        // Its number was taken, or the answer lost: look again.
        await clock.raiseEpoch()
        continue
      }
      // XS3
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
   * XS4: does the work with the lease of it, or waits until the gateway that has the lease is done.
   *
   * @returns the index as it is then; one that is gone as it was found
   */
  async #inTurn(job: IndexJob, found: CataloguedIndex, work: () => Promise<CataloguedIndex>): Promise<CataloguedIndex> {
    const { store, leases } = this.#databases
    const { catalogue } = job.database
    const duty = dutyOf(job.database, found)
    while (!(await leases.take(duty, leaseMs))) {
      job.checkStopped()
      await store.scheduler.sleep(lookEveryMs, job.stopped, true).catch(() => job.checkStopped())
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
      // It only saves others the wait for its end.
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
      const isOver = error === job.stopReason || (error instanceof DatastoreError && error.code === 'UNAVAILABLE')
      if (!isOver && index?.state === 'building') {
        const failure = error instanceof Error ? error.message : String(error)
        await this.#store(job, index, failedFor(job.database, index, failure))
      }
      throw error
    }
  }

  /** XS3, for the gateway that stores the definition: another one has read it before its first epoch. */
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

  /** A moment at which every gateway knows the definitions of now, and at or below which nothing is under way. */
  async #settled({ clock, reads }: SharedDatabase): Promise<bigint> {
    const stamp = await clock.raiseEpoch()
    await reads.past(stamp, 'global')
    return stamp
  }

  #current(job: IndexJob, id: bigint): CataloguedIndex {
    job.checkStopped()
    const index = job.database.catalogue.byId(id)
    if (index === undefined || index.state === 'deleting') {
      throw new DatastoreError(
        'ABORTED',
        `the index ${formatIndex(job.definition)} is being deleted by another gateway`,
      )
    }
    return index
  }

  /** Stores a new state, if the stored one is as it was. */
  async #store(job: IndexJob, before: CataloguedIndex, after: CataloguedIndex): Promise<CataloguedIndex> {
    const { catalogue } = job.database
    const { clock } = this.#of(job.database)
    for (;;) {
      const stored = await this.#kv.get(catalogue.rowOf(before))
      const isAsBefore = stored !== undefined && indexIn(stored).state === before.state
      if (isAsBefore) await this.#kv.mutateIf(catalogue.writeOf(after), stored)
      await clock.raiseEpoch()
      const now = after.state === 'deleting' ? catalogue.byId(before.id) : this.#current(job, before.id)
      // Another gateway has deleted the last of it.
      if (now === undefined) return after
      if (now.state === after.state || now.state !== before.state) return now
    }
  }

  /**
   * XS5: the images are of a moment that is new, whenever the step is made.
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
      job.checkStopped()
      for (let rows: readonly RowChange[] | undefined; rows === undefined; ) {
        if (age === undefined || age() > imagesForMicros) {
          age = stopwatch(scheduler)
          since = (await this.#of(database).reads.now('global')).at
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

/** XS3: whether a definition is stored which its first epoch may have met already; one of which only the number is left is not (XS6). */
function isLate(stored: Uint8Array): boolean {
  const { state, isSeen } = indexIn(stored)
  return (state === 'building' || state === 'serving') && isSeen !== true
}

function rowBytes({ catalogue }: IndexedDatabase, index: CataloguedIndex): number {
  return catalogue.writeOf(index).value?.length ?? 0
}

/** @throws INVALID_ARGUMENT for a definition that could not change its state (XS7) */
function checkLength(database: IndexedDatabase, index: CataloguedIndex): void {
  const bytes = rowBytes(database, index)
  if (bytes <= definitionBytesMax) return
  throw invalidArgument(
    `the index on ${index.kind} with ${index.properties.length} properties has a definition of ${bytes} bytes; at most ` +
      `${definitionBytesMax} are allowed where gateways share a store: shorten the names of its properties, or leave some out`,
  )
}

/** With as much of the failure as its row has room for (XS7). */
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
