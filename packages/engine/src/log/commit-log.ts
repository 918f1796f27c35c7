/**
 * The commit path after validation and key completion (database/commit.ts). `#steps` is its page:
 *
 *   turn ─▶ read and fold (images before → after) ─▶ records ─▶ admission ─▶ append to the log of each group ─▶ apply (A, then B)
 *                                                                                      └─▶ tell, acknowledge
 *
 * Example: a put of ToDo:1 appends one log record "ToDo:1, done=false → true, version 1795252843125000". A commit to three
 * groups appends three records in one batch. The batch is the commit point:
 *
 *   policy `immediate`   the records and the rows of milestones A and B, without markers
 *   any other            the records, each with a pending marker; A and B are later batches
 *
 * The Sequencer gives each commit a turn from reading to append. Two other queues are separate: the disk store merges
 * batches that arrive during a write (storage/level-writer.ts), and simulated tablets delay commits to a group while its
 * append takes (CommitGate).
 *
 * L1  commitVersion grows strictly over the whole store.
 * L2  A record without a pending marker is wholly applied.
 * L3  An answer is given only after the commit point of its commit, and of every commit that it reveals.
 * L4  An image before is the newest committed one: from a batch being written, else pending, else stored.
 * L5  Evaluation and append of a commit are not interleaved with those of another.
 *
 * Known: a commit writes only the log ("Megastore"). Ours: images before and after in the record.
 */
import type { Scheduler } from '../clock.ts'
import { checkAlive, type RequestContext } from '../context.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { DatastoreError } from '../errors.ts'
import {
  andThen,
  forEachInOrder,
  isPromise,
  type MaybePromise,
  runSteps,
  type Steps,
  waitFor,
  whenFails,
} from '../maybe-promise.ts'
import type { Random } from '../random.ts'
import type { Kv, KvWrite, RowKey, Writes } from '../storage/kv.ts'
import { type GroupCode, groupOf, pendingRowKey } from '../tables/log-rows.ts'
import { Applier, type ApplierOptions, type ApplyCause, type ApplyEvent } from './apply.ts'
import { ApplyHolds } from './apply-holds.ts'
import { drawDelayMs } from './apply-policy.ts'
import { nothingWritten, unknownOutcome } from './commit-errors.ts'
import {
  type Append,
  type Appended,
  type CommitGate,
  type CommitInput,
  type Committed,
  type CommittedReader,
  type Footprint,
  type LogDatabase,
  type Refused,
  Superseded,
} from './commit-input.ts'
import type { CommitVersions } from './commit-version.ts'
import { footprintOf, indexUpdatesOf, type NewRecord, noFootprint, recordsOf } from './new-records.ts'
import { type PendingRecord, PendingRecords } from './pending.ts'
import { RecordWrites, tallyOf } from './record-writes.ts'
import { findPending } from './recovery.ts'
import { type KeptRecords, Retention, type RetentionLimits } from './retention.ts'
import { Sequencer } from './sequencer.ts'

export interface CommitLogOptions {
  readonly kv: Kv
  readonly versions: CommitVersions
  readonly scheduler: Scheduler
  readonly random: Random
  readonly retention: RetentionLimits
  /** Called before a commit, and before its write. */
  readonly gate?: CommitGate | undefined
  /** The settings of a database by its code, for records found on opening. */
  readonly databaseByCode: (code: string) => LogDatabase
  readonly onApply?: (event: ApplyEvent) => void
  /** Called for each stored commit before it is applied; `waits` = its records have markers. */
  readonly onCommit?: (records: readonly PendingRecord[], waits: boolean) => void
  /** Called for each commit in the turn of its append. */
  readonly onAppend?: (append: Append) => void
  /** Called when applying in the background fails: the store refuses later writes (kv/K5). And when one of the above throws. */
  readonly onFailure?: (error: unknown) => void
  readonly switchedOff?: ApplierOptions['switchedOff']
}

/** The writes of a commit, including log rows. */
interface LogBatch<W> extends Pick<Append, 'trimmed' | 'trimmedBytes'> {
  readonly writes: W
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
  readonly gate: CommitGate | undefined
  readonly #options: CommitLogOptions
  readonly #sequencer = new Sequencer()
  /** Entities cells of batches that are being written. */
  readonly #inFlight = new Map<RowKey, { readonly version: bigint; readonly cell: Uint8Array | undefined }>()
  /** Batches that are being written. */
  readonly #writing = new Set<Promise<void>>()
  /** For each group, the last of these batches whose records will be pending. */
  readonly #comingToWait = new Map<GroupCode, Promise<void>>()
  #closed = false

  constructor(options: CommitLogOptions) {
    const { onApply, onCommit, onAppend } = options
    this.#options = {
      ...options,
      ...(onApply && { onApply: (event) => this.#observe(() => onApply(event)) }),
      ...(onCommit && { onCommit: (records, waits) => this.#observe(() => onCommit(records, waits)) }),
      ...(onAppend && { onAppend: (append) => this.#observe(() => onAppend(append)) }),
    }
    this.retention = new Retention(options.retention, options.scheduler, options.versions.last)
    this.gate = options.gate
    this.applier = new Applier({
      kv: options.kv,
      scheduler: options.scheduler,
      pending: this.pending,
      retention: this.retention,
      switchedOff: options.switchedOff,
      ...(this.#options.onApply && { onApply: this.#options.onApply }),
    })
    this.holds = new ApplyHolds({
      pending: this.pending,
      applier: this.applier,
      policyOf: (database) => options.databaseByCode(database).applyPolicy,
      arm: (record) => this.#arm(record, options.databaseByCode(record.database)),
    })
  }

  /**
   * Commits, and applies as the database's policy says.
   *
   * @throws what `evaluate` throws; UNAVAILABLE with `committed: 'unknown'` if the store fails during the append; Superseded
   */
  commit<T>(input: CommitInput<T>): MaybePromise<Committed<T>> {
    const { gate } = this
    if (gate?.isQueueing !== true || input.groups === undefined) return this.#commit(input)
    return gate.inTurn(input, input.groups(), () => this.#commit(input))
  }

  #commit<T>(input: CommitInput<T>): MaybePromise<Committed<T>> {
    const left = this.#sequencer.run(() => runSteps(this.#steps(input)))
    return andThen(left, ({ acknowledged, committed }) => andThen(acknowledged, () => committed))
  }

  /** A commit from its turn to its append. The caller answers after `acknowledged` (L3, L5). */
  *#steps<T>(input: CommitInput<T>): Steps<Appended<T>> {
    const { context, database } = input
    const { versions } = this.#options
    const isImmediate = database.applyPolicy.type === 'immediate'
    const version = versions.next()
    try {
      // Read the entities, and fold the mutations over them: images before and after.
      const folded = input.evaluate(this.#readerFor(context), version)
      const { states, result } = isPromise(folded) ? yield* waitFor(folded) : folded
      if (states.length === 0) {
        input.admit?.(noFootprint)
        return { acknowledged: this.#written(), committed: { version, result, indexUpdates: 0 } }
      }
      // One record for each group, with the index rows to write and delete.
      const made = recordsOf(input, states, version)
      const records = isPromise(made) ? yield* waitFor(made) : made
      // Admission: the last moment at which the commit can end without a trace.
      checkAlive(context)
      if (database.isSuperseded === true) throw new Superseded()
      input.admit?.(footprintOf(records))
      this.gate?.admit(context, records)
      let indexUpdates = 0
      for (const { changes } of records) indexUpdates += indexUpdatesOf(changes)
      const committed = { version, result, indexUpdates }
      // Whether these records can be applied depends on earlier records of their groups that are still being written.
      const before = isImmediate || this.holds.areAny ? this.#allWait(records) : undefined
      if (isPromise(before)) yield before
      if (this.holds.mark(records) || !isImmediate) {
        return { acknowledged: this.#appendWaiting(input, records, version), committed }
      }
      // Pending records from an earlier policy go first: a group is applied in order (apply/A1).
      if (this.pending.count > 0) {
        yield* waitFor(forEachInOrder(records, ({ group }) => this.applier.rollForward(group, 'policy')))
      }
      return { acknowledged: this.#appendApplied(input, records, version), committed }
    } catch (error) {
      return this.#refusal(error)
    } finally {
      versions.settle()
    }
  }

  /**
   * The reason of a refusal, such as ALREADY_EXISTS, may be a batch that is still being written. The client gets the
   * error after that batch is written (L3).
   */
  #refusal(error: unknown): Refused {
    if (this.#writing.size === 0 || !(error instanceof DatastoreError)) throw error
    const refused = Promise.all(this.#writing).then(() => Promise.reject(error), nothingWritten)
    return { acknowledged: refused, committed: refused }
  }

  /** Runs `task` while no commit is between evaluation and append. */
  exclusive<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    return this.#sequencer.run(task)
  }

  /** Work before a global query under the `probability` policy, which may apply records of any waiting group. */
  groom(database: LogDatabase): MaybePromise<void> {
    const policy = database.applyPolicy
    if (policy.type !== 'probability') return
    return forEachInOrder(this.pending.groupsOf(database.code), (group) => this.#groomGroup(group, policy.chance))
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
    this.#closed = true
    await this.#sequencer.idle()
    await this.quiesce()
  }

  /** Waits for the writes and applies in progress. Within {@link exclusive} none can begin. */
  async quiesce(): Promise<void> {
    while (this.#writing.size > 0) await Promise.allSettled([...this.#writing])
    await this.applier.idle()
  }

  get closed(): boolean {
    return this.#closed
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

  #readerFor({ ledger }: RequestContext): CommittedReader {
    return (codes, row) =>
      andThen(this.readCommitted(codes, row), (cell) => {
        ledger.charge('Entities', 'get', row, 1, cell?.length ?? 0)
        return cell
      })
  }

  /** Resolves when every current batch is written; rejects with the first error. */
  #written(): MaybePromise<void> {
    if (this.#writing.size === 0) return
    return Promise.all(this.#writing).then(() => {})
  }

  /** Resolves when the groups of these records have no record that is being written and will be pending. */
  #allWait(records: readonly NewRecord[]): MaybePromise<void> {
    if (this.#comingToWait.size === 0) return
    const coming = records.flatMap(({ group }) => this.#comingToWait.get(group) ?? [])
    // If one of them fails, the store refuses all later writes (kv/K5).
    if (coming.length > 0) return Promise.allSettled(coming).then(() => {})
  }

  /** Appends records together with the rows that apply them, without markers. */
  #appendApplied<T>(input: CommitInput<T>, records: readonly NewRecord[], version: bigint): MaybePromise<void> {
    const log = this.#logWrites(input.context, records, version, false)
    const batch = { ...log, writes: new RecordWrites(log.writes, records, 'AB') }
    return this.#writeBatch(input, records, version, batch, () => this.#appliedWithCommit(records))
  }

  /** Appends records that are applied later. */
  #appendWaiting<T>(input: CommitInput<T>, records: readonly NewRecord[], version: bigint): MaybePromise<void> {
    const log = this.#logWrites(input.context, records, version, true)
    const written = this.#writeBatch(input, records, version, log, () => this.#enqueue(records, input.database))
    if (!isPromise(written)) return
    for (const { group } of records) this.#comingToWait.set(group, written)
    return written.finally(() => {
      for (const { group } of records) {
        if (this.#comingToWait.get(group) === written) this.#comingToWait.delete(group)
      }
    })
  }

  /** Writes one batch. Until it is written, later commits read its entities from #inFlight (L4). */
  #writeBatch<T>(
    input: CommitInput<T>,
    records: readonly NewRecord[],
    version: bigint,
    batch: LogBatch<Writes>,
    done: () => void,
  ): MaybePromise<void> {
    const written = this.#options.kv.batch(batch.writes)
    if (!isPromise(written)) {
      this.#tell(input, records, batch, undefined)
      done()
      return
    }
    for (const { changes } of records) {
      for (const { row, after } of changes) this.#inFlight.set(row, { version, cell: after })
    }
    const acknowledged = written.then(done, unknownOutcome).finally(() => {
      this.#writing.delete(acknowledged)
      for (const { changes } of records) {
        for (const { row } of changes) if (this.#inFlight.get(row)?.version === version) this.#inFlight.delete(row)
      }
    })
    this.#writing.add(acknowledged)
    this.#tell(input, records, batch, acknowledged)
    return acknowledged
  }

  #tell<T>(
    { context, alsoMoves = [], transaction }: CommitInput<T>,
    records: readonly NewRecord[],
    { trimmed, trimmedBytes }: LogBatch<Writes>,
    written: Promise<void> | undefined,
  ): void {
    context.trace?.committed(tallyOf(records))
    const footprint = (): Footprint => footprintOf(records)
    this.#options.onAppend?.({ context, footprint, alsoMoves, records, trimmed, trimmedBytes, transaction, written })
  }

  /** Tells an observer. The commit is stored or on its way, so an error of the observer is not one of the commit. */
  #observe(tell: () => void): void {
    try {
      tell()
    } catch (error) {
      this.#options.onFailure?.(error)
    }
  }

  #appliedWithCommit(records: readonly NewRecord[]): void {
    const { onApply, onCommit } = this.#options
    for (const record of records) this.retention.add(record, record.version)
    onCommit?.(records, false)
    onApply?.({ records, reached: 'AB', cause: 'policy' })
  }

  /** The rows of records and markers, with deletions of old records. */
  #logWrites(
    { ledger }: RequestContext,
    records: readonly NewRecord[],
    version: bigint,
    markers: boolean,
  ): LogBatch<KvWrite[]> {
    const { bytes } = this.retention
    const trimmed = this.retention.take(records.length)
    const writes = [...trimmed]
    const ceiling = this.#options.versions.ceilingFor(version)
    if (ceiling !== undefined) writes.push(ceiling)
    for (const { logRow, logBytes, value, group } of records) {
      ledger.charge('Log', 'put', logRow, 1, logBytes)
      writes.push({ key: logRow, value })
      if (markers) writes.push({ key: pendingRowKey(group, version), value: empty })
    }
    return { writes, trimmed, trimmedBytes: bytes - this.retention.bytes }
  }

  /** Adds committed records to the pending ones: reads now see them, and the policy decides when they are applied. */
  #enqueue(appended: readonly NewRecord[], database: LogDatabase): void {
    const records = appended.map(({ value, ...record }): PendingRecord => record)
    for (const record of records) {
      // The hold may have ended while the record was being written.
      if (record.held) this.holds.markAgain(record)
      this.pending.add(record)
    }
    this.#options.onCommit?.(records, true)
    for (const record of records) if (!record.held) this.#arm(record, database)
  }

  /** Schedules the application of a record by the policy. */
  #arm(record: PendingRecord, { applyPolicy: policy }: LogDatabase): void {
    if (policy.type === 'immediate') this.#inBackground(this.applier.rollForward(record.group, 'policy'))
    else if (policy.type === 'time') this.#applyLater(record, drawDelayMs(policy, this.#options.random))
  }

  /** Applies the group up to this record after the delay; earlier records of the group are included (apply/A1). */
  #applyLater(record: PendingRecord, delayMs: number): void {
    const upToRecord = (): MaybePromise<void> => {
      const oldest = this.pending.oldest(record.group)
      if (this.#closed || oldest === undefined || oldest.held || oldest.version > record.version) return
      return andThen(this.applier.step(record.group, 'B', 'policy'), upToRecord)
    }
    this.#inBackground(this.#options.scheduler.sleep(delayMs).then(upToRecord))
  }

  #inBackground(work: MaybePromise<void>): void {
    void whenFails(
      () => work,
      (error) => this.#options.onFailure?.(error),
    )
  }

  /** Reads the pending records of an earlier run (recovery.ts), to be applied by policy, a strong read or rollForwardAll(). */
  async recover(): Promise<void> {
    const { kv, databaseByCode } = this.#options
    const found = await findPending(kv, databaseByCode)
    for (const record of found) this.pending.add(record)
    const pendingRows = new Set(found.map((record) => record.logRow))
    this.#inBackground(this.retention.adopt(kv, pendingRows, () => this.#closed))
  }

  /** The state of the log besides the store's rows, for a snapshot. Nothing may be in progress. */
  state(): LogState {
    return { pending: this.pending.all().map((record) => ({ ...record })), kept: this.retention.kept() }
  }

  /** Returns to the state of a snapshot. Its pending records are pending again; policy `time` draws new delays. */
  restore({ pending, kept }: LogState): void {
    this.pending.clear()
    this.retention.restore(kept)
    for (const record of pending) {
      const copy = { ...record }
      this.holds.markAgain(copy)
      this.pending.add(copy)
      const database = this.#options.databaseByCode(record.database)
      if (!copy.held && database.applyPolicy.type === 'time') this.#arm(copy, database)
    }
  }

  /** Applies all pending records of all databases. */
  rollForwardAll(cause: ApplyCause): MaybePromise<void> {
    return this.applier.rollForwardGroups([...this.pending.groups()], cause)
  }
}

const empty = new Uint8Array(0)
