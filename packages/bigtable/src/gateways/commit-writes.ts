/**
 * The conditional writes of a commit, up to the point at which it is known to be committed or refused; what is left to do then runs in the
 * background. A commit is refused in all its groups before it leaves the list, if one of its records may have been sent.
 */
import { allInSlices, type GroupCode, sameBytes } from '@sixtables/engine/store'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import type { ClockRow, OwnCommit } from './clock-row.ts'
import {
  append,
  decide,
  encodeHead,
  type GroupRecord,
  type GroupRow,
  groupsAtOnce,
  inLog,
  isBelow,
  isOf,
  prepare,
  prepareHead,
  readGroup,
  refuse,
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
      if (error instanceof OutcomeUnknown) appended = await this.#store.persistently(() => this.#fate(row, entering))
      else throw this.#givenUp(error, ...entering.map(({ commit }) => commit))
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

  /** The outcome of an append without an answer: found in the log, or refused so that it can never arrive. */
  async #fate({ group, seen }: GroupRow, entering: readonly [Entering, ...Entering[]]): Promise<boolean> {
    const { id, stamp } = entering[0].commit
    for (;;) {
      const row = await readGroup(this.#store, group, stamp)
      if (inLog(row, id) !== undefined) return true
      if (this.#store.isOff('fate') || !sameBytes(row.seen, seen)) return false
      try {
        if (await refuse(this.#store, row, id, stamp)) return false
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error
      }
    }
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
      const decided = await this.#store.persistently(() => this.#decide(commit, primary))
      if (!decided) return await this.#refused(commit, 'lost')
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

  async #refused<T>(commit: OwnCommit, outcome: T): Promise<T> {
    await this.#resolver.decideAndFinish(commit, commit.stamp)
    this.#clock.finish(commit)
    return outcome
  }

  /** @returns the parts for DECIDE; `undefined` if another change of the group was first */
  async #prepare({ id, stamp }: OwnCommit, row: GroupRow, record: GroupRecord): Promise<Prepared | undefined> {
    if (!isBelow(row, stamp)) return undefined
    const head = prepareHead(row.head)
    try {
      if (!(await prepare(this.#store, row, record))) return undefined
      return { row: { ...row, head, seen: encodeHead(head) }, record }
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      const now = await this.#store.persistently(() => readGroup(this.#store, row.group, stamp))
      return isOf(now.prepared, id) ? { row: now, record } : undefined
    }
  }

  async #decide({ id, stamp }: OwnCommit, { row, record }: Prepared): Promise<boolean> {
    for (;;) {
      let isKnown = true
      try {
        if (await decide(this.#store, row, record)) return true
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) throw error
        isKnown = false
      }
      const now = await readGroup(this.#store, row.group, stamp)
      if (inLog(now, id) !== undefined) return true
      // The floor of the new head may be above the stamp, although the record is still prepared.
      if (isKnown || !isOf(now.prepared, id)) return false
    }
  }
}
