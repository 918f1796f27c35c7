/**
 * The applier writes committed records into the tables. Milestone A writes the entity rows, milestone B the index rows:
 *
 *   ToDo:1 done=false → true      A  the row of ToDo:1 in Entities
 *                                 B  deletes the index row done=false, writes done=true, deletes the pending marker
 *
 * The rows follow from the images in the record. No step reads the tables, so every step can be repeated, also after a
 * crash between A and B. The pending marker goes in one batch with the index rows.
 *
 * A1  The records of a group are applied in order, by one caller at a time.
 * A2  Applying a record twice leaves the same rows as applying it once.
 * A3  While work runs alone() nothing is applied: stored entities and index rows do not change.
 *
 * Known: the two milestones ("Life of a Datastore Write"). Ours: rows from both images.
 */
import type { Scheduler } from '../clock.ts'
import { type RequestContext, requestContext } from '../context.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { andThen, forEachInOrder, isPromise, type MaybePromise, whenFails } from '../maybe-promise.ts'
import type { Random } from '../random.ts'
import { Sequencer } from '../sequencer.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import { type GroupCode, pendingRowKey } from '../tables/log-rows.ts'
import { drawDelayMs } from './apply-policy.ts'
import type { LogDatabase } from './log-database.ts'
import type { Milestone, PendingRecord, PendingRecords } from './pending.ts'
import { RecordWrites, type Stage } from './record-writes.ts'
import type { Retention } from './retention.ts'

/** Why a record was applied: by its policy, because a strong read needed it, on opening, or by a call of release. */
export type ApplyCause = 'policy' | 'strong read' | 'opening' | 'release'

export interface ApplyEvent {
  /** One record, or all records of a commit that were written together with their rows. */
  readonly records: readonly PendingRecord[]
  readonly reached: Stage
  /** The pending marker that was deleted with them. */
  readonly marker?: RowKey
  readonly cause: ApplyCause
}

export interface AppliedLog {
  readonly pending: PendingRecords
  readonly retention: Retention
  readonly isClosed: boolean
  tellApplied(event: ApplyEvent): void
}

export interface ApplierOptions {
  readonly kv: Kv
  readonly scheduler: Scheduler
  /** For the delays of policy `time`. */
  readonly random: Random
  /** Called when applying in the background fails: the store refuses later writes (kv/K5). And when an observer throws. */
  readonly onFailure?: (error: unknown) => void
  readonly switchedOff?: SwitchedOff | undefined
}

/** The work of applying a record, for giveWay(). */
export function workOf({ changes }: PendingRecord): number {
  return 8 * (1 + changes.length)
}

export class Applier {
  readonly #log: AppliedLog
  readonly #options: ApplierOptions
  /** Groups with an apply in progress, on a store that answers by promise. */
  readonly #running = new Map<GroupCode, Promise<void>>()
  /** The turns of work that runs alone; applies wait for its end. */
  readonly #alone = new Sequencer()
  /** Records whose delays are over, and that wait to be applied. */
  #due: PendingRecord[] = []
  /** Shared by all of them: the timers of many small commits may end at one moment. */
  readonly #applyingDue: RequestContext
  /** Whether strong reads apply records; false only in tests. */
  readonly servesReads: boolean

  constructor(log: AppliedLog, options: ApplierOptions) {
    this.#log = log
    this.#options = options
    this.#applyingDue = this.#context()
    this.servesReads = !options.switchedOff?.has('roll-forward')
  }

  /** Applies all records that the group has now. Returns without a promise if there are none. */
  rollForward(group: GroupCode, cause: ApplyCause, context: RequestContext = this.#context()): MaybePromise<void> {
    const running = this.#running.get(group)
    if (running !== undefined) return running.then(() => this.rollForward(group, cause, context))
    const records = this.#log.pending.of(group)
    if (records.length === 0) return
    if (this.#alone.isBusy) return this.#alone.idle().then(() => this.rollForward(group, cause, context))
    const apply = (record: PendingRecord): MaybePromise<void> => this.#applyWhole(record, cause)
    return this.#guard(group, () => forEachInSlices(context, [...records], workOf, apply))
  }

  rollForwardGroups(groups: readonly GroupCode[], cause: ApplyCause): MaybePromise<void> {
    const context = this.#context()
    return forEachInOrder(groups, (group) => this.rollForward(group, cause, context))
  }

  /** A context without a caller: this work is needed whether a caller waits or not. */
  #context(): RequestContext {
    return requestContext({ clock: this.#options.scheduler })
  }

  /** Takes a group's oldest record to the next milestone, or to B. @returns it; `undefined` if there is no record */
  step(group: GroupCode, upTo: 'A' | 'B', cause: ApplyCause): MaybePromise<'A' | 'B' | undefined> {
    const running = this.#running.get(group)
    if (running !== undefined) return running.then(() => this.step(group, upTo, cause))
    const record = this.#log.pending.oldest(group)
    if (record === undefined) return undefined
    if (this.#alone.isBusy) return this.#alone.idle().then(() => this.step(group, upTo, cause))
    const steps = (): MaybePromise<void> => {
      if (upTo === 'B') return this.#applyWhole(record, cause)
      if (record.milestone === 'A') return
      return andThen(this.#write(record, 'A'), () => {
        record.milestone = 'A'
        this.#log.tellApplied({ records: [record], reached: 'A', cause })
      })
    }
    return andThen(this.#guard(group, steps), () => upTo)
  }

  /** Applies a group up to a record, its earlier records first (A1), and yields between them. Ends early at a held record. */
  async upTo(
    { group, version }: PendingRecord,
    cause: ApplyCause,
    context: RequestContext = this.#context(),
  ): Promise<void> {
    const { pending } = this.#log
    for (;;) {
      const oldest = pending.oldest(group)
      if (this.#log.isClosed || oldest === undefined || oldest.held || oldest.version > version) return
      await this.step(group, 'B', cause)
      await giveWay(context, workOf(oldest))
    }
  }

  /** Sees to it that records of one database are applied by its policy. Those with one delay share a timer. */
  arm(records: readonly PendingRecord[], database: LogDatabase): void {
    const policy = database.settings.applyPolicy
    if (policy.type === 'immediate') {
      for (const { group } of records) this.#inBackground(this.rollForward(group, 'policy'))
    } else if (policy.type === 'time') {
      const { random, scheduler } = this.#options
      const byDelay = new Map<number, PendingRecord[]>()
      for (const record of records) getOrInsert(byDelay, drawDelayMs(policy, random), () => []).push(record)
      for (const [delayMs, due] of byDelay) {
        this.#inBackground(
          scheduler.sleep(delayMs).then(() => {
            const isUnderWay = this.#due.length > 0
            for (const record of due) this.#due.push(record)
            return isUnderWay ? undefined : this.#applyDue()
          }),
        )
      }
    }
  }

  /** Begins to apply the records whose delays are over, some in a turn. */
  async #applyDue(): Promise<void> {
    const due = this.#due
    for (let i = 0; i < due.length; i++) {
      const record = due[i] as PendingRecord
      // Earlier records of the group are applied with it (apply/A1).
      this.#inBackground(this.upTo(record, 'policy'))
      await giveWay(this.#applyingDue, workOf(record))
    }
    this.#due = []
  }

  #inBackground(work: MaybePromise<void>): void {
    void whenFails(
      () => work,
      (error) => this.#options.onFailure?.(error),
    )
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()])
  }

  /** Runs `work` while no apply is in progress (A3). The work must not apply anything itself. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    return await this.#alone.run(async () => {
      await this.idle()
      return await work()
    })
  }

  /** Reserves the group while `work` waits for the store (A1). */
  #guard(group: GroupCode, work: () => MaybePromise<void>): MaybePromise<void> {
    const result = work()
    if (!isPromise(result)) return
    const guarded = result.finally(() => this.#running.delete(group))
    this.#running.set(group, guarded)
    return guarded
  }

  #applyWhole(record: PendingRecord, cause: ApplyCause): MaybePromise<void> {
    const before: Milestone = record.milestone
    const marker = pendingRowKey(record.group, record.version)
    return andThen(this.#write(record, before === 'A' ? 'B' : 'AB', marker), () => {
      this.#log.pending.remove(record)
      this.#log.retention.add(record, record.version)
      this.#log.tellApplied({ records: [record], reached: before === 'A' ? 'B' : 'AB', marker, cause })
    })
  }

  /** @param marker - deleted with the index rows */
  #write(record: PendingRecord, stage: Stage, marker?: RowKey): MaybePromise<void> {
    const gone: readonly KvWrite[] = marker === undefined ? [] : [{ key: marker, value: undefined }]
    return this.#options.kv.batch(new RecordWrites(gone, [record], stage))
  }
}
