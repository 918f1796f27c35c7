/**
 * The commit path at a store that several processes share.
 *
 *   read the group rows, and get a stamp ─▶ evaluate ─▶ APPEND                                one group, no reads elsewhere
 *                                                   └─▶ PREPARE all ─▶ validate ─▶ DECIDE      else
 *   ─▶ answer ─▶ apply, FINISH the other groups ─▶ leave the list
 *
 * Commits of one group that wait within a gateway share a turn (commit-turns.ts): one read, one write of the clock row, one APPEND. They are
 * evaluated in the order of their stamps, each over the images that those before it leave: of two inserts of ToDo:1 the second one fails.
 *
 * If a condition fails, another commit was first: the commit reads, stamps and evaluates again, up to eight times. An answer is sent only after
 * APPEND or DECIDE is known to have taken effect; so is the answer of a commit that fails or changes nothing because of one before it in its turn.
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
import { EpochRaised, type OwnCommit } from './clock-row.ts'
import { type Attempted, type Children, childrenOf, type Evaluation, evaluate } from './commit-evaluation.ts'
import { CommitTurns } from './commit-turns.ts'
import { appendAll, type Entering, type Missed, prepareAndDecide } from './commit-writes.ts'
import { encodeHead, type GroupRow, isBelow, readGroups, withoutSwept, withRecord } from './group-row.ts'
import type { DatabaseParts } from './resolve.ts'
import { readableMicros } from './shared-store.ts'
import { areGroupsUnchanged, areReadsUnchanged, type CheckedReads, isGroupAsRead, isOfGroup } from './validate.ts'

const attemptsMax = 8
/** Maximum attempts that meet an unfinished commit, find another group, or lose an answer: none of it says anything about contention. */
const freeAttemptsMax = 100
/** Bytes of log records after which an append is sent, although more commits of the turn wait. */
const appendBytesMax = 4 * 1024 * 1024
/** So many records below what is applied are worth a read of the clock row, which says how far that is. */
const longLog = 64

/** The outcome of an attempt: committed, lost a conflict, or to be repeated. */
type Outcome = { readonly committed: Committed } | 'conflict' | Missed

/** An attempt of a commit that waits for its turn; only its first answer counts. */
interface Waiting extends Pick<Attempted, 'input'> {
  /** Those of its transaction; absent without one. */
  readonly reads: CheckedReads | undefined
  /** Whether it writes or has read other groups too, so that it needs PREPARE and a turn of its own. */
  readonly isWide: boolean
  /** How often it has lost before. */
  readonly attempt: number
  answer(outcome: Outcome): void
  refuse(error: unknown): void
}

type Stamped = Attempted & Waiting

interface Begun {
  readonly startedMs: number
  readonly rows: Map<GroupCode, GroupRow>
  readonly children: Children
  /** The commits that have a stamp, in their order. */
  readonly stamped: readonly Stamped[]
}

export class SharedCommits {
  readonly #database: DatabaseParts
  readonly #turns = new CommitTurns<Waiting>()

  constructor(database: DatabaseParts) {
    this.#database = database
  }

  /** @param reads - those of its transaction; absent without one */
  async commit(input: CommitInput, reads: CheckedReads | undefined): Promise<Committed> {
    let free = 0
    const age = stopwatch(this.#database.store.scheduler)
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

  async #turn(groups: readonly GroupCode[], waiting: readonly Waiting[]): Promise<void> {
    try {
      const losers = await new Turn(this.#database, await begin(this.#database, groups, waiting)).run()
      if (losers.length > 0) await this.#database.store.pause(1 + Math.min(...losers.map(({ attempt }) => attempt)))
    } catch (error) {
      for (const { refuse } of waiting) refuse(error)
    }
  }
}

/** Reads the groups and gets the stamps, at the same time. */
async function begin(
  database: DatabaseParts,
  groups: readonly GroupCode[],
  waiting: readonly Waiting[],
  isSecond = false,
): Promise<Begun> {
  const { store, clock, resolver } = database
  await clock.whenOpen()
  const startedMs = store.scheduler.steadyMs()
  const { low, epoch } = clock
  let from = low
  for (const { reads } of waiting) if (reads !== undefined && reads.moment < from) from = reads.moment + 1n
  const reading = clock.readBeforeStamps()
  const stamp = async (): Promise<OwnCommit> => {
    await reading
    return await clock.stamp({ id: store.newCommitId(), groups }, epoch)
  }
  const stamping = Promise.allSettled(waiting.map(stamp))
  // Where another gateway was first, the less time between read and append the better.
  if (waiting.some(({ attempt }) => attempt > 0)) await stamping
  const inputs = waiting.map(({ input }) => input)
  const reads = Promise.all([readGroups(store, groups, from), childrenOf(database, inputs)])
  const [[read], stamps] = await Promise.all([Promise.allSettled([reads]), stamping])
  const stamped: Stamped[] = []
  for (const [i, one] of waiting.entries()) {
    const stamp = stamps[i] as PromiseSettledResult<OwnCommit>
    if (stamp.status === 'fulfilled') stamped.push({ ...one, commit: stamp.value, epoch })
    else if (stamp.reason instanceof EpochRaised) one.answer('again')
    else one.refuse(stamp.reason)
  }
  const [groupRows, children] = read.status === 'fulfilled' ? read.value : [new Map<GroupCode, GroupRow>(), new Map()]
  const found = [...groupRows]
  const prepared = found.map(([, row]) => row.prepared).find((one) => one !== undefined)
  if (read.status === 'fulfilled' && prepared === undefined) {
    const rows = found.map(([group, row]) => [group, withoutSwept(row, clock.settled.swept)] as const)
    if (rows.some(([, { log }]) => log.length > longLog)) void clock.read().catch(() => {})
    return { startedMs, stamped, rows: new Map(rows), children }
  }
  for (const { commit } of stamped) clock.finish(commit)
  if (read.status === 'rejected') throw read.reason
  if (prepared !== undefined) await resolver.meet(prepared)
  // In the same turn: the next commit would be first at the group, and leave a prepared record to those that always come after it.
  // A turn without commits must not read: no call would hear of an error of the reading.
  if (!isSecond && stamped.length > 0) return await begin(database, groups, stamped, true)
  for (const { answer } of stamped) answer('again')
  return { startedMs, stamped: [], rows: new Map(), children }
}

class Turn {
  readonly #database: DatabaseParts
  readonly #begun: Begun
  /** The rows of its groups, as its commits leave them that have been evaluated. */
  readonly #rows: Map<GroupCode, GroupRow>
  /** Why an append has missed, if one has: the rows are out of date, and all that are evaluated later miss too. */
  #missed: Missed | undefined
  readonly #losers: Stamped[] = []
  /** Those whose records no write has sent yet. */
  #entering: (Entering & { readonly one: Stamped; readonly committed: Committed })[] = []
  /** Those that fail, conflict or change nothing. */
  readonly #unproven: Unproven[] = []

  constructor(database: DatabaseParts, begun: Begun) {
    this.#database = database
    this.#begun = begun
    this.#rows = begun.rows
  }

  /** Answers its commits. @returns those that were lost */
  async run(): Promise<readonly Stamped[]> {
    for (const one of this.#begun.stamped) await this.#answered(one, this.#evaluate(one))
    await this.#append()
    await Promise.all(this.#unproven.map((unproven) => this.#answered(unproven.one, this.#proven(unproven))))
    return this.#losers
  }

  /** Answers a commit that has its outcome; one without an outcome is answered later. */
  async #answered(one: Stamped, work: Outcome | Promise<Outcome | undefined>): Promise<void> {
    const { clock } = this.#database
    try {
      const outcome = await work
      if (outcome === undefined) return
      if (typeof outcome !== 'object') clock.finish(one.commit)
      if (outcome === 'lost') this.#losers.push(one)
      one.answer(outcome)
    } catch (error) {
      clock.finish(one.commit)
      one.refuse(error)
    }
  }

  /** @returns `undefined` if the outcome depends on the append of the turn, or the commit was refused */
  async #evaluate(one: Stamped): Promise<Outcome | undefined> {
    const { store } = this.#database
    const { input, reads, commit } = one
    if (this.#missed !== undefined) return this.#missed
    const isFirst = [...this.#rows.values()].every((row) => isBelow(row, commit.stamp))
    if (!isFirst && !store.isOff('head-below')) return 'lost'
    const rows = new Map(this.#rows)
    const found = await evaluate(this.#database, one, rows, this.#begun.children)
    if (!('error' in found) && rows.size > this.#rows.size) return 'again'
    if ('error' in found || found.records.length === 0) {
      this.#unproven.push({ one, found, rows })
      return undefined
    }
    checkAlive(input.context)
    const { records, committed } = found
    for (const { group, value } of records) {
      input.context.ledger.charge('Log', 'put', entityRowOf(group), 1, value.length)
    }
    if (one.isWide) {
      try {
        const decided = await prepareAndDecide(this.#database, commit, rows, records, reads)
        return decided === 'committed' ? this.#committed(one, committed) : decided
      } catch (error) {
        // It leaves the list when it is refused everywhere.
        one.refuse(error)
        return undefined
      }
    }
    const [[group, row]] = [...rows] as [[GroupCode, GroupRow]]
    const isUnchanged = reads === undefined || (await isGroupAsRead(this.#database, reads, row))
    if (!isUnchanged && !store.isOff('group-log-check')) {
      this.#unproven.push({ one, found: 'conflict', rows })
      return undefined
    }
    const [record] = records as [(typeof records)[number]]
    this.#entering.push({ one, commit, record, committed })
    const left = withRecord(row, record)
    this.#rows.set(group, store.isOff('images-of-turn') ? { ...left, log: row.log } : left)
    const bytes = this.#entering.reduce((sum, { record: { value } }) => sum + value.length, 0)
    if (bytes > appendBytesMax) await this.#append()
    return undefined
  }

  /** Sends the records of the turn that wait for it. */
  async #append(): Promise<void> {
    const [first, ...others] = this.#entering
    const [row] = this.#rows.values()
    if (first === undefined || row === undefined) return
    this.#entering = []
    try {
      this.#missed = await appendAll(this.#database, row, [first, ...others])
      for (const { one, committed } of [first, ...others]) {
        await this.#answered(one, this.#missed ?? this.#committed(one, committed))
      }
      this.#rows.set(row.group, { ...row, seen: encodeHead(row.head) })
    } catch (error) {
      this.#missed = 'lost'
      for (const { one } of [first, ...others]) one.refuse(error)
    }
  }

  #committed({ commit }: Stamped, committed: Committed): Outcome {
    const { store, resolver } = this.#database
    resolver.noteCommit(commit, store.scheduler.steadyMs() - this.#begun.startedMs)
    return { committed }
  }

  /** The outcome of a commit that fails or changes nothing, by what is known after the append of its turn. */
  async #proven({ one, found, rows }: Unproven): Promise<Outcome> {
    const { store, clock } = this.#database
    const { commit, reads } = one
    if (this.#missed !== undefined && !store.isOff('proof-of-turn')) return this.#missed
    if (found === 'conflict') return found
    if ('error' in found) {
      const { error } = found
      // A missing or existing entity may be the work of another commit after the read.
      if (error instanceof DatastoreError && !(await this.#areReadsTrue(one, []))) return 'conflict'
      throw error
    }
    // A record above its stamp has entered on the condition that the group is as it was found.
    const isFollowed = [...this.#rows.values()].every(({ head }) => head.version > commit.stamp)
    const isTrue =
      reads === undefined
        ? isFollowed || (await areGroupsUnchanged(this.#database, rows, commit))
        : await this.#areReadsTrue(one, found.evaluated)
    if (!isTrue) return reads === undefined ? 'lost' : 'conflict'
    clock.finish(commit)
    return this.#committed(one, found.committed)
  }

  /** Whether the reads of a commit without writes are unchanged at its stamp. */
  async #areReadsTrue({ commit, reads }: Stamped, evaluated: readonly RowKey[]): Promise<boolean> {
    if (reads === undefined || this.#database.store.isOff('validation')) return true
    for (const row of evaluated) reads.set.addRow(row)
    return await areReadsUnchanged(this.#database, reads, commit)
  }
}

interface Unproven {
  readonly one: Stamped
  readonly found: Evaluation | { readonly error: unknown } | 'conflict'
  /** The rows that say so. */
  readonly rows: ReadonlyMap<GroupCode, GroupRow>
}

function cutOff(): DatastoreError {
  return new DatastoreError(
    'UNAVAILABLE',
    'the commit was cut off for an hour; whether it was committed is not known: read its entities, and commit again if need be',
    { committed: 'unknown' },
  )
}
