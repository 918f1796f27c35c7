/**
 * The commit path at a store that several processes share.
 *
 *   read the group rows ─▶ stamp ─▶ evaluate ─▶ APPEND                                  one group, no reads elsewhere
 *                                           └─▶ PREPARE all ─▶ validate ─▶ DECIDE        else
 *   ─▶ answer ─▶ apply, FINISH the other groups ─▶ leave the list
 *
 * If a condition fails, another commit was first: the commit reads, stamps and evaluates again, up to eight times. Commits of one group queue
 * within a gateway. Errors of the store before the commit point leave nothing; after it this gateway, or another, finishes the commit in the
 * background. The answer is sent only after APPEND or DECIDE is known to have taken effect. A commit that failed is refused in all its groups
 * before it leaves the list. A commit that changes nothing, such as the deletion of a missing entity, reads its groups again at its stamp.
 *
 * SC1  A commit of a process that stood still for an hour is not repeated: its record may have been in the log, and swept since.
 *                                                                                   shared-commit.test.ts
 */
import { checkAlive, DatastoreError, invariant, stopwatch } from '@sixtables/engine'
import {
  allInSlices,
  type CommitInput,
  type Committed,
  type CommittedReader,
  contention,
  type EntityDelta,
  entityRowOf,
  evaluateMutations,
  type GroupCode,
  groupOf,
  indexUpdatesOf,
  type LogRecordHead,
  type RowKey,
  recordsOf,
  sameBytes,
} from '@sixtables/engine/store'
import { OutcomeUnknown } from '../row-store/row-store.ts'
import { valueInCell } from '../row-store/rows-kv.ts'
import { type ClockRow, EpochRaised, type OwnCommit } from './clock-row.ts'
import {
  append,
  decide,
  encodeHead,
  type GroupRecord,
  type GroupRow,
  inLog,
  isOf,
  newestInLog,
  prepare,
  prepareHead,
  readGroup,
  readGroups,
  refuse,
  refuseFull,
  withoutSwept,
} from './group-row.ts'
import { type Prepared, type Resolver, workOfRecord } from './resolve.ts'
import { checkRowKeys } from './row-key-lengths.ts'
import { applyRecords } from './shared-apply.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'
import { type CheckedReads, Validator } from './validate.ts'

const attemptsMax = 8
/** Maximum attempts that meet an unfinished commit, or find another group; they say nothing about contention. */
const freeAttemptsMax = 100

/** The outcome of an attempt: committed, lost a conflict, or to be repeated. */
type Attempt = { readonly committed: Committed } | 'conflict' | 'lost' | 'again'

/** A record for each group of a commit, in their order; empty for a group without changes. */
interface MadeRecords {
  readonly records: readonly GroupRecord[]
  readonly indexUpdates: number
}

export class SharedCommits {
  readonly #store: SharedStore
  readonly #clock: ClockRow
  readonly #resolver: Resolver
  readonly #validator: Validator
  /** The latest commit of each group that waits or runs here. */
  readonly #queues = new Map<GroupCode, Promise<void>>()

  constructor(store: SharedStore, clock: ClockRow, resolver: Resolver) {
    this.#store = store
    this.#clock = clock
    this.#resolver = resolver
    this.#validator = new Validator(store, clock, resolver)
  }

  /** @param reads - those of its transaction; absent without one */
  async commit(input: CommitInput, reads: CheckedReads | undefined): Promise<Committed> {
    let free = 0
    const met = new Set<GroupCode>()
    const age = stopwatch(this.#store.scheduler)
    for (let attempt = 0; attempt < attemptsMax; ) {
      checkAlive(input.context)
      const groups = [...(input.groups?.() ?? met)].sort()
      const outcome = await this.#inTurn(groups, () => this.#attempt(input, groups, reads, met))
      if (typeof outcome === 'object') return outcome.committed
      if (outcome === 'conflict') {
        throw contention('an entity that this transaction read was changed by another commit; try again', 'transaction')
      }
      // The record may have been in the log already, and swept since.
      if (age() > readableMicros) throw cutOff()
      if (outcome === 'lost' || ++free > freeAttemptsMax) {
        attempt++
        await this.#store.pause(attempt)
      }
    }
    throw contention(`other commits to the same entity groups came first ${attemptsMax} times; try again`, 'request')
  }

  /** Runs `task` after this gateway's earlier commits of any of the groups. */
  async #inTurn<T>(groups: readonly GroupCode[], task: () => Promise<T>): Promise<T> {
    const before = groups.map((group) => this.#queues.get(group))
    let leave = (): void => {}
    const over = new Promise<void>((resolve) => {
      leave = resolve
    })
    for (const group of groups) this.#queues.set(group, over)
    try {
      await Promise.all(before)
      return await task()
    } finally {
      for (const group of groups) if (this.#queues.get(group) === over) this.#queues.delete(group)
      leave()
    }
  }

  /** @param met - receives the groups that the attempt finds */
  async #attempt(
    input: CommitInput,
    groups: readonly GroupCode[],
    reads: CheckedReads | undefined,
    met: Set<GroupCode>,
  ): Promise<Attempt> {
    await this.#clock.whenOpen()
    const startedMs = this.#store.scheduler.steadyMs()
    const { low, epoch } = this.#clock
    const from = reads !== undefined && reads.moment < low ? reads.moment + 1n : low
    const found = await readGroups(this.#store, groups, from)
    const rows = new Map([...found].map(([group, row]) => [group, withoutSwept(row, this.#clock.settled.swept)]))
    for (const { prepared } of rows.values()) {
      if (prepared === undefined) continue
      await this.#resolver.meet(prepared)
      return 'again'
    }
    const commit = await this.#stamped(groups, epoch)
    if (commit === undefined) return 'again'
    let outcome: Attempt
    try {
      outcome = await this.#stampedAttempt(input, { commit, epoch }, rows, reads)
    } catch (error) {
      // It may have left a prepared record, or an append that still arrives.
      if (!commit.isDone) this.#giveUp(commit)
      throw error
    }
    for (const group of rows.keys()) met.add(group)
    if (typeof outcome === 'object') this.#resolver.noteCommit(commit, this.#store.scheduler.steadyMs() - startedMs)
    return outcome
  }

  async #stamped(groups: readonly GroupCode[], epoch: number): Promise<OwnCommit | undefined> {
    try {
      return await this.#clock.stamp({ id: this.#store.newCommitId(), groups }, epoch)
    } catch (error) {
      if (error instanceof EpochRaised) return undefined
      throw error
    }
  }

  /** Refuses a commit everywhere, in the background. */
  #giveUp(commit: OwnCommit): void {
    this.#store.inBackground(async () => {
      await this.#resolver.decideAndFinish(commit, commit.stamp)
      this.#clock.finish(commit)
    })
  }

  /** @param rows - the rows of its groups; groups that the evaluation finds are added */
  async #stampedAttempt(
    input: CommitInput,
    { commit, epoch }: { readonly commit: OwnCommit; readonly epoch: number },
    rows: Map<GroupCode, GroupRow>,
    reads: CheckedReads | undefined,
  ): Promise<Attempt> {
    const { stamp: version } = commit
    const evaluated: RowKey[] = []
    let evaluation: Awaited<ReturnType<typeof evaluateMutations>>
    try {
      const reader = this.#reader(input, rows, evaluated)
      evaluation = await evaluateMutations(input.mutations, input.rules, reader, version)
    } catch (error) {
      const unchanged = await this.#unchangedAtStamp(commit, rows, reads, [])
      this.#clock.finish(commit)
      // A missing or existing entity may be the work of another commit after the read.
      if (!unchanged && error instanceof DatastoreError) return 'conflict'
      throw error
    }
    if (rows.size > commit.groups.length) {
      this.#clock.finish(commit)
      return 'again'
    }
    const { states, outcomes, failure } = evaluation
    if (states.length === 0) {
      // The commit changes nothing, so its groups are compared again at its stamp.
      const isTrue =
        reads === undefined
          ? await this.#validator.areStill(rows, commit)
          : await this.#unchangedAtStamp(commit, rows, reads, evaluated)
      this.#clock.finish(commit)
      if (isTrue) return { committed: { version, outcomes, failure, indexUpdates: 0 } }
      return reads === undefined ? 'lost' : 'conflict'
    }
    checkAlive(input.context)
    let made: MadeRecords
    try {
      made = await this.#recordsOf(input, { commit, epoch }, rows, states)
    } catch (error) {
      // Its groups have no record of it.
      this.#clock.finish(commit)
      throw error
    }
    const { records, indexUpdates } = made
    for (const { logBytes, row } of records.map(logCharge)) input.context.ledger.charge('Log', 'put', row, 1, logBytes)
    const only = commit.groups.length === 1 ? rows.get(commit.groups[0] as GroupCode) : undefined
    const inGroup =
      only === undefined || reads === undefined ? only !== undefined : this.#validator.inGroup(reads, only)
    if (only !== undefined && (inGroup !== undefined || this.#store.isOff('validation'))) {
      if (inGroup === false && !this.#store.isOff('group-log-check')) {
        this.#clock.finish(commit)
        return 'conflict'
      }
      const appended = await this.#append(commit, only, records[0] as GroupRecord)
      return appended ? { committed: { version, outcomes, failure, indexUpdates } } : 'lost'
    }
    const decided = await this.#prepareAndDecide(commit, rows, records, reads)
    return decided === 'committed' ? { committed: { version, outcomes, failure, indexUpdates } } : decided
  }

  async #recordsOf(
    { context, transaction }: CommitInput,
    { commit, epoch }: { readonly commit: OwnCommit; readonly epoch: number },
    rows: ReadonlyMap<GroupCode, GroupRow>,
    states: readonly EntityDelta[],
  ): Promise<MadeRecords> {
    const head: LogRecordHead = { transaction, groups: commit.groups, commit: commit.id, epoch }
    const made = await recordsOf(context, states, this.#store.rulesOf(this.#clock.database, epoch), head)
    const records = made.map(({ group, changes, value }): GroupRecord => {
      for (const change of changes) checkRowKeys(change)
      const record = { group, stamp: commit.stamp, value, record: { ...head, changes } }
      refuseFull(this.#store, rows.get(group) as GroupRow, record)
      return record
    })
    return { records, indexUpdates: indexUpdatesOf(made) }
  }

  /** Reads the newest committed image of an entity, from its row or from the log. */
  #reader(
    { context }: Pick<CommitInput, 'context'>,
    rows: Map<GroupCode, GroupRow>,
    evaluated: RowKey[],
  ): CommittedReader {
    return async ({ partition, path }, key) => {
      const group = groupOf(partition, path)
      let row = rows.get(group)
      if (row === undefined) {
        // An id was in use, and the next id belongs to another group: the commit starts again with that group.
        row = await readGroup(this.#store, group, this.#clock.low)
        rows.set(group, row)
      }
      evaluated.push(key)
      const inRecord = newestInLog(row, path)
      let { root } = row
      if (key !== entityRowOf(group)) {
        const wanted = [{ family: 'v', newest: 1, until: row.head.version + 1n }] as const
        root = (await this.#store.rows.readRows([key], wanted)).get(key)?.cells.v?.[0]
      }
      const cell = inRecord !== undefined && inRecord.stamp > (root?.at ?? -1n) ? inRecord.cell : valueInCell(root)
      context.ledger.charge('Entities', 'get', key, 1, cell?.length ?? 0)
      return cell
    }
  }

  /** Whether the reads of a commit without writes are unchanged. */
  async #unchangedAtStamp(
    commit: OwnCommit,
    rows: ReadonlyMap<GroupCode, GroupRow>,
    reads: CheckedReads | undefined,
    evaluated: readonly RowKey[],
  ): Promise<boolean> {
    if (reads === undefined || this.#store.isOff('validation')) return true
    for (const row of evaluated) reads.set.addRow(row)
    invariant(rows.size > 0, 'a commit has a group')
    return await this.#validator.isUnchanged(reads, commit)
  }

  async #append(commit: OwnCommit, row: GroupRow, record: GroupRecord): Promise<boolean> {
    let appended: boolean
    try {
      appended = await append(this.#store, row, record)
    } catch (error) {
      if (!(error instanceof OutcomeUnknown)) throw error
      appended = await this.#store.persistently(() => this.#fateOfAppend(commit, row))
    }
    if (!appended) {
      this.#clock.finish(commit)
      return false
    }
    this.#store.inBackground(async () => {
      await applyRecords(this.#store, this.#clock, [record])
      this.#clock.finish(commit)
    })
    return true
  }

  /** The outcome of an append without an answer: found in the log, or refused so that it can never arrive. */
  async #fateOfAppend({ id, stamp }: OwnCommit, { group, seen }: GroupRow): Promise<boolean> {
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

  async #prepareAndDecide(
    commit: OwnCommit,
    rows: ReadonlyMap<GroupCode, GroupRow>,
    records: readonly GroupRecord[],
    reads: CheckedReads | undefined,
  ): Promise<'committed' | 'conflict' | 'lost'> {
    const tried = await allInSlices(this.#store.context(), records, workOfRecord, (record) =>
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
  }

  async #refused<T>(commit: OwnCommit, outcome: T): Promise<T> {
    await this.#resolver.decideAndFinish(commit, commit.stamp)
    this.#clock.finish(commit)
    return outcome
  }

  /** @returns the parts for DECIDE; `undefined` if another change of the group was first */
  async #prepare({ id, stamp }: OwnCommit, row: GroupRow, record: GroupRecord): Promise<Prepared | undefined> {
    if (row.head.floor >= stamp || row.head.version >= stamp) return undefined
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

function cutOff(): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    'the commit was cut off for an hour; whether it was committed is not known: read its entities, and commit again if need be',
    { committed: 'unknown' },
  )
}

function logCharge({ group, value }: GroupRecord): { readonly row: RowKey; readonly logBytes: number } {
  return { row: entityRowOf(group), logBytes: value.length }
}
