/**
 * The commit path at a store that several processes share.
 *
 *   read the group rows, and get a stamp ─▶ evaluate ─▶ APPEND                                one group, no reads elsewhere
 *                                                   └─▶ PREPARE all ─▶ validate ─▶ DECIDE      else
 *   ─▶ answer ─▶ apply, FINISH the other groups ─▶ leave the list
 *
 * Commits of one group that wait within a gateway share a turn (commit-turns.ts): one read, one write of the clock row, one APPEND. They are
 * evaluated in the order of their stamps, each over the images that those before it leave: of two inserts of ToDo:1 the second one fails. Each
 * keeps its own answer. If the APPEND is lost, each of them is decided anew.
 *
 * If a condition fails, another commit was first: the commit reads, stamps and evaluates again, up to eight times. Errors of the store before the
 * commit point leave nothing; after it this gateway, or another, finishes the commit in the background. The answer is sent only after APPEND or
 * DECIDE is known to have taken effect; so is the answer of a commit that fails or changes nothing because of one before it in its turn. A commit
 * that changes nothing, such as the deletion of a missing entity, reads its groups again at its stamp, unless a later one of its turn has entered.
 *
 * SC1  A commit of a process that stood still for an hour is not repeated: its record may have been in the log, and swept since.
 *                                                                                   shared-commit.test.ts
 */
import { checkAlive, DatastoreError, stopwatch } from '@sixtables/engine'
import {
  type CommitInput,
  type Committed,
  contention,
  entityRowOf,
  type GroupCode,
  groupsOf,
  type RowKey,
} from '@sixtables/engine/store'
import { type ClockRow, EpochRaised, type OwnCommit } from './clock-row.ts'
import { type Attempted, type Children, type Evaluation, Evaluator } from './commit-evaluation.ts'
import { CommitTurns } from './commit-turns.ts'
import { CommitWrites, type Entering } from './commit-writes.ts'
import { encodeHead, type GroupRow, isBelow, readGroups, withoutSwept, withRecord } from './group-row.ts'
import type { Resolver } from './resolve.ts'
import { readableMicros, type SharedStore } from './shared-store.ts'
import { type CheckedReads, isOfGroup, Validator } from './validate.ts'

const attemptsMax = 8
/** Maximum attempts that meet an unfinished commit, or find another group; they say nothing about contention. */
const freeAttemptsMax = 100
/** Bytes of log records after which an append is sent, although more commits of the turn wait. */
const appendBytesMax = 4 * 1024 * 1024
/** So many records below what is applied are worth a read of the clock row, which says how far that is. */
const longLog = 64

/** The outcome of an attempt: committed, lost a conflict, or to be repeated. */
type Outcome = { readonly committed: Committed } | 'conflict' | 'lost' | 'again'

/** An attempt of a commit that waits for its turn; only its first answer counts. */
interface Waiting extends Pick<Attempted, 'input' | 'reads'> {
  /** Whether it writes or has read other groups too, so that it needs PREPARE and a turn of its own. */
  readonly isWide: boolean
  /** How often it has lost before. */
  readonly attempt: number
  answer(outcome: Outcome): void
  refuse(error: unknown): void
}

type Stamped = Attempted & Waiting

/** The result of a reading without an answer. */
const nothing: readonly [ReadonlyMap<GroupCode, GroupRow>, Children] = [new Map(), new Map()]

/** Commits that run together. */
interface Turn {
  readonly startedMs: number
  /** The rows of its groups, as its commits leave them that have been evaluated. */
  readonly rows: Map<GroupCode, GroupRow>
  readonly children: Children
  /** Whether an append was lost, so that `rows` is out of date: all that are evaluated later are lost too. */
  isLost: boolean
  readonly losers: Stamped[]
  /** Those whose records no write has sent yet. */
  entering: (Entering & { readonly one: Stamped; readonly committed: Committed })[]
  /** Those that fail, conflict or change nothing, with the rows that say so. */
  readonly unproven: {
    readonly one: Stamped
    readonly found: Evaluation | { readonly error: unknown } | 'conflict'
    readonly rows: ReadonlyMap<GroupCode, GroupRow>
  }[]
}

export class SharedCommits {
  readonly #store: SharedStore
  readonly #clock: ClockRow
  readonly #resolver: Resolver
  readonly #validator: Validator
  readonly #evaluator: Evaluator
  readonly #writes: CommitWrites
  readonly #turns = new CommitTurns<Waiting>()

  constructor(store: SharedStore, clock: ClockRow, resolver: Resolver) {
    this.#store = store
    this.#clock = clock
    this.#resolver = resolver
    this.#validator = new Validator(store, clock, resolver)
    this.#evaluator = new Evaluator(store, clock)
    this.#writes = new CommitWrites(store, clock, resolver, this.#validator)
  }

  /** @param reads - those of its transaction; absent without one */
  async commit(input: CommitInput, reads: CheckedReads | undefined): Promise<Committed> {
    let free = 0
    const age = stopwatch(this.#store.scheduler)
    for (let attempt = 0; attempt < attemptsMax; ) {
      checkAlive(input.context)
      const outcome = await this.#attempt(input, reads, attempt)
      if (typeof outcome === 'object') return outcome.committed
      if (outcome === 'conflict') {
        throw contention('an entity that this transaction read was changed by another commit; try again', 'transaction')
      }
      // The record may have been in the log already, and swept since.
      if (age() > readableMicros) throw cutOff()
      if (outcome === 'lost' || ++free > freeAttemptsMax) attempt++
    }
    throw contention(`other commits to the same entity groups came first ${attemptsMax} times; try again`, 'request')
  }

  #attempt(input: CommitInput, reads: CheckedReads | undefined, attempt: number): Promise<Outcome> {
    const groups = [...groupsOf(input.mutations.map(({ key }) => key))].sort()
    return new Promise((answer, refuse) => {
      const [group] = groups as [GroupCode]
      const isWide = groups.length > 1 || (reads !== undefined && !isOfGroup(reads, group))
      const waiting = { input, reads, isWide, attempt, answer, refuse }
      const turn = isWide
        ? this.#turns.take(groups, () => this.#turn(groups, [waiting]))
        : this.#turns.share(group, waiting, (all) => this.#turn(groups, all))
      turn.catch(refuse)
    })
  }

  /** Answers all of the commits. */
  async #turn(groups: readonly GroupCode[], waiting: readonly Waiting[]): Promise<void> {
    try {
      const { stamped, ...begun } = await this.#begin(groups, waiting)
      const turn: Turn = { ...begun, isLost: false, losers: [], entering: [], unproven: [] }
      for (const one of stamped) await this.#answered(turn, one, this.#evaluate(turn, one))
      await this.#answerAll(turn)
      const { losers } = turn
      if (losers.length > 0) await this.#store.pause(1 + Math.min(...losers.map(({ attempt }) => attempt)))
    } catch (error) {
      for (const { refuse } of waiting) refuse(error)
    }
  }

  /** Reads the groups and gets the stamps, at the same time. @returns the commits that have a stamp, in their order */
  async #begin(
    groups: readonly GroupCode[],
    waiting: readonly Waiting[],
    isSecond = false,
  ): Promise<Pick<Turn, 'startedMs' | 'rows' | 'children'> & { readonly stamped: Stamped[] }> {
    await this.#clock.whenOpen()
    const startedMs = this.#store.scheduler.steadyMs()
    const { low, epoch } = this.#clock
    let from = low
    for (const { reads } of waiting) if (reads !== undefined && reads.moment < from) from = reads.moment + 1n
    const reading = this.#clock.readBeforeStamps()
    const stamp = async (): Promise<OwnCommit> => {
      await reading
      return await this.#clock.stamp({ id: this.#store.newCommitId(), groups }, epoch)
    }
    const stamping = Promise.allSettled(waiting.map(stamp))
    // Where another gateway was first, the less time between read and append the better.
    if (waiting.some(({ attempt }) => attempt > 0)) await stamping
    const inputs = waiting.map(({ input }) => input)
    const reads = Promise.all([readGroups(this.#store, groups, from), this.#evaluator.childrenOf(inputs)])
    const [[read], stamps] = await Promise.all([Promise.allSettled([reads]), stamping])
    const stamped: Stamped[] = []
    for (const [i, one] of waiting.entries()) {
      const stamp = stamps[i] as PromiseSettledResult<OwnCommit>
      if (stamp.status === 'fulfilled') stamped.push({ ...one, commit: stamp.value, epoch })
      else if (stamp.reason instanceof EpochRaised) one.answer('again')
      else one.refuse(stamp.reason)
    }
    const [groupRows, children] = read.status === 'fulfilled' ? read.value : nothing
    const found = [...groupRows]
    const prepared = found.map(([, row]) => row.prepared).find((one) => one !== undefined)
    if (read.status === 'fulfilled' && prepared === undefined) {
      const rows = found.map(([group, row]) => [group, withoutSwept(row, this.#clock.settled.swept)] as const)
      if (rows.some(([, { log }]) => log.length > longLog)) void this.#clock.read().catch(() => {})
      return { startedMs, stamped, rows: new Map(rows), children }
    }
    for (const { commit } of stamped) this.#clock.finish(commit)
    if (read.status === 'rejected') throw read.reason
    if (prepared !== undefined) await this.#resolver.meet(prepared)
    // In the same turn: the next commit would be first at the group, and leave a prepared record to those that always come after it.
    // A turn without commits must not read: no call would hear of an error of the reading.
    if (!isSecond && stamped.length > 0) return await this.#begin(groups, stamped, true)
    for (const { answer } of stamped) answer('again')
    return { startedMs, stamped: [], rows: new Map(), children }
  }

  /** Answers a commit that has its outcome; one without an outcome is answered later. */
  async #answered({ losers }: Turn, one: Stamped, work: Outcome | Promise<Outcome | undefined>): Promise<void> {
    try {
      const outcome = await work
      if (outcome === undefined) return
      if (typeof outcome !== 'object') this.#clock.finish(one.commit)
      if (outcome === 'lost') losers.push(one)
      one.answer(outcome)
    } catch (error) {
      this.#clock.finish(one.commit)
      one.refuse(error)
    }
  }

  /** @returns `undefined` if the outcome depends on the append of the turn, or the commit was refused */
  async #evaluate(turn: Turn, one: Stamped): Promise<Outcome | undefined> {
    const { input, reads, commit } = one
    if (turn.isLost) return 'lost'
    const isFirst = [...turn.rows.values()].every((row) => isBelow(row, commit.stamp))
    if (!isFirst && !this.#store.isOff('head-below')) return 'lost'
    const rows = new Map(turn.rows)
    const found = await this.#evaluator.evaluate(one, rows, turn.children)
    if (!('error' in found) && rows.size > turn.rows.size) return 'again'
    if ('error' in found || found.records.length === 0) {
      turn.unproven.push({ one, found, rows })
      return undefined
    }
    checkAlive(input.context)
    const { records, committed } = found
    for (const { group, value } of records) {
      input.context.ledger.charge('Log', 'put', entityRowOf(group), 1, value.length)
    }
    if (one.isWide) {
      try {
        const decided = await this.#writes.prepareAndDecide(commit, turn.rows, records, reads)
        return decided === 'committed' ? this.#committed(turn, one, committed) : decided
      } catch (error) {
        // It leaves the list when it is refused everywhere.
        one.refuse(error)
        return undefined
      }
    }
    const [[group, row]] = [...rows] as [[GroupCode, GroupRow]]
    const isUnchanged = reads === undefined || (await this.#validator.inGroup(reads, row))
    if (!isUnchanged && !this.#store.isOff('group-log-check')) {
      turn.unproven.push({ one, found: 'conflict', rows })
      return undefined
    }
    const [record] = records as [(typeof records)[number]]
    turn.entering.push({ one, commit, record, committed })
    const left = withRecord(row, record)
    turn.rows.set(group, this.#store.isOff('images-of-turn') ? { ...left, log: row.log } : left)
    const bytes = turn.entering.reduce((sum, { record: { value } }) => sum + value.length, 0)
    if (bytes > appendBytesMax) await this.#append(turn)
    return undefined
  }

  /** Answers the commits that have been evaluated. */
  async #answerAll(turn: Turn): Promise<void> {
    await this.#append(turn)
    const unproven = turn.unproven.splice(0)
    await Promise.all(unproven.map((one) => this.#answered(turn, one.one, this.#proven(turn, one))))
  }

  /** Sends the records of a turn that wait for it. */
  async #append(turn: Turn): Promise<void> {
    const [first, ...others] = turn.entering
    const [row] = turn.rows.values()
    if (first === undefined || row === undefined) return
    turn.entering = []
    try {
      if (!(await this.#writes.append(row, [first, ...others]))) turn.isLost = true
      for (const { one, committed } of [first, ...others]) {
        await this.#answered(turn, one, turn.isLost ? 'lost' : this.#committed(turn, one, committed))
      }
      turn.rows.set(row.group, { ...row, seen: encodeHead(row.head) })
    } catch (error) {
      turn.isLost = true
      for (const { one } of [first, ...others]) one.refuse(error)
    }
  }

  #committed({ startedMs }: Turn, { commit }: Stamped, committed: Committed): Outcome {
    this.#resolver.noteCommit(commit, this.#store.scheduler.steadyMs() - startedMs)
    return { committed }
  }

  /** The outcome of a commit that fails or changes nothing, by what is known after the append of its turn. */
  async #proven(turn: Turn, { one, found, rows }: Turn['unproven'][number]): Promise<Outcome> {
    const { commit, reads } = one
    if (turn.isLost && !this.#store.isOff('proof-of-turn')) return 'lost'
    if (found === 'conflict') return found
    if ('error' in found) {
      const { error } = found
      // A missing or existing entity may be the work of another commit after the read.
      if (error instanceof DatastoreError && !(await this.#unchangedAtStamp(commit, reads, []))) return 'conflict'
      throw error
    }
    const { committed, evaluated } = found
    let isTrue: boolean
    if (reads !== undefined) isTrue = await this.#unchangedAtStamp(commit, reads, evaluated)
    // A record above its stamp has entered on the condition that the group is as it was found.
    else isTrue = this.#isFollowed(turn, commit) || (await this.#validator.areStill(rows, commit))
    if (!isTrue) return reads === undefined ? 'lost' : 'conflict'
    this.#clock.finish(commit)
    return this.#committed(turn, one, committed)
  }

  #isFollowed({ rows }: Turn, { stamp }: OwnCommit): boolean {
    return [...rows.values()].every(({ head }) => head.version > stamp)
  }

  /** Whether the reads of a commit without writes are unchanged. */
  async #unchangedAtStamp(
    commit: OwnCommit,
    reads: CheckedReads | undefined,
    evaluated: readonly RowKey[],
  ): Promise<boolean> {
    if (reads === undefined || this.#store.isOff('validation')) return true
    for (const row of evaluated) reads.set.addRow(row)
    return await this.#validator.isUnchanged(reads, commit)
  }
}

function cutOff(): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    'the commit was cut off for an hour; whether it was committed is not known: read its entities, and commit again if need be',
    { committed: 'unknown' },
  )
}
