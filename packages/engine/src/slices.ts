/**
 * Long work in slices, with the calls of others in between. The one way in which anything gives up its turn.
 *
 *   rows … giveWay(context, rows) … rows … giveWay(context, rows) ─▶ a promise: the slice is over
 *                                                                     └─▶ calls of others ─▶ the next slice
 *
 * S1  A slice ends at the first giveWay() after {@link sliceMs}, or after {@link sliceWorkMax} rows: in tests time may stand still.
 * S2  Of all long work of a scheduler one goes on in a turn of the event loop, in the order in which they gave way. So others
 *     wait for one slice, however much long work there is.
 * S3  Work whose caller no longer waits ends when it yields, and when its next slice would begin.          all: slices.test.ts
 *
 * Work that goes on later must not count on what it has seen: it reads a snapshot, or looks again.
 */
import { setMaxListeners } from 'node:events'
import type { Scheduler } from './clock.ts'
import { checkAlive, type RequestContext } from './context.ts'
import { andThen, forEachInOrder, type MaybePromise } from './maybe-promise.ts'

/** How long work goes on before others get a turn. Work between two giveWay() comes on top of it. */
const sliceMs = 5
/** The same in rows; in memory these are read in half a millisecond to some, by what is done with them. */
export const sliceWorkMax = 4096
/** After so many rows the clock is asked: a lookup or a page of results never does. */
const workPerLook = 128
/** Items that are sorted in one step. */
const sortedAtOnce = 512

/**
 * To be called between two steps of anything that may be long.
 *
 * @param work - how much was done since the last call: rows read, or as many as would have taken that long
 * @returns `undefined` to go on at once; else a promise to wait for, after which a new slice has begun
 * @throws CANCELLED or DEADLINE_EXCEEDED, as does the promise, when the caller no longer waits for the answer
 */
export function giveWay(context: RequestContext, work: number): Promise<void> | undefined {
  const { slice, clock } = context
  checkAlive(context)
  slice.unseen += work
  if (slice.unseen < workPerLook) return undefined
  slice.work += slice.unseen
  slice.unseen = 0
  const now = clock.steadyMs()
  slice.endsAt ??= now + sliceMs
  if (now < slice.endsAt && slice.work < sliceWorkMax) return undefined
  return nextTurn(clock).then(() => {
    checkAlive(context)
    slice.work = 0
    slice.endsAt = clock.steadyMs() + sliceMs
  })
}

/**
 * Runs `step` for each item in order, and yields between them.
 *
 * @param workOf - how much the step of an item does; see {@link giveWay}
 */
export function forEachInSlices<T>(
  context: RequestContext,
  items: readonly T[],
  workOf: (item: T) => number,
  step: (item: T, index: number) => MaybePromise<void>,
): MaybePromise<void> {
  return forEachInOrder(items, (item, i) => andThen(step(item, i), () => giveWay(context, workOf(item))))
}

/** Sorts as `toSorted` does. Runs are sorted at once, and merged two by two. */
export async function sortInSlices<T>(
  context: RequestContext,
  items: readonly T[],
  compare: (one: T, other: T) => number,
): Promise<readonly T[]> {
  let runs: (readonly T[])[] = []
  for (let start = 0; start < items.length; start += sortedAtOnce) {
    runs.push(items.slice(start, start + sortedAtOnce).sort(compare))
    await giveWay(context, sortedAtOnce)
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = []
    for (let i = 0; i < runs.length; i += 2) {
      merged.push(await mergeInSlices(context, runs[i] as readonly T[], runs[i + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

async function mergeInSlices<T>(
  context: RequestContext,
  one: readonly T[],
  other: readonly T[],
  compare: (one: T, other: T) => number,
): Promise<readonly T[]> {
  const merged: T[] = []
  for (let i = 0, j = 0; i < one.length || j < other.length; ) {
    const takesOne = j === other.length || (i < one.length && compare(one[i] as T, other[j] as T) <= 0)
    merged.push((takesOne ? one[i++] : other[j++]) as T)
    if (merged.length % workPerLook === 0) await giveWay(context, workPerLook)
  }
  return merged
}

/**
 * Begins `step` for each item in order, and yields between them while those before go on.
 *
 * @param context - not of a caller that may go away: what has begun is waited for
 * @returns all answers, in the order of the items
 */
export async function allInSlices<T, U>(
  context: RequestContext,
  items: readonly T[],
  workOf: (item: T) => number,
  step: (item: T) => Promise<U>,
): Promise<readonly U[]> {
  const begun: Promise<U>[] = []
  await forEachInSlices(context, items, workOf, (item) => {
    const one = step(item)
    // It may fail before the last one has begun: its error is the answer all the same.
    one.catch(() => {})
    begun.push(one)
  })
  return await Promise.all(begun)
}

/**
 * Waits for something that goes on without its caller, for as long as the caller does.
 *
 * @throws CANCELLED, DEADLINE_EXCEEDED
 */
export function whileWanted<T>(context: RequestContext, work: Promise<T>): Promise<T> {
  const { clock, deadlineAt, signal } = context
  if (deadlineAt === undefined && signal === undefined) return work
  const over = new AbortController()
  const gone = new Promise<never>((_, reject) => {
    const look = (): void => {
      try {
        checkAlive(context)
      } catch (error) {
        reject(error)
      }
    }
    // The parts of one call wait side by side, each until its own end; Node takes more than ten for a leak and says so on stderr.
    if (signal !== undefined) setMaxListeners(0, signal)
    signal?.addEventListener('abort', look, { once: true, signal: over.signal })
    if (deadlineAt !== undefined) {
      clock.sleep(Math.max(0, deadlineAt - clock.steadyMs()) + 1, over.signal).then(look, () => {})
    }
    look()
  })
  return Promise.race([work, gone]).finally(() => over.abort('answered'))
}

/** The turns that long work waits for, by scheduler: each begins after the one before it (S2). */
const lines = new WeakMap<Scheduler, Promise<void>>()

function nextTurn(clock: Scheduler): Promise<void> {
  const before = lines.get(clock) ?? Promise.resolve()
  const turn = before.then(() => new Promise<void>((resolve) => clock.defer(resolve)))
  lines.set(clock, turn)
  return turn
}
