/**
 * The commit path of a write whose mutations are validated and whose keys are complete.
 *
 *   evaluate (images before → after) ─▶ admission ─▶ append to the log of each group ─▶ acknowledge ─▶ apply (A, then B)
 *
 * The append is one batch, whatever the number of groups: it is the commit point.
 *
 *   policy `immediate`   the records and the rows of milestones A and B: no marker is needed
 *   any other            the records and a marker for each; A and B are batches of their own, later
 *
 * L1  commitVersion grows strictly over the whole store.            commit-version.ts
 * L2  A record without a pending marker is wholly applied.          checked by check/
 * L3  An answer is given only after the commit point of its commit, and of every commit that it reveals.
 * L4  An image before is the newest committed one: in a batch under way, else pending, else stored.
 * L5  Evaluation and append of a commit are not interleaved with those of another.
 *
 * Known: the log is the only thing that a commit writes ("Megastore"). Ours: images before and after in the record.
 */
import type { Scheduler } from '../clock.ts'
import { checkAlive, type RequestContext } from '../context.ts'
import type { KeyCodes } from '../encoding/key-codec.ts'
import { DatastoreError } from '../errors.ts'
import { andThen, finallyDo, forEachInOrder, isPromise, type MaybePromise, whenFails } from '../maybe-promise.ts'
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
  type OnItsWay,
  type Refused,
  Superseded,
} from './commit-input.ts'
import type { CommitVersions } from './commit-version.ts'
import { footprintOf, type NewRecord, noFootprint, recordsOf } from './new-records.ts'
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
  /** Asked before a commit, and before what it writes. */
  readonly gate?: CommitGate | undefined
  /** The settings of a database by its code: for records found on opening. */
  readonly databaseByCode: (code: string) => LogDatabase
  readonly onApply?: (event: ApplyEvent) => void
  /** Told of each commit when it is in the store, before it is applied; `waits` = its records have markers. */
  readonly onCommit?: (records: readonly PendingRecord[], waits: boolean) => void
  /** Told of each commit in the turn in which it is appended. */
  readonly onAppend?: (append: Append) => void
  /** Told when applying in the background fails; the store refuses writes from then on (kv/K5). */
  readonly onApplyFailure?: (error: unknown) => void
  readonly switchedOff?: ApplierOptions['switchedOff']
}

/** The writes of a commit, with its part of the log. */
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
  /** Entities cells of batches that are on their way to the store. */
  readonly #inFlight = new Map<RowKey, { readonly version: bigint; readonly cell: Uint8Array | undefined }>()
  /** Batches on their way to the store. */
  readonly #writing = new Set<Promise<void>>()
  /** For each group the last of these whose records will wait there to be applied. */
  readonly #comingToWait = new Map<GroupCode, Promise<void>>()
  #closed = false

  constructor(options: CommitLogOptions) {
    this.#options = options
    this.retention = new Retention(options.retention, options.scheduler, options.versions.last)
    this.gate = options.gate
    this.applier = new Applier({
      kv: options.kv,
      scheduler: options.scheduler,
      pending: this.pending,
      retention: this.retention,
      switchedOff: options.switchedOff,
      ...(options.onApply === undefined ? {} : { onApply: options.onApply }),
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
   * @throws what `evaluate` throws; UNAVAILABLE with `committed: 'unknown'` when the store fails during the append; Superseded
   */
  commit<T>(input: CommitInput<T>): MaybePromise<Committed<T>> {
    const { gate } = this
    if (gate?.isQueueing !== true || input.groups === undefined) return this.#commit(input)
    return gate.inTurn(input, input.groups(), () => this.#commit(input))
  }

  #commit<T>(input: CommitInput<T>): MaybePromise<Committed<T>> {
    const settled = (): void => this.#options.versions.settle()
    const section = this.#sequencer.run(() => finallyDo(() => this.#refusable(input), settled))
    return andThen(section, (left) =>
      'refusal' in left ? left.refusal : andThen(left.acknowledged, () => left.committed),
    )
  }

  /**
   * The reason of a refusal, a conflict or an entity that exists, may be a batch on its way to the store: no client is
   * told of it before it is written (L3).
   */
  #refusable<T>(input: CommitInput<T>): MaybePromise<Appended<T> | Refused> {
    const refused = (error: unknown): Refused => {
      if (this.#writing.size === 0 || !(error instanceof DatastoreError)) throw error
      return { refusal: Promise.all(this.#writing).then(() => Promise.reject(error), nothingWritten) }
    }
    return whenFails(() => this.#exclusive(input), refused)
  }

  /** Runs `task` while no commit is between evaluation and append. */
  exclusive<T>(task: () => MaybePromise<T>): MaybePromise<T> {
    return this.#sequencer.run(task)
  }

  /** Before a global query under the `probability` policy: every waiting group of the database draws. */
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

  /** Waits until no commit and no apply is under way, and stops timers from applying more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#sequencer.idle()
    await this.quiesce()
  }

  /** Waits for the batches and applies under way. Within {@link exclusive} none can begin. */
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

  #exclusive<T>(input: CommitInput<T>): MaybePromise<Appended<T>> {
    const { context } = input
    const version = this.#options.versions.next()
    const read: CommittedReader = (codes, row) =>
      andThen(this.readCommitted(codes, row), (cell) => {
        context.ledger.charge('Entities', 'get', row, 1, cell?.length ?? 0)
        return cell
      })
    return andThen(input.evaluate(read, version), ({ states, result }) => {
      if (states.length === 0) {
        input.admit?.(noFootprint)
        // The rows that it found may still be on their way to the store: no client is told of them before they are written (L3).
        return { acknowledged: this.#written(), committed: { version, result, indexUpdates: 0 } }
      }
      // Admission: from here on the commit is written, so this is the last moment to give up without a trace.
      return andThen(recordsOf(input, states, version), (records) => {
        checkAlive(context)
        if (input.database.isSuperseded === true) throw new Superseded()
        input.admit?.(footprintOf(records))
        this.gate?.admit(context, records)
        let indexUpdates = 0
        for (const { changes } of records) for (const { updates } of changes) indexUpdates += updates
        const committed = { version, result, indexUpdates }
        return andThen(this.#append(input, records, version), ({ acknowledged }) => ({ acknowledged, committed }))
      })
    })
  }

  /** Resolves when every batch now on its way to the store is there; rejects as the first of them that failed. */
  #written(): MaybePromise<void> {
    if (this.#writing.size === 0) return
    return Promise.all(this.#writing).then(() => {})
  }

  /** Appends the records and arranges for their application. */
  #append<T>(input: CommitInput<T>, records: readonly NewRecord[], version: bigint): MaybePromise<OnItsWay> {
    // Whether these may be applied depends on those before them in their groups, which are known when they wait there.
    const mayGoAhead = input.database.applyPolicy.type === 'immediate' || this.holds.areAny
    return andThen(mayGoAhead ? this.#allWait(records) : undefined, () => this.#appendInOrder(input, records, version))
  }

  /** Resolves when of the groups of these records none has a record on its way to the store that is to wait. */
  #allWait(records: readonly NewRecord[]): MaybePromise<void> {
    if (this.#comingToWait.size === 0) return
    const coming = records.flatMap(({ group }) => this.#comingToWait.get(group) ?? [])
    // Where one of them fails, the store refuses what comes after it (kv/K5).
    if (coming.length > 0) return Promise.allSettled(coming).then(() => {})
  }

  #appendInOrder<T>(input: CommitInput<T>, records: readonly NewRecord[], version: bigint): MaybePromise<OnItsWay> {
    const isHeld = this.holds.mark(records)
    const isFused = !isHeld && input.database.applyPolicy.type === 'immediate'
    if (!isFused) return { acknowledged: this.#appendWaiting(input, records, version) }
    // Records from before the policy became immediate go first: a group is applied in order (apply/A1).
    const earlier =
      this.pending.count === 0
        ? undefined
        : forEachInOrder(records, (record) => this.applier.rollForward(record.group, 'policy'))
    return andThen(earlier, () => {
      const log = this.#logWrites(input.context, records, version, false)
      // The log records and all that they apply, in one batch: no marker is needed.
      const fused = new RecordWrites(log.writes, records, 'AB')
      const done = (): void => this.#appliedWithCommit(records)
      return { acknowledged: this.#writeBatch(input, records, version, { ...log, writes: fused }, done) }
    })
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

  /** Writes one batch; while it is on its way, its entities are known as committed to the commits that follow (L4). */
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

  #appliedWithCommit(records: readonly NewRecord[]): void {
    const { onApply, onCommit } = this.#options
    for (const record of records) this.retention.add(record, record.version)
    onCommit?.(records, false)
    onApply?.({ records, reached: 'AB', cause: 'policy' })
  }

  /** The records' rows and their markers, with deletions of old records. */
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

  /** The records are committed: from now on reads know of them, and the policy decides when they are applied. */
  #enqueue(appended: readonly NewRecord[], database: LogDatabase): void {
    const records = appended.map(({ value, ...record }): PendingRecord => record)
    for (const record of records) {
      // The hold may have ended while the record was on its way to the store.
      if (record.held) this.holds.markAgain(record)
      this.pending.add(record)
    }
    this.#options.onCommit?.(records, true)
    for (const record of records) if (!record.held) this.#arm(record, database)
  }

  /** Sees to a record's application as the policy has it. */
  #arm(record: PendingRecord, { applyPolicy: policy }: LogDatabase): void {
    if (policy.type === 'immediate') this.#inBackground(this.applier.rollForward(record.group, 'policy'))
    else if (policy.type === 'time') this.#applyLater(record, drawDelayMs(policy, this.#options.random))
  }

  /** After the delay the group is applied up to this record; earlier records of the group go with it (apply/A1). */
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
      (error) => this.#options.onApplyFailure?.(error),
    )
  }

  /** Takes over what an earlier run left (recovery.ts), to be applied by policy, a strong read or rollForwardAll(). */
  async recover(): Promise<void> {
    const { kv, databaseByCode } = this.#options
    const found = await findPending(kv, databaseByCode)
    for (const record of found) this.pending.add(record)
    const pendingRows = new Set(found.map((record) => record.logRow))
    this.#inBackground(this.retention.adopt(kv, pendingRows, () => this.#closed))
  }

  /** The state of the log beside the store's rows, for a snapshot. Nothing is under way. */
  state(): LogState {
    return { pending: this.pending.all().map((record) => ({ ...record })), kept: this.retention.kept() }
  }

  /** The store was set back to a snapshot: what waited then waits again, and under `time` draws anew. */
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

  /** Applies everything that waits, in all databases. */
  rollForwardAll(cause: ApplyCause): MaybePromise<void> {
    return this.applier.rollForwardGroups([...this.pending.groups()], cause)
  }
}

const empty = new Uint8Array(0)
