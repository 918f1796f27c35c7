/**
 * The conditional writes of a commit, up to the point at which it is known to be committed or refused; what is left to do then runs in the
 * background. A commit is refused in all its groups before it leaves the list, if one of its records may have been sent.
 */
import { allInSlices, type GroupCode } from '@sixtables/engine/store'
import { isKnownDone, OutcomeUnknown } from '../row-store/row-store.ts'
import type { ClockRow, OwnCommit } from './clock-row.ts'
import {
  append,
  decide,
  encodeHead,
  type GroupRecord,
  type GroupRow,
  groupsAtOnce,
  isBelow,
  prepare,
  prepareHead,
} from './group-row.ts'
import { type Prepared, type Resolver, workOfRecord } from './resolve.ts'
import { applyRecords } from './shared-apply.ts'
import type { SharedStore } from './shared-store.ts'
import type { CheckedReads, Validator } from './validate.ts'

/** A commit of one group, with its record. */
export interface Entering {
  readonly commit: OwnCommit
  readonly record: GroupRecord
}

export class CommitWrites {
  readonly #store: SharedStore
  readonly #clock: ClockRow
  readonly #resolver: Resolver
  readonly #validator: Validator

  constructor(store: SharedStore, clock: ClockRow, resolver: Resolver, validator: Validator) {
    this.#store = store
    this.#clock = clock
    this.#resolver = resolver
    this.#validator = validator
  }

  /**
   * Appends the records of commits of one group by one conditional write: all of them enter the log, or none.
   *
   * @param row - as it was read, with the head and the log that the records leave
   * @param entering - at least one, in the order of their stamps
   */
  async append(row: GroupRow, entering: readonly [Entering, ...Entering[]]): Promise<boolean> {
    let appended: boolean
    try {
      const records = entering.map(({ record }) => record)
      appended = await append(this.#store, row, records)
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw this.#givenUp(error, ...entering.map(({ commit }) => commit))
      const [{ commit }] = entering
      // All records enter or none; a refusal of the first one changes the head that all of them expect.
      const found = (): Promise<boolean> => this.#resolver.outcome(commit, commit.stamp)
      appended = !this.#store.isOff('fate') && (await this.#store.persistently(found))
    }
    for (const { commit, record } of entering) {
      if (!appended) this.#clock.finish(commit)
      else {
        this.#store.inBackground(async () => {
          await applyRecords(this.#store, this.#clock, [record])
          this.#clock.finish(commit)
        })
      }
    }
    return appended
  }

  /** Prepares a commit in each of its groups, validates its reads, and decides. */
  async prepareAndDecide(
    commit: OwnCommit,
    rows: ReadonlyMap<GroupCode, GroupRow>,
    records: readonly GroupRecord[],
    reads: CheckedReads | undefined,
  ): Promise<'committed' | 'conflict' | 'lost'> {
    try {
      const tried = await allInSlices(this.#store.context(), records, groupsAtOnce, workOfRecord, (record) =>
        this.#prepare(commit, rows.get(record.group) as GroupRow, record),
      )
      const [primary, ...others] = tried.filter((one) => one !== undefined)
      if (primary === undefined || 1 + others.length < tried.length) return await this.#refused(commit, 'lost')
      if (reads !== undefined && !this.#store.isOff('validation')) {
        if (!(await this.#validator.isUnchanged(reads, commit))) return await this.#refused(commit, 'conflict')
      }
      const { row, record } = primary
      const isDecided = await this.#store.persistently(() => isKnownDone(decide(this.#store, row, record)))
      if (!isDecided) return await this.#refused(commit, 'lost')
      this.#store.inBackground(async () => {
        await this.#store.persistently(() => this.#resolver.finishPrepared(commit, [primary, ...others]))
        this.#clock.finish(commit)
      })
      return 'committed'
    } catch (error) {
      throw this.#givenUp(error, commit)
    }
  }

  /** Refuses commits everywhere, in the background, since a record may have been sent. @returns the error */
  #givenUp(error: unknown, ...commits: readonly OwnCommit[]): unknown {
    this.#store.inBackground(async () => {
      for (const commit of commits) if (!commit.isDone) await this.#refused(commit, undefined)
    })
    return error
  }

  /** Refuses a commit everywhere, unless it was committed by a write whose answer was lost. */
  async #refused<T>(commit: OwnCommit, outcome: T): Promise<T | 'committed'> {
    const isCommitted = await this.#resolver.decideAndFinish(commit, commit.stamp)
    this.#clock.finish(commit)
    return isCommitted ? 'committed' : outcome
  }

  /** @returns the parts for DECIDE; `undefined` if another change of the group was first, or the answer was lost */
  async #prepare({ stamp }: OwnCommit, row: GroupRow, record: GroupRecord): Promise<Prepared | undefined> {
    if (!isBelow(row, stamp) || !(await isKnownDone(prepare(this.#store, row, record)))) return undefined
    const head = prepareHead(row.head)
    return { row: { ...row, head, seen: encodeHead(head) }, record }
  }
}
