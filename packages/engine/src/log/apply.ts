/**
 * From the log to the tables: milestone A writes the entity rows of a record, milestone B its index rows.
 *
 *   committed ──A──▶ entity rows written ──B──▶ index rows written, marker gone
 *
 * Apply never reads the tables: what to write was computed at commit from the images before and after. So every step can
 * be repeated, by any caller, also after a crash between A and B.
 *
 * A1  The records of a group are applied in order; a group is applied by one caller at a time.          unacknowledged.test.ts
 * A2  A record's marker goes with its index rows, in one batch.
 * A3  Applying a record twice leaves the same rows as applying it once.           test/property/apply.test.ts
 * A4  While work runs alone() nothing is applied, so that stored cells and index rows stand still under it.
 *
 * Known: the two milestones ("Life of a Datastore Write"). Ours: rows from both images.
 */
import type { Scheduler } from '../clock.ts'
import { type RequestContext, requestContext } from '../context.ts'
import { andThen, forEachInOrder, isPromise, type MaybePromise } from '../maybe-promise.ts'
import { forEachInSlices } from '../slices.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
import type { SwitchedOff } from '../switched-off.ts'
import type { GroupCode } from '../tables/log-rows.ts'
import { pendingRowKey } from '../tables/log-rows.ts'
import type { Milestone, PendingRecord, PendingRecords } from './pending.ts'
import { RecordWrites, type Stage } from './record-writes.ts'
import type { Retention } from './retention.ts'

/** Why a record was applied: by its policy, because a strong read needed it, on opening, or by a call of release. */
export type ApplyCause = 'policy' | 'strong read' | 'opening' | 'release'

export interface ApplyEvent {
  /** One, or all of a commit whose rows went with it. */
  readonly records: readonly PendingRecord[]
  readonly reached: Stage
  /** The marker that went with them. */
  readonly marker?: RowKey
  readonly cause: ApplyCause
}

export interface ApplierOptions {
  readonly kv: Kv
  readonly scheduler: Scheduler
  readonly pending: PendingRecords
  readonly retention: Retention
  readonly onApply?: (event: ApplyEvent) => void
  readonly switchedOff?: SwitchedOff | undefined
}

/** The work of applying a record, for giveWay(). */
export function workOf({ changes }: PendingRecord): number {
  return 8 * (1 + changes.length)
}

export class Applier {
  readonly #options: ApplierOptions
  /** Groups being applied right now on a store that answers by promise. */
  readonly #running = new Map<GroupCode, Promise<void>>()
  /** Work that runs alone; applies that are asked for meanwhile wait for its end. */
  #alone: Promise<void> | undefined

  /** Whether strong reads have anything applied: always, but where a test has switched that off. */
  readonly servesReads: boolean

  constructor(options: ApplierOptions) {
    this.#options = options
    this.servesReads = !options.switchedOff?.has('roll-forward')
  }

  /** Applies all records that the group has now. Answers at once when there is nothing to do. */
  rollForward(group: GroupCode, cause: ApplyCause, context: RequestContext = this.#context()): MaybePromise<void> {
    const running = this.#running.get(group)
    if (running !== undefined) return running.then(() => this.rollForward(group, cause, context))
    const records = this.#options.pending.of(group)
    if (records.length === 0) return
    if (this.#alone !== undefined) return this.#alone.then(() => this.rollForward(group, cause, context))
    const apply = (record: PendingRecord): MaybePromise<void> => this.#applyWhole(record, cause)
    return this.#guard(group, () => forEachInSlices(context, [...records], workOf, apply))
  }

  /** Applies the records of some groups. */
  rollForwardGroups(groups: readonly GroupCode[], cause: ApplyCause): MaybePromise<void> {
    const context = this.#context()
    return forEachInOrder(groups, (group) => this.rollForward(group, cause, context))
  }

  /** Its work is wanted whether a caller waits or not. */
  #context(): RequestContext {
    return requestContext({ clock: this.#options.scheduler })
  }

  /**
   * Takes the oldest record of a group one step further, or up to milestone B at once.
   *
   * @returns the milestone it stands at now; `undefined` when nothing waited
   */
  step(group: GroupCode, upTo: 'A' | 'B', cause: ApplyCause): MaybePromise<'A' | 'B' | undefined> {
    const running = this.#running.get(group)
    if (running !== undefined) return running.then(() => this.step(group, upTo, cause))
    const record = this.#options.pending.oldest(group)
    if (record === undefined) return undefined
    if (this.#alone !== undefined) return this.#alone.then(() => this.step(group, upTo, cause))
    const steps = (): MaybePromise<void> => {
      if (upTo === 'B') return this.#applyWhole(record, cause)
      return record.milestone === 'committed' ? this.#reachA(record, cause) : undefined
    }
    return andThen(this.#guard(group, steps), () => upTo)
  }

  /** Resolves when no apply is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running.values()])
  }

  /** Runs `work`, which must not apply anything itself, while no apply is under way (A4). */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone
    let leave = (): void => {}
    this.#alone = new Promise((resolve) => {
      leave = resolve
    })
    try {
      await this.idle()
      return await work()
    } finally {
      this.#alone = undefined
      leave()
    }
  }

  /** A1: holds the group while `work` waits for the store. */
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
      this.#options.pending.remove(record)
      this.#options.retention.add(record, record.version)
      this.#options.onApply?.({ records: [record], reached: before === 'A' ? 'B' : 'AB', marker, cause })
    })
  }

  #reachA(record: PendingRecord, cause: ApplyCause): MaybePromise<void> {
    return andThen(this.#write(record, 'A'), () => {
      record.milestone = 'A'
      this.#options.onApply?.({ records: [record], reached: 'A', cause })
    })
  }

  /** @param marker - goes with the index rows (A2) */
  #write(record: PendingRecord, stage: Stage, marker?: RowKey): MaybePromise<void> {
    const gone: readonly KvWrite[] = marker === undefined ? [] : [{ key: marker, value: undefined }]
    return this.#options.kv.batch(new RecordWrites(gone, [record], stage))
  }
}
