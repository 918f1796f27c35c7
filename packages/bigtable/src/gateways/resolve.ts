/**
 * Resolution of unfinished commits: each becomes either committed or refused for ever.
 *
 *   own commit       waited for
 *   another's        read again for four times the usual duration of a commit, then resolved:
 *                    primary's log has it → FINISH the other groups, apply; else → REFUSE in all groups, primary first
 *
 * The gateway that began the commit may be alive: its own conditional writes then fail, and it reads the outcome.
 */
import { type GroupCode, workOf } from '@sixtables/engine/store'
import { isKnownDone } from '../row-store/row-store.ts'
import { allInSlices } from './all-in-slices.ts'
import type { ClockRow, OwnCommit } from './clock-row.ts'
import { type ClockState, type GatewayList, type ListedCommit, latestOf } from './clock-state.ts'
import { decide, type GroupRecord, groupsAtOnce, inLog, isOf, readGroup, refuse, type SeenGroup } from './group-row.ts'
import { shareRun } from './rounds.ts'
import { applyRecords } from './shared-apply.ts'
import type { SharedStore } from './shared-store.ts'

const patienceMsMin = 25
const patienceMsMax = 500
/** Short ones: most commits are finished after a small part of the patience. */
const pauses = 12

export type Unfinished = Pick<ListedCommit, 'id' | 'stamp' | 'groups'>

/** A conditional write takes as long as this many rows of a batch. */
export const workOfCall = 32

/** The work of sending a record, for giveWay(). */
export function workOfRecord({ value }: Pick<GroupRecord, 'value'>): number {
  return workOf(workOfCall, value)
}

/** Identifies the latest write of a list by its own gateway. */
function writeOf({ row, gateway, write }: GatewayList): string {
  return `${row} ${gateway} ${write}`
}

/** The parts of this process for a database. */
export interface DatabaseParts {
  readonly store: SharedStore
  readonly clock: ClockRow
  readonly resolver: Resolver
}

/** A record that this process has prepared, with its row after PREPARE. */
export interface Prepared {
  readonly row: SeenGroup
  readonly record: GroupRecord
}

export class Resolver {
  readonly #store: SharedStore
  readonly #clock: ClockRow
  /** Usual duration of a commit of this gateway, in milliseconds. */
  #usualMs = 10
  /** Commits of this gateway that waited for another gateway's commit until it was resolved. */
  readonly #waitedInVain = new WeakSet<OwnCommit>()
  /** Commits of others that are being resolved in all their groups, by id and stamp: reads that meet one at the same time share the work. */
  readonly #resolving = new Map<string, Promise<boolean>>()
  /** Lists from which commits are being struck out: only one such write can take effect, and commits wait for each. */
  readonly #striking = new Map<string, Promise<void>>()

  constructor(store: SharedStore, clock: ClockRow) {
    this.#store = store
    this.#clock = clock
  }

  /** Time for which another gateway's commit is read again before it is resolved. */
  get #patienceMs(): number {
    return Math.min(patienceMsMax, Math.max(patienceMsMin, 4 * this.#usualMs))
  }

  /** Notes the duration of a commit of this gateway. One that waited for an abandoned commit would make the next such wait longer. */
  noteCommit(commit: OwnCommit, ms: number): void {
    if (!this.#waitedInVain.has(commit)) this.#usualMs += (ms - this.#usualMs) / 8
  }

  /**
   * Resolves when each of the commits with a stamp up to `moment` is applied, or never will be.
   *
   * @param state - the state in which they were found
   * @param waiting - the commit of this gateway that needs them resolved
   */
  async resolveAll(
    state: ClockState,
    commits: readonly ListedCommit[],
    moment: bigint,
    waiting?: OwnCommit,
  ): Promise<void> {
    const own = commits.flatMap(({ id }) => this.#clock.own(id)?.finished ?? [])
    const others = commits.filter(({ id }) => this.#clock.own(id) === undefined)
    await Promise.all([...own, this.#resolveOthers(state, others, moment, waiting)])
  }

  async #resolveOthers(
    state: ClockState,
    commits: readonly ListedCommit[],
    moment: bigint,
    waiting: OwnCommit | undefined,
  ): Promise<void> {
    let left = commits
    const patienceMs = this.#patienceMs
    const { scheduler } = this.#store
    const untilMs = scheduler.steadyMs() + patienceMs
    while (left.length > 0 && scheduler.steadyMs() < untilMs) {
      await this.#store.sleep(patienceMs / pauses)
      const { listed } = await this.#clock.read()
      const stamps = new Map(listed.map(({ id, stamp }) => [id, stamp]))
      left = left.filter(({ id, stamp }) => stamps.get(id) === stamp)
    }
    if (left.length > 0 && waiting !== undefined) this.#waitedInVain.add(waiting)
    const resolved = (commit: ListedCommit): Promise<boolean> =>
      shareRun(this.#resolving, `${commit.id} ${commit.stamp}`, () => this.decideAndFinish(commit, moment))
    await Promise.all(left.map(resolved))
    if (left.length > 0) await this.#strikeOut(await this.#clock.read(), left, new Set(state.lists.map(writeOf)))
  }

  /** Removes resolved commits from lists that their gateways have not written since; one that writes removes them itself. */
  async #strikeOut(state: ClockState, resolved: readonly ListedCommit[], before: ReadonlySet<string>): Promise<void> {
    const ids = new Set(resolved.map(({ id }) => id))
    const lists = state.lists.filter((list) => before.has(writeOf(list)) && list.commits.some(({ id }) => ids.has(id)))
    const struck = (list: GatewayList): Promise<void> =>
      shareRun(this.#striking, `${writeOf(list)} ${list.strikes}`, () => this.#clock.strike(list, ids))
    await Promise.all(lists.map(struck))
  }

  /** Resolves another commit, whose prepared record is in a group that is needed now. */
  async meet({ group, record, stamp }: GroupRecord): Promise<void> {
    const { commit: id = '', groups } = record
    const own = this.#clock.own(id)
    if (own !== undefined) return await own.finished
    const patienceMs = this.#patienceMs
    for (let part = 0; part < 4; part++) {
      await this.#store.sleep(patienceMs / 4)
      if (!isOf((await readGroup(this.#store, group, this.#clock.low)).prepared, id)) return
    }
    await this.decideAndFinish({ id, stamp, groups }, stamp)
  }

  /** @param moment - the floor for the groups of a refused commit @returns whether it was committed */
  async decideAndFinish(commit: Unfinished, moment: bigint): Promise<boolean> {
    return await this.#store.persistently(async () => {
      const isCommitted = await this.outcome(commit, latestOf(moment, commit.stamp))
      await this.finishGroups(commit, isCommitted)
      return isCommitted
    })
  }

  /** Whether the commit is in its primary's log; if it is not, refuses it there first. */
  async outcome({ id, stamp, groups }: Unfinished, floor: bigint): Promise<boolean> {
    const [primary] = groups
    for (;;) {
      const row = await readGroup(this.#store, primary as GroupCode, stamp)
      if (inLog(row, id) !== undefined) return true
      if (this.#store.isOff('fence')) return false
      if (row.head.floor >= floor && !isOf(row.prepared, id)) return false
      if (await isKnownDone(refuse(this.#store, row, id, floor))) return false
    }
  }

  /** FINISH by the process that has prepared the commit: without a read, unless another one has changed its groups. */
  async finishPrepared(commit: Unfinished, [primary, ...others]: readonly [Prepared, ...Prepared[]]): Promise<void> {
    const finished = await allInSlices(
      this.#store.context(),
      others,
      groupsAtOnce,
      ({ record }) => workOfRecord(record),
      ({ row, record }) => isKnownDone(decide(this.#store, row, record)),
    )
    if (finished.includes(false)) return await this.finishGroups(commit, true)
    const records = [primary, ...others].map(({ record }) => record)
    await applyRecords(this.#store, this.#clock, records)
  }

  /** FINISH or REFUSE in every named group that still needs it; then the commit is applied there. */
  async finishGroups(commit: Unfinished, isCommitted: boolean): Promise<void> {
    const records = await allInSlices(
      this.#store.context(),
      commit.groups,
      groupsAtOnce,
      () => workOfCall,
      (group) => this.#finishGroup(commit, group, isCommitted),
    )
    const entered = records.flatMap((record) => record ?? [])
    await applyRecords(this.#store, this.#clock, entered)
  }

  async #finishGroup(
    { id, stamp }: Unfinished,
    group: GroupCode,
    isCommitted: boolean,
  ): Promise<GroupRecord | undefined> {
    for (;;) {
      const row = await readGroup(this.#store, group, stamp)
      const entered = inLog(row, id)
      if (entered !== undefined) return entered
      const { prepared } = row
      const isPrepared = isOf(prepared, id)
      // A committed one that is in no log was trimmed.
      if (!isPrepared && (isCommitted || row.head.floor >= stamp || this.#store.isOff('fence'))) return undefined
      const isDecided = isPrepared && isCommitted
      const step = isDecided ? decide(this.#store, row, prepared) : refuse(this.#store, row, id, stamp)
      if (await isKnownDone(step)) return isDecided ? prepared : undefined
    }
  }
}
