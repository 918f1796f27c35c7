/**
 * Waits for locks, and deadlock detection over the waits-for graph.
 *
 *   writer ──▶ transactions that hold read locks on the rows it is about to change
 *   reader ──▶ a writer that already waits for the rows it wants to lock (waiting-writers.ts)
 *
 * W1  A wait ends when a holder releases its lock, when a deadlock makes the waiter its victim, or at the lock timeout, never
 *     later. A holder that expires during the wait is ended at that instant, without a background sweep.
 * W2  A cycle is found when its last edge is added. Its youngest transaction, by first begin, is aborted at once. The oldest
 *     is never the victim, so one transaction always makes progress.
 *
 * Known: Google's Firestore emulator ends waits after two seconds. Ours: deadlocks are found, not timed out.
 */
import type { RequestContext } from '../context.ts'
import { checkAlive } from '../context.ts'
import { contention, DatastoreError } from '../errors.ts'
import type { Transaction } from './transaction.ts'

export interface Wait {
  /** The transaction that waits, or what stands for a write outside of one. */
  readonly waiter: Transaction
  readonly holders: readonly Transaction[]
  /** The contended row, in words. */
  readonly what: string
  readonly timeoutMs: number
}

/** Waits until one of the holders has ended. @throws ABORTED (W1, W2) */
export async function waitForRelease(context: RequestContext, wait: Wait): Promise<void> {
  const { waiter, holders, what } = wait
  waiter.waitsFor = holders
  const over = context.trace?.waits({ waiter: waiter.id, holders: holders.map(({ id }) => id), row: what })
  try {
    await released(context, wait)
  } finally {
    over?.()
    if (waiter.state === 'aborted' && waiter.abortedBy !== undefined) context.trace?.aborted(waiter.abortedBy)
  }
}

async function released(context: RequestContext, wait: Wait): Promise<void> {
  const { waiter, holders, what, timeoutMs } = wait
  const { clock } = context
  const cycle = findCycle(waiter)
  if (cycle !== undefined) breakDeadlock(cycle, waiter, what)
  const until = Number(clock.nowMicros()) + timeoutMs * 1000
  for (;;) {
    refuseAborted(waiter)
    const now = Number(clock.nowMicros())
    for (const holder of holders) if (holder.hasExpired(now)) holder.end('expired')
    const holder = holders.find(({ state }) => state === 'active')
    if (holder === undefined || holders.some(({ state }) => state !== 'active')) break
    if (now >= until) {
      waiter.waitsFor = []
      throw lockTimeout(wait, holder)
    }
    checkAlive(context)
    await somethingNew(context, wait, until)
  }
  waiter.waitsFor = []
}

function lockTimeout({ waiter, what, timeoutMs }: Wait, holder: Transaction): DatastoreError {
  return contention(
    `${what} is locked by ${holder.name}, which did not end within ${timeoutMs} ms; try again`,
    waiter.id === 0 ? 'request' : 'transaction',
  )
}

/** Resolves when a holder, or the waiter itself, ends or may have expired; when the time is up, or the caller's patience. */
function somethingNew(context: RequestContext, { waiter, holders }: Wait, until: number): Promise<void> {
  const { clock, deadlineAt, signal } = context
  let wakeAt = until
  if (deadlineAt !== undefined) wakeAt = Math.min(wakeAt, Number(deadlineAt) + 1)
  for (const holder of holders) {
    if (!holder.committing) wakeAt = Math.min(wakeAt, holder.expiresAt + 1)
  }
  const waitMs = Math.max(0, (wakeAt - Number(clock.nowMicros())) / 1000)
  const watched = [...holders, waiter]
  return new Promise((resolve) => {
    const timer = new AbortController()
    const done = (): void => {
      for (const transaction of watched) transaction.notAtEnd(done)
      timer.abort()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    for (const transaction of watched) transaction.atEnd(done)
    signal?.addEventListener('abort', done, { once: true })
    clock.sleep(waitMs, timer.signal).then(done, () => undefined)
  })
}

/**
 * The transactions on a way from `start` back to itself. None can be when no transaction waits for `start`, so a line of waiters
 * for one row costs nothing here as it grows.
 */
function findCycle(start: Transaction): readonly Transaction[] | undefined {
  if (start.waiters === 0) return undefined
  /** The transaction from which each was reached. */
  const from = new Map<Transaction, Transaction>()
  const reached = [start]
  for (let at = reached.pop(); at !== undefined; at = reached.pop()) {
    for (const next of at.waitsFor) {
      if (next === start) return wayTo(at, from)
      if (from.has(next)) continue
      from.set(next, at)
      reached.push(next)
    }
  }
  return undefined
}

/** From the start to a transaction that was reached. */
function wayTo(last: Transaction, from: ReadonlyMap<Transaction, Transaction>): readonly Transaction[] {
  const way: Transaction[] = []
  for (let at: Transaction | undefined = last; at !== undefined; at = from.get(at)) way.push(at)
  return way.reverse()
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

function refuseAborted(transaction: Transaction): void {
  if (transaction.state === 'aborted') throw abortedError(transaction)
}

/** The answer to whatever an aborted transaction asks. */
export function abortedError(transaction: Pick<Transaction, 'abortReason' | 'name'>): DatastoreError {
  const message =
    transaction.abortReason ?? contention(`${transaction.name} was aborted; try again`, 'transaction').message
  return new DatastoreError('ABORTED', message, { retry: 'transaction' })
}
