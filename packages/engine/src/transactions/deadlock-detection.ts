/**
 * Waits for locks, and deadlock detection over the waits-for graph.
 *
 *   writer ──▶ transactions that hold read locks on the rows that it will change
 *   reader ──▶ a writer that already waits for the rows that the reader wants to lock (waiting-writers.ts)
 *
 * Transactions 1 and 2 have both read ToDo:1 and both want to write it. Each waits for the other, and 2, the younger, is
 * aborted. A wait ends when its row is free, when the waiter is such a victim, or when the lock timeout is over; the timeout
 * starts again each time the row is released. A holder that expires during the wait is ended at that instant.
 *
 * W1  A cycle is found when its last edge is added. Its youngest transaction (by first begin) is aborted at once. The oldest is
 *     never the victim, so one transaction always makes progress.                    deadlock-detection.test.ts
 *
 * Known: Google's Firestore emulator ends waits after two seconds. Ours: deadlocks are detected, without a timeout.
 */
import { type Scheduler, steadyMicros, waitIsOver } from '../clock.ts'
import { checkAlive, type RequestContext } from '../context.ts'
import { prettyRowKey } from '../encoding/pretty.ts'
import { contention, DatastoreError } from '../errors.ts'
import type { Expiry } from './expiry.ts'
import { addWait, type LockTable, removeWait, wakeInSlices } from './lock-table.ts'
import type { Transaction, Waits, WaitsFor } from './transaction.ts'
import type { WaitingWriters } from './waiting-writers.ts'

export interface LockWaitsParts {
  readonly scheduler: Scheduler
  readonly locks: LockTable
  readonly writers: WaitingWriters
  readonly expiry: Expiry
}

const tracedHoldersMax = 16

/** Maximum number of holders of a row at which a search looks from behind. */
const aheadMax = 64

interface Ahead {
  readonly at: Transaction
  readonly goal: WaitsFor
}

export class LockWaits {
  readonly #parts: LockWaitsParts

  constructor(parts: LockWaitsParts) {
    this.#parts = parts
  }

  /**
   * Waits until a row is free, or a transaction has ended.
   *
   * @param waiter - the waiting transaction, or the stand-in of a write outside of transactions
   * @throws DatastoreError ABORTED for a deadlock or at the timeout
   */
  async wait(context: RequestContext, waiter: Transaction, goal: WaitsFor, timeoutMs: number): Promise<void> {
    const { trace } = context
    const holders = trace === undefined ? [] : this.#holders(waiter, goal, tracedHoldersMax)
    const over = trace?.waits({ waiter: waiter.id, holders: holders.map(({ id }) => id), row: prettyRowKey(goal.row) })
    const unwatch = this.#parts.expiry.watch()
    waiter.waitsFor = [...waiter.waitsFor, goal]
    try {
      await this.#over(context, waiter, goal, timeoutMs)
    } finally {
      waiter.waitsFor = waiter.waitsFor.filter((other) => other !== goal)
      unwatch()
      over?.()
      if (waiter.state === 'aborted' && waiter.abortedBy !== undefined) trace?.aborted(waiter.abortedBy)
    }
  }

  async #over(context: RequestContext, waiter: Transaction, goal: WaitsFor, timeoutMs: number): Promise<void> {
    let until = this.#parts.expiry.endDue() + timeoutMs * 1000
    for (;;) {
      if (waiter.state === 'aborted') throw abortedError(waiter)
      const now = this.#parts.expiry.endDue()
      const [holder] = this.#holders(waiter, goal, 1)
      if (holder === undefined) return
      // Without a search: a line whose waiters all give up would be searched to its end by each of them.
      if (now >= until) throw lockTimeout(waiter, goal, holder, timeoutMs)
      const cycle = this.#cycle(waiter, goal)
      if (cycle !== undefined) {
        breakDeadlock(cycle, waiter, prettyRowKey(goal.row))
        continue
      }
      checkAlive(context)
      const releasedAt = await this.#somethingNew(context, waiter, goal, until)
      until = Math.max(until, releasedAt + timeoutMs * 1000)
    }
  }

  #holders(waiter: Transaction, goal: WaitsFor, max: number): readonly Transaction[] {
    if ('footprint' in goal) return this.#parts.locks.holders(goal.row, waiter, max)
    return goal.holder.state === 'active' ? [goal.holder] : []
  }

  /** Resolves when the wait may be over. @returns when the row was last released, steady microseconds; 0 = never */
  #somethingNew(context: RequestContext, waiter: Transaction, goal: WaitsFor, until: number): Promise<number> {
    const { clock, deadlineAt, signal } = context
    const { locks } = this.#parts
    const wakeAt = deadlineAt === undefined ? until : Math.min(until, deadlineAt * 1000 + 1)
    const waitMs = Math.max(0, (wakeAt - steadyMicros(clock)) / 1000)
    const waits = 'footprint' in goal ? locks.waitsAt(goal.row) : this.#waitsForEnd(goal.holder)
    return new Promise((resolve) => {
      const timer = new AbortController()
      const done = (): void => {
        removeWait(waits, waiter, done)
        if ('footprint' in goal) locks.forget(goal.row, waits)
        waiter.notAtEnd(done)
        timer.abort(waitIsOver)
        signal?.removeEventListener('abort', done)
        resolve(waits.releasedAt)
      }
      addWait(waits, waiter, done)
      waiter.atEnd(done)
      signal?.addEventListener('abort', done, { once: true })
      clock.sleep(waitMs, timer.signal).then(done, () => undefined)
    })
  }

  #waitsForEnd(holder: Transaction): Waits {
    const { scheduler } = this.#parts
    if (holder.awaited !== undefined) return holder.awaited
    const awaited: Waits = { wakes: new Map(), releasedAt: 0 }
    holder.awaited = awaited
    holder.atEnd(() => wakeInSlices(scheduler, awaited))
    return awaited
  }

  /** The cycle through `start`: each transaction waits for the next one. */
  #cycle(start: Transaction, goal: WaitsFor): readonly Transaction[] | undefined {
    /** From each transaction found to the one that it waits for. */
    const next = new Map<Transaction, Transaction>()
    const reached = [start]
    const seen = new Set<object>()
    let ahead: Ahead | undefined = { at: start, goal }
    for (const at of reached) {
      for (const waiter of this.#waitersOn(at, seen)) {
        // With each step back goes one ahead: in a line whose first transaction works, the shorter part is searched.
        if (ahead !== undefined) {
          const waits: readonly Ahead[] | undefined = this.#waitsAhead(ahead)
          if (waits?.length === 0) return undefined
          ahead = waits?.length === 1 ? waits[0] : undefined
        }
        if (waiter === start || waiter.waitsFor.length === 0 || next.has(waiter)) continue
        next.set(waiter, at)
        reached.push(waiter)
        if (!isWaitedFor(goal, waiter)) continue
        const cycle = [start]
        for (let on: Transaction | undefined = waiter; on !== undefined && on !== start; on = next.get(on))
          cycle.push(on)
        return cycle
      }
    }
    return undefined
  }

  /** The waits of those that `at` waits for; `undefined` = these may be too many to look at. */
  #waitsAhead({ at, goal }: Ahead): readonly Ahead[] | undefined {
    const { locks } = this.#parts
    if ('footprint' in goal && (goal.footprint.entityRows.length > 1 || locks.hasSpans)) return undefined
    const holders = this.#holders(at, goal, aheadMax)
    if (holders.length === aheadMax) return undefined
    return holders.flatMap((holder) => holder.waitsFor.map((next) => ({ at: holder, goal: next })))
  }

  /**
   * The transactions that wait for `holder`, without those of rows in `seen`: a search meets the waiters of a row once, however many
   * transactions have locked it.
   */
  *#waitersOn(holder: Transaction, seen: Set<object>): Generator<Transaction> {
    const { locks, writers } = this.#parts
    if (holder.awaited !== undefined) yield* holder.awaited.wakes.keys()
    if (!holder.takesLocks || holder.reads.isEmpty) return
    yield* writers.over(holder.reads, seen)
    yield* locks.waitersOn(holder.reads, seen)
  }
}

function isWaitedFor(goal: WaitsFor, transaction: Transaction): boolean {
  if (!('footprint' in goal)) return goal.holder === transaction
  return transaction.takesLocks && transaction.reads.hitBy(goal.footprint) !== undefined
}

function lockTimeout(waiter: Transaction, { row }: WaitsFor, holder: Transaction, timeoutMs: number): DatastoreError {
  return contention(
    `${prettyRowKey(row)} is locked by ${holder.name}, which did not end within ${timeoutMs} ms; try again`,
    waiter.id === 0 ? 'request' : 'transaction',
  )
}

function breakDeadlock(cycle: readonly Transaction[], waiter: Transaction, what: string): void {
  let victim = waiter
  for (const transaction of cycle) if (transaction.age > victim.age) victim = transaction
  const winners = cycle.filter((transaction) => transaction !== victim)
  const others = winners.map(({ name }) => name)
  victim.abortedBy = winners.map(({ id }) => id)
  const reason = `deadlock over ${what} with ${others.join(', ')}: the youngest gives way; try again`
  victim.end('aborted', contention(reason, 'transaction').message)
}

/** The answer to any call of an aborted transaction. */
export function abortedError(transaction: Pick<Transaction, 'abortReason' | 'name'>): DatastoreError {
  const message =
    transaction.abortReason ?? contention(`${transaction.name} was aborted; try again`, 'transaction').message
  return new DatastoreError('ABORTED', message, { retry: 'transaction' })
}
