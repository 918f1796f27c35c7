/**
 * The one writer of a LevelDB store. Writes that arrive while a batch runs wait, and are merged into the next one.
 *
 *   submit ──▶ waiting: batches that LevelDB has in its own memory, each of as many lists as fit
 *                 └──(the first)──▶ running ──▶ acknowledged, each caller by its own promise
 *
 * - Writes take effect in the order of submission, each list atomically. A long list goes to LevelDB's memory in slices.
 * - A conditional write is decided against the store plus every write submitted before it. If ToDo:1 = A is waiting, a
 *   condition "is A" holds.
 * - After a failed batch nothing more is written: LevelDB may have kept a part of its log record.
 */
import { type Scheduler, systemScheduler } from '../clock.ts'
import { requestContext } from '../context.ts'
import { byteString, bytesOf, passingBytes } from '../encoding/bytes.ts'
import { DatastoreError } from '../errors.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { giveWay } from '../slices.ts'
import { Areas, type PlacedRange, storedRange } from './areas.ts'
import {
  countOf,
  type Durability,
  handOver,
  handOverInSteps,
  type KeyRange,
  type KvRow,
  type RowKey,
  type WriteSink,
  type Writes,
} from './kv.ts'
import { inRange, keysIn, type LevelDatabase } from './level-version.ts'
import { provenValue, withProof } from './row-proof.ts'

/** The most rows of a batch of several lists: five commits of 100 entities, 6 ms of LevelDB. Longer ones go alone. */
export const mergedRowsMax = 8192

/** A change of whole ranges, as one batch. */
interface RangeWork {
  /** Ranges whose rows readers find no more, unless they are set by it. */
  readonly deleted: readonly KeyRange[]
  readonly rows: readonly KvRow[]
  /** The places of rows from then on. */
  readonly areas: Areas
  /** Adds rows that are read when its turn comes; absent = there are none, and later writes may go with it. */
  fill?(batch: LevelBatch, sink: WriteSink): Promise<void>
}

export type Group = Writes | RangeWork

interface Job {
  /** Its source, not its rows: keeping those of 16 commits of 100 entities took a tenth of the time of a commit. */
  readonly group: Group
  /** The rows of a source that were searched, by their key space, the first character of a key. */
  searched: Map<string, ReadonlyMap<RowKey, Uint8Array | undefined>> | undefined
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

interface Batch {
  readonly jobs: Job[]
  rows: number
  /** `undefined` = it is made when its turn comes. */
  readonly chained: LevelBatch | undefined
  /** Whether LevelDB still lacks rows of it. */
  isFilling: boolean
}

type LevelBatch = ReturnType<LevelDatabase['batch']>
type RowBatch = Batch & { readonly chained: LevelBatch }

export interface WriterEvents {
  /** A row is about to be set, before LevelDB writes any of its batch. */
  put?(key: RowKey): void
  beforeWrite(): void
  /** LevelDB has written it, maybe as several batches. Throws if that is not enough to acknowledge it. */
  written?(isParted: boolean): void
  /** A write has failed; every later one is refused with this. */
  failed?(failure: DatastoreError): void
  /** The groups were acknowledged; callers are answered next. */
  afterWrite(groups: readonly Group[]): void
}

export class LevelWriter {
  readonly #level: LevelDatabase
  readonly #sync: boolean
  readonly #events: WriterEvents
  readonly #scheduler: Scheduler
  readonly #waiting: Batch[] = []
  #underWay: Batch | undefined
  #refusal: DatastoreError | undefined
  /** The areas for writes that are submitted now. */
  areas: Areas

  constructor(
    level: LevelDatabase,
    durability: Durability,
    events: WriterEvents,
    scheduler: Scheduler = systemScheduler,
    areas: Areas = new Areas(),
  ) {
    this.#level = level
    this.#sync = durability === 'power'
    this.#events = events
    this.#scheduler = scheduler
    this.areas = areas
  }

  submit(writes: Writes): Promise<void> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    const job = newJob(writes)
    const count = countOf(writes)
    const batch = this.#batchFor(count)
    batch.jobs.push(job)
    batch.rows += count
    const sink = this.#sinkInto(batch.chained, this.areas)
    if (count > mergedRowsMax) {
      void this.#fill(batch, writes, sink)
      return job.promise
    }
    try {
      handOver(writes, sink)
    } catch (cause) {
      // The batch may have a part of the list, and lists of other callers.
      this.#fail(undefined, cause)
    }
    this.#handOver()
    return job.promise
  }

  /** Gives LevelDB a long list in slices; later batches wait. */
  async #fill(batch: RowBatch, writes: Writes, sink: WriteSink): Promise<void> {
    batch.isFilling = true
    const context = requestContext({ clock: this.#scheduler })
    try {
      for (const written of handOverInSteps(writes, sink)) {
        const way = giveWay(context, written)
        if (way === undefined) continue
        await way
        // An earlier batch has failed, and this one is closed.
        if (!this.#waiting.includes(batch)) return
      }
    } catch (cause) {
      this.#fail(undefined, cause)
    }
    batch.isFilling = false
    this.#handOver()
  }

  #sinkInto(batch: LevelBatch, areas: Areas): WriteSink {
    const events = this.#events
    return {
      write: (key, value) => {
        const keyBytes = passingBytes(areas.place(key))
        if (value === undefined) batch.del(keyBytes)
        else {
          events.put?.(key)
          batch.put(keyBytes, withProof(keyBytes, value))
        }
      },
    }
  }

  /** The last waiting batch, or a new one if that has no room for this many rows. */
  #batchFor(rows: number): RowBatch {
    const last = this.#waiting.at(-1)
    if (last?.chained !== undefined && last.rows + rows <= mergedRowsMax) return last as RowBatch
    const batch = { jobs: [], rows: 0, chained: this.#level.batch(), isFilling: false }
    this.#waiting.push(batch)
    return batch
  }

  /** Deletes the rows of some ranges one by one in one batch, which also sets some rows. */
  delete(ranges: readonly KeyRange[], rows: readonly KvRow[]): Promise<void> {
    const areas = this.areas
    const fill = async (batch: LevelBatch): Promise<void> => {
      for (const range of areas.stored(ranges)) {
        for await (const keys of keysIn(this.#level, range)) for (const key of keys) batch.del(key)
      }
    }
    return this.#push({ deleted: ranges, rows, areas, fill })
  }

  /** Moves some ranges to a new area, which hides their rows, and sets some rows. */
  move(ranges: readonly KeyRange[], rows: readonly KvRow[]): Promise<void> {
    const areas = this.areas.moved(ranges)
    return this.#push({ deleted: ranges, rows: [areas.row, ...rows], areas })
  }

  /** Moves the rows of a range, which are few, back to area 0, without a moment at which readers miss them. */
  bringHome(home: PlacedRange): Promise<void> {
    const areas = this.areas.broughtHome(home)
    const fill = async (batch: LevelBatch, sink: WriteSink): Promise<void> => {
      for (const [stored, proven] of await this.#level.iterator(inRange(storedRange(home))).all()) {
        const value = provenValue(stored, proven)
        const key = byteString(stored.subarray(home.prefix.length))
        batch.del(stored)
        if (value !== undefined) sink.write(key, value)
        else {
          // A damaged row has a checksum for no key: its readers get the error as before.
          this.#events.put?.(key)
          batch.put(bytesOf(key), proven)
        }
      }
    }
    return this.#push({ deleted: [], rows: [areas.row], areas, fill })
  }

  /** Deletes rows that no reader finds: up to `limit` of them at the start of a range of LevelDB's keys. */
  clean(leftover: KeyRange, limit: number): Promise<void> {
    const fill = async (batch: LevelBatch): Promise<void> => {
      await this.#level.clear({ ...inRange(leftover), limit })
      // LevelDB's clear never syncs, and ignores a single row with an empty key (measured: classic-level 3.0.0).
      batch.del(bytesOf(leftover.start))
    }
    return this.#push({ deleted: [], rows: [], areas: this.areas, fill })
  }

  cleaned(leftover: KeyRange): Promise<void> {
    const areas = this.areas.cleaned(leftover)
    return this.#push({ deleted: [], rows: [areas.row], areas })
  }

  #push(work: RangeWork): Promise<void> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    const { rows, areas, fill } = work
    this.areas = areas
    const chained = fill === undefined ? this.#level.batch() : undefined
    if (chained !== undefined) handOver(rows, this.#sinkInto(chained, areas))
    const job = newJob(work)
    this.#waiting.push({ jobs: [job], rows: 1, chained, isFilling: false })
    this.#handOver()
    return job.promise
  }

  /** The newest unacknowledged write to `key`: its value, and a promise for its outcome. */
  pending(key: RowKey): { readonly value: Uint8Array | undefined; readonly settled: Promise<void> } | undefined {
    const batches = this.#underWay === undefined ? this.#waiting : [this.#underWay, ...this.#waiting]
    for (const job of batches.flatMap(({ jobs }) => jobs).reverse()) {
      const { group, promise: settled } = job
      if ('areas' in group) {
        const row = group.rows.find((one) => one.key === key)
        if (row !== undefined) return { value: row.value, settled }
        const isIn = group.deleted.some(({ start, end }) => start <= key && key < end)
        if (isIn) return { value: undefined, settled }
        continue
      }
      // To walk through 20,000 entities takes 12 ms, so that all rows of a key space are found by one walk.
      job.searched ??= new Map()
      const rows = getOrInsert(job.searched, key.slice(0, 1), (space) => rowsOfSpace(group, space))
      if (rows.has(key)) return { value: rows.get(key), settled }
    }
    return undefined
  }

  /** Reports that a running write cannot be finished; every later one is refused. */
  fail(cause: unknown): void {
    if (this.#refusal === undefined) this.#fail(undefined, cause)
  }

  /** Refuses every later write with `error`; those submitted before still run. */
  refuse(error: DatastoreError): void {
    this.#refusal ??= error
  }

  async idle(): Promise<void> {
    for (;;) {
      const last = (this.#waiting.at(-1) ?? this.#underWay)?.jobs.at(-1)
      if (last === undefined) return
      await last.promise.catch(() => {})
    }
  }

  #handOver(): void {
    if (this.#underWay !== undefined || this.#waiting[0]?.isFilling) return
    const batch = this.#waiting.shift()
    if (batch === undefined) return
    this.#underWay = batch
    const written = this.#write(batch).then(() => this.#events.written?.(batch.chained === undefined))
    written.then(
      () => {
        this.#underWay = undefined
        this.#events.afterWrite(batch.jobs.map((job) => job.group))
        for (const job of batch.jobs) job.resolve()
        this.#handOver()
      },
      (error: unknown) => {
        this.#underWay = undefined
        this.#fail(batch, error)
      },
    )
  }

  async #write({ chained, jobs }: Batch): Promise<void> {
    this.#events.beforeWrite()
    if (chained !== undefined) return chained.write({ sync: this.#sync })
    const { rows, areas, fill } = (jobs[0] as Job).group as RangeWork
    const batch = this.#level.batch()
    const sink = this.#sinkInto(batch, areas)
    await fill?.(batch, sink)
    handOver(rows, sink)
    return batch.write({ sync: this.#sync })
  }

  /** @param failed - the batch that was submitted, if one was */
  #fail(failed: Batch | undefined, cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const advice =
      'Nothing more is written until the store is opened anew; see to the disk (space, rights), then restart.'
    const refusal = new DatastoreError('UNAVAILABLE', `An earlier write to the store failed: ${reason}. ${advice}`, {
      cause,
    })
    this.#refusal = refusal
    const unsure = new DatastoreError('UNAVAILABLE', `Writing to the store failed: ${reason}. ${advice}`, {
      cause,
      committed: 'unknown',
    })
    for (const job of failed?.jobs ?? []) job.reject(unsure)
    for (const { jobs, chained } of this.#waiting.splice(0)) {
      // Unwritten rows are dropped with it; no caller waits for its end.
      chained?.close().catch(() => {})
      for (const job of jobs) job.reject(refusal)
    }
    this.#events.failed?.(refusal)
  }
}

function newJob(group: Job['group']): Job {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((onDone, onError) => {
    resolve = onDone
    reject = onError
  })
  return { group, searched: undefined, promise, resolve, reject }
}

function rowsOfSpace(writes: Writes, space: string): ReadonlyMap<RowKey, Uint8Array | undefined> {
  const rows = new Map<RowKey, Uint8Array | undefined>()
  handOver(writes, {
    wants: (prefix) => prefix.startsWith(space),
    write: (key, value) => {
      if (key.startsWith(space)) rows.set(key, value)
    },
  })
  return rows
}
