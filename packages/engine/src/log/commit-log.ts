/**
 * The log of all entity groups: the parts of a commit that read and write it. The order of their calls is the page of the
 * commit verb (database/commit.ts, `commitInTurn`).
 *
 * A put of ToDo:1 appends one log record "ToDo:1, done=false → true, version 1795252843125000". A commit to three groups appends
 * three records in one batch. The batch is the commit point:
 *
 *   policy `immediate`   the records and the rows of milestones A and B, without markers
 *   any other            the records, each with a pending marker; A and B are later batches
 *
 * L1  commitVersion grows strictly over the whole store.
 * L2  A record without a pending marker is wholly applied.
 * L3  An answer is given only after the commit point of its commit, and of every commit that it reveals: an insert that fails
 *     because an earlier commit made the entity is answered after the batch of that commit is written.
 * L4  An image before is the newest committed one: from a batch being written, else pending, else stored.
 * L5  Evaluation and append of a commit are not interleaved with those of another.
 *
 * Known: a commit writes only the log ("Megastore"). Ours: images before and after in the record.
 */
import type { Ledger, RequestContext } from '../context.ts'
import { type KeyCodes, keyCodesOfPath } from '../encoding/key-codec.ts'
import { DatastoreError } from '../errors.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { andThen, forEachInOrder, isPromise, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { RequestLoad } from '../meter.ts'
import { Sequencer } from '../sequencer.ts'
import { forEachInSlices, nextTurn } from '../slices.ts'
import { type KvWrite, type RowKey, rowsFrom } from '../storage/kv.ts'
import { EntityRows } from '../tables/entity-rows.ts'
import { type GroupCode, groupOf, logRowKey, parseLogRowKey, pendingRowKey } from '../tables/log-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import { Applier, type ApplierOptions, type ApplyCause, type ApplyEvent } from './apply.ts'
import { ApplyHolds } from './apply-holds.ts'
import type { CommitVersions } from './commit-version.ts'
import type { LogDatabase } from './log-database.ts'
import { decodeLogRecord } from './log-record.ts'
import type { NewRecord } from './new-records.ts'
import { type PendingRecord, PendingRecords } from './pending.ts'
import { RecordWrites } from './record-writes.ts'
import { type KeptRecords, Retention, type RetentionLimits } from './retention.ts'

/** A commit that the store has. */
export interface CommitEvent {
  readonly records: readonly PendingRecord[]
  /** The ledger of the request. The observer charges the log rows to it: those of a large commit in slices. */
  readonly ledger: Ledger
  /** Whether their rows were written with them; otherwise they are applied later. */
  readonly isApplied: boolean
  /** Deletions of old records in the same batch, and the bytes of these records. */
  readonly trimmed: readonly KvWrite[]
  readonly trimmedBytes: number
}

/** Observers of a log. The commit is stored, so an error of an observer is not one of the commit. */
export interface LogObserver {
  /** Called once for each commit, before it is applied later. The log does not wait for the promise. */
  committed(event: CommitEvent): MaybePromise<void>
  /** Called for each step of applying, also that of a commit whose rows were written with it. */
  applied(event: ApplyEvent): MaybePromise<void>
}

/** Simulated tablets, which delay and refuse commits (observe/tablets/append-queue.ts). */
export interface CommitGate {
  /** Whether commits of one group wait for each other's appends. */
  readonly isQueueing: boolean
  /** Waits for the queues of the groups; the result ends its place. @param recheck - throws if the commit must fail */
  enter(context: RequestContext, groups: readonly GroupCode[], recheck: () => void): Promise<() => void>
  /** Throws if these records must be refused. */
  admit(context: RequestContext, records: readonly PendingRecord[]): void
}

export interface CommitLogOptions extends ApplierOptions {
  readonly versions: CommitVersions
  readonly retention: RetentionLimits
  /** The settings of a database by its code, for records found on opening. */
  readonly databaseByCode: (code: string) => LogDatabase
  readonly observer: LogObserver
}

export interface LogAppend extends PendingRecord {
  /** The encoded log record. */
  readonly value: Uint8Array
}

/** The state of a log beside the rows of the store. */
export interface LogState {
  readonly pending: readonly PendingRecord[]
  readonly kept: KeptRecords
}

export class CommitLog {
  readonly pending: PendingRecords = new PendingRecords()
  readonly holds: ApplyHolds
  readonly applier: Applier
  readonly retention: Retention
  gate: CommitGate | undefined
  readonly #options: CommitLogOptions
  /** The turns of commits, from reading to append, and of work that no commit may overlap. */
  readonly turns: Sequencer = new Sequencer()
  /** Entities cells of batches that are being written. */
  readonly #inFlight = new Map<RowKey, { readonly version: bigint; readonly cell: Uint8Array | undefined }>()
  readonly #writing = new Set<Promise<void>>()
  /** For each group, the last of these batches whose records will be pending. */
  readonly #soonPending = new Map<GroupCode, Promise<void>>()
  /** Delays and the ends of holds apply nothing more. */
  isClosed = false

  constructor(options: CommitLogOptions) {
    this.#options = options
    this.retention = new Retention(options.retention, options.scheduler, options.versions.last)
    this.applier = new Applier(this, options)
    this.holds = new ApplyHolds(this, options)
  }

  /** The records of a commit, as they will be pending. */
  appendsOf(context: RequestContext, database: LogDatabase, made: readonly NewRecord[], version: bigint): LogAppend[] {
    const { isUncounted, weight, spreadMs } = context
    // Applying has the weight of its commit.
    const load: RequestLoad | undefined =
      weight === 1
        ? undefined
        : { weight, spreadMs, requests: 0, startedMs: 0, delayMs: 0, refusal: undefined, admitted: true }
    const { code } = database
    return made.map(({ group, changes, value }): LogAppend => {
      const logRow = logRowKey(group, version)
      // Written out: spreads took V8 3 µs.
      return {
        group,
        partition: (changes[0] as NewRecord['changes'][number]).codes.partition,
        database: code,
        version,
        logRow,
        logBytes: logRow.length + value.length,
        value,
        changes,
        load,
        isUncounted,
        milestone: 'committed',
        held: false,
      }
    })
  }

  /** Waits for earlier records of the groups, applies left ones, marks held ones. @returns whether to apply these now */
  readyFor({ settings }: LogDatabase, records: readonly LogAppend[]): MaybePromise<boolean> {
    const isImmediate = settings.applyPolicy.type === 'immediate'
    const nothingWaits = this.pending.count === 0 && this.#soonPending.size === 0
    if (isImmediate && nothingWaits && !this.holds.areAny) return true
    // Whether these records can be applied depends on earlier records of their groups that are still being written.
    const before = isImmediate || this.holds.areAny ? this.#whenPending(records) : undefined
    return andThen(before, () => {
      if (this.holds.mark(records) || !isImmediate) return false
      if (this.pending.count === 0) return true
      // Pending records from an earlier policy go first: a group is applied in order (apply/A1).
      const rolled = forEachInOrder(records, ({ group }) => this.applier.rollForward(group, 'policy'))
      return andThen(rolled, () => !this.holds.mark(records))
    })
  }

  /** Refuses a commit when the batches that may be its reason, as that of an existing entity, are written (L3). */
  refusal(error: unknown): Promise<never> {
    if (this.#writing.size === 0 || !(error instanceof DatastoreError)) throw error
    return Promise.all(this.#writing).then(
      () => Promise.reject(error),
      (failed) => refusedWrite(failed, 'no'),
    )
  }

  /** Runs `task` while no commit is between evaluation and append. */
  exclusive<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    return this.turns.run(task)
  }

  /** Runs `task` between two commits, while nothing is being committed, applied or written. It must not apply anything itself. */
  async alone<T>(task: () => Promise<T>): Promise<T> {
    return await this.exclusive(async () => {
      await this.quiesce()
      return await this.applier.alone(task)
    })
  }

  /** Work before a global query under the `probability` policy, which may apply records of any waiting group. */
  groom(context: RequestContext, database: LogDatabase): MaybePromise<void> {
    const policy = database.settings.applyPolicy
    if (policy.type !== 'probability') return
    const groups = this.pending.groupsOf(database.code)
    return forEachInSlices(context, groups, workOfGroup, (group) => this.#groomGroup(group, policy.chance))
  }

  #groomGroup(group: GroupCode, chance: number): MaybePromise<void> {
    if (this.pending.oldest(group)?.held) return
    if (this.#options.random.next() >= chance) return
    return andThen(this.applier.step(group, 'B', 'policy'), (reached) =>
      reached === undefined || this.pending.oldest(group) === undefined ? undefined : this.#groomGroup(group, chance),
    )
  }

  /** Waits for commits and applies in progress, and stops the timers that apply more. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.turns.idle()
    await this.quiesce()
  }

  /** Waits for the writes and applies in progress. Within {@link exclusive} none can begin. */
  async quiesce(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled([...this.#writing])
    await this.applier.idle()
  }

  /** The newest committed Entities cell (L4). */
  readCommitted({ partition, path }: KeyCodes, row: RowKey): MaybePromise<Uint8Array | undefined> {
    if (this.#inFlight.size > 0) {
      const flying = this.#inFlight.get(row)
      if (flying !== undefined) return flying.cell
    }
    if (this.pending.count > 0) {
      const change = this.pending.newestChange(groupOf(partition, path), path)
      if (change !== undefined) return change.after
    }
    return this.#options.kv.get(row)
  }

  /** Resolves when every current batch is written; rejects with the first error. */
  written(): MaybePromise<void> {
    if (this.#writing.size === 0) return
    return Promise.all(this.#writing).then(() => {})
  }

  /** Resolves when the earlier records of these groups that are being written, and will be pending, are written. */
  #whenPending(records: readonly LogAppend[]): Promise<void> | undefined {
    if (this.#soonPending.size === 0) return
    const coming = records.flatMap(({ group }) => this.#soonPending.get(group) ?? [])
    // If one of them fails, the store refuses all later writes (kv/K5).
    if (coming.length > 0) return Promise.allSettled(coming).then(() => {})
  }

  /** Appends the records of a commit: the commit point. UNAVAILABLE with `committed: 'unknown'` if it failed. */
  append(
    { ledger }: RequestContext,
    database: LogDatabase,
    records: readonly LogAppend[],
    isApplied: boolean,
  ): MaybePromise<void> {
    const { kv, versions } = this.#options
    const { version } = records[0] as LogAppend
    const { writes: trimmed, bytes: trimmedBytes } = this.retention.take(records.length, version)
    const rows = [...trimmed]
    const ceiling = versions.ceilingFor(version)
    if (ceiling !== undefined) rows.push(ceiling)
    for (const record of records) {
      rows.push({ key: record.logRow, value: record.value })
      if (!isApplied) rows.push({ key: pendingRowKey(record.group, version), value: empty })
    }
    if (this.holds.areAny) this.holds.caught(records)
    const done = (): void => {
      versions.settle(version)
      if (isApplied) {
        for (const record of records) this.retention.add(record, record.version)
        this.#tell((observer) => observer.committed({ records, ledger, isApplied, trimmed, trimmedBytes }))
        this.tellApplied({ records, reached: 'AB', cause: 'policy' })
      } else {
        const pending = this.#enqueue(records)
        this.#tell((observer) => observer.committed({ records: pending, ledger, isApplied, trimmed, trimmedBytes }))
        const free = pending.filter(({ held }) => !held)
        this.applier.arm(free, database)
      }
    }
    const written = kv.batch(isApplied ? new RecordWrites(rows, records, 'AB') : rows)
    if (!isPromise(written)) return done()
    const lost = (error: unknown): never => {
      versions.settle(version)
      return refusedWrite(error, 'unknown')
    }
    return this.#acknowledge(records, written.then(done, lost))
  }

  tellApplied(event: ApplyEvent): void {
    this.#tell((observer) => observer.applied(event))
  }

  #tell(tell: (observer: LogObserver) => MaybePromise<void>): void {
    this.#inBackground(() => tell(this.#options.observer))
  }

  #inBackground(work: () => MaybePromise<void>): void {
    void whenFails(work, (error) => this.#options.onFailure?.(error))
  }

  /**
   * Until a batch is written, later commits read its entities from #inFlight (L4). The turn of its commit ends after this.
   *
   * @param written - of its {@link append}
   * @param from - the first record: those of a large commit are kept some in a turn
   */
  keepInFlight(
    records: readonly LogAppend[],
    isApplied: boolean,
    written: MaybePromise<void>,
    from = 0,
  ): MaybePromise<void> {
    if (!isPromise(written)) return
    const end = Math.min(records.length, from + recordsOfTurn)
    for (let i = from; i < end && this.#writing.has(written); i++) {
      const { group, version, changes } = records[i] as LogAppend
      for (const { row, after } of changes) this.#inFlight.set(row, { version, cell: after })
      if (!isApplied) this.#soonPending.set(group, written)
    }
    if (end === records.length) return
    return nextTurn(this.#options.scheduler).then(() => this.keepInFlight(records, isApplied, written, end))
  }

  #acknowledge(records: readonly LogAppend[], written: Promise<void>): Promise<void> {
    const acknowledged = written.finally(() => {
      this.#writing.delete(acknowledged)
      // A commit of 20,000 entities that is alone leaves at once.
      if (this.#writing.size === 0) {
        this.#inFlight.clear()
        this.#soonPending.clear()
        return
      }
      for (const { group, version, changes } of records) {
        for (const { row } of changes) if (this.#inFlight.get(row)?.version === version) this.#inFlight.delete(row)
        if (this.#soonPending.get(group) === acknowledged) this.#soonPending.delete(group)
      }
    })
    this.#writing.add(acknowledged)
    return acknowledged
  }

  #enqueue(appended: readonly LogAppend[]): readonly PendingRecord[] {
    const records = appended.map(({ value, ...record }): PendingRecord => record)
    for (const record of records) {
      // The hold may have ended while the record was being written.
      if (record.held) this.holds.mark([record])
      this.pending.add(record)
    }
    return records
  }

  /**
   * Finds the unapplied records of an earlier run by their pending markers alone, so that opening does not depend on the size of the
   * store. They are applied by policy, a strong read or rollForwardAll().
   */
  async recover(): Promise<void> {
    const { kv, databaseByCode } = this.#options
    const pendingRows = new Set<RowKey>()
    for await (const { key } of rowsFrom(kv.scan(rowsOf('Pending')), 256)) {
      const position = parseLogRowKey(key)
      const { group, partition, database, version } = position
      const logRow = logRowKey(group, version)
      const value = await kv.get(logRow)
      // Both are written in one batch: a marker without a record is a loss. It stays, and check/ reports it.
      if (value === undefined) continue
      const rules = databaseByCode(database)
      const changes = decodeLogRecord(value).changes.map(({ path, before, after }) => {
        return new EntityRows({ codes: keyCodesOfPath(partition, path), before, after }, rules)
      })
      const logBytes = logRow.length + value.length
      this.pending.add({ ...position, logRow, logBytes, changes, milestone: 'committed' })
      pendingRows.add(logRow)
    }
    this.#inBackground(() => this.retention.adopt(kv, pendingRows, () => this.isClosed))
  }

  /** The state of the log besides the store's rows, for a snapshot. Nothing may be in progress. */
  state(): LogState {
    return { pending: this.pending.all().map((record) => ({ ...record })), kept: this.retention.kept() }
  }

  /** Returns to the state of a snapshot. Its pending records are pending again; policy `time` draws new delays. */
  restore({ pending, kept }: LogState): void {
    this.pending.clear()
    this.retention.restore(kept)
    const free = new Map<string, PendingRecord[]>()
    for (const record of pending) {
      const copy = { ...record }
      this.holds.mark([copy])
      this.pending.add(copy)
      if (!copy.held) getOrInsert(free, copy.database, () => []).push(copy)
    }
    for (const [code, records] of free) {
      const database = this.#options.databaseByCode(code)
      if (database.settings.applyPolicy.type === 'time') this.applier.arm(records, database)
    }
  }

  rollForwardAll(cause: ApplyCause): MaybePromise<void> {
    return this.applier.rollForwardGroups([...this.pending.groups()], cause)
  }
}

const empty = new Uint8Array(0)
const recordsOfTurn = 4096
/** The work of looking at a waiting group, one record of which may be applied. */
const workOfGroup = 8

/** Throws the error of a lost batch: `unknown` to a commit in it, as only the store knows, `no` to one it refuses. */
function refusedWrite(error: unknown, committed: 'no' | 'unknown'): never {
  if (!(error instanceof DatastoreError)) throw error
  throw new DatastoreError(error.code, error.message, { committed, cause: error })
}
