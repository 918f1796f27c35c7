/**
 * Runs long work in slices, with other calls in between. All code that yields does it here.
 *
 *   rows … giveWay(context, rows) … rows … giveWay(context, rows) ─▶ a promise: the slice is over
 *                                                                     └─▶ calls of others ─▶ the next slice
 *
 * - A slice ends at the first giveWay() after {@link sliceMs}, and before or after a step of {@link sliceWorkMax} rows. While time
 *   stands still, as in tests, it ends after so many rows in all.
 * - One slice runs in a turn of the event loop, whatever the number of long tasks of a scheduler; they take turns. So other
 *   calls wait for one slice.
 * - Work whose caller no longer waits ends when it yields, or when its next slice would begin.
 *
 * After a slice the data may have changed: read from a snapshot, or read again.
 */
import { setMaxListeners } from 'node:events'
import type { Scheduler } from './clock.ts'
import { checkAlive, type RequestContext, requestContext } from './context.ts'
import { andThen, finallyDo, forEachInOrder, type MaybePromise } from './maybe-promise.ts'
import { Sequencer } from './sequencer.ts'

/**
 * Duration of a slice, without the work between two calls of giveWay(). A commit of 100 entities fits into one: cut in parts, 16 of them
 * at a time would all stay in memory until the last part, and the garbage collector would copy them again and again.
 */
const sliceMs = 3
/** Rows that end a slice while time stands still, or that one step has or will have: such a step gets a turn. */
export const sliceWorkMax = 4096
/** The clock is asked after this many rows: a lookup or a page of results never does. */
const workPerLook = 128

/**
 * Call it between two steps of anything that may be long.
 *
 * @param work - the work since the last call: rows read, or an equivalent number
 * @returns `undefined` to continue at once; else a promise to wait for, after which a new slice has begun
 * @throws CANCELLED or DEADLINE_EXCEEDED, as does the promise, if the caller no longer waits
 */
export function giveWay(context: RequestContext, work: number): Promise<void> | undefined {
  const { slice, clock } = context
  // Whole numbers: with fractions V8 gives each new slice another shape.
  slice.unseen += Math.ceil(work)
  if (slice.unseen < workPerLook) return undefined
  checkAlive(context)
  const step = slice.unseen
  slice.work += step
  slice.unseen = 0
  const now = clock.steadyMs()
  slice.beganAt ??= now
  const rows = now === slice.beganAt ? slice.work : step
  if (now < slice.beganAt + sliceMs && rows < sliceWorkMax) return undefined
  return nextTurn(clock).then(() => {
    checkAlive(context)
    slice.work = 0
    slice.beganAt = clock.steadyMs()
  })
}

/** A slice begins that no other task shares, however many wake at once: for what takes milliseconds before it first yields. */
export async function turnOfItsOwn(context: RequestContext): Promise<void> {
  await giveWay(context, sliceWorkMax)
}

/** Runs `step` for each item in order, and yields between them. @param work - of each step, see {@link giveWay} */
export function forEachInSlices<T>(
  context: RequestContext,
  items: readonly T[],
  work: number | ((item: T) => number),
  step: (item: T, index: number) => MaybePromise<void>,
): MaybePromise<void> {
  return forEachInOrder(items, (item, i) =>
    andThen(step(item, i), () => giveWay(context, typeof work === 'number' ? work : work(item))),
  )
}

/** Runs steps to their end, and yields to other calls between them; each step gives its work (see {@link giveWay}). */
export function runInSlices<T>(context: RequestContext, steps: Generator<number, T>): MaybePromise<T> {
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) {
    const way = giveWay(context, step.value)
    if (way !== undefined) return way.then(() => runInSlices(context, steps))
  }
  return step.value
}

export function runAtOnce<T>(steps: Generator<number, T>): T {
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** Waits for independent work as long as the caller waits. @throws CANCELLED, DEADLINE_EXCEEDED */
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
    // The parts of one call wait in parallel, each until its own end. Node would print a warning about a leak after ten
    // listeners.
    if (signal !== undefined) setMaxListeners(0, signal)
    signal?.addEventListener('abort', look, { once: true, signal: over.signal })
    if (deadlineAt !== undefined) {
      clock.sleep(Math.max(0, deadlineAt - clock.steadyMs()) + 1, over.signal).then(look, () => {})
    }
    look()
  })
  return Promise.race([work, gone]).finally(() => over.abort('answered'))
}

/** The last turn of each scheduler: the next one begins after it. */
const lines = new WeakMap<Scheduler, Promise<void>>()

/** A turn of the event loop that no slice, and no other caller of this function, shares. */
export function nextTurn(clock: Scheduler): Promise<void> {
  const before = lines.get(clock) ?? Promise.resolve()
  const turn = before.then(() => new Promise<void>((resolve) => clock.defer(resolve)))
  lines.set(clock, turn)
  return turn
}

/** Work for which many calls have reason, such as charges that wait in a list: done once at a time, in turns that no call shares. */
export class WorkInTurns {
  readonly #clock: Scheduler
  readonly #make: () => Generator<number, void>
  /** Steps that were begun and have not ended. */
  #steps: Generator<number, void> | undefined
  #isDue = false

  /** @param make - the steps of all that there is to do, each with its work (see {@link giveWay}) */
  constructor(clock: Scheduler, make: () => Generator<number, void>) {
    this.#clock = clock
    this.#make = make
  }

  /** Begins in a turn to come; without effect while it is under way. */
  begin(): void {
    if (this.#isDue) return
    this.#isDue = true
    const done = (): void => {
      this.#isDue = false
      this.#steps = undefined
    }
    void nextTurn(this.#clock)
      .then(() => runInSlices(requestContext({ clock: this.#clock }), this.#rest()))
      .finally(done)
  }

  /** Does all that is left, now. */
  finish(): void {
    runAtOnce(this.#rest())
    this.#steps = undefined
  }

  #rest(): Generator<number, void> {
    this.#steps ??= this.#make()
    return this.#steps
  }
}

/** Tasks that run one after the other, in slices. Small work is done at once while nothing waits. */
export class WorkInOrder {
  readonly #clock: Scheduler
  readonly #turns = new Sequencer()
  /** Shared by all work that waits, so that many small tasks are no long turn together. */
  #context: RequestContext

  constructor(clock: Scheduler) {
    this.#clock = clock
    this.#context = requestContext({ clock })
  }

  /** @param steps - yields the work of each step (slices.ts) */
  run(steps: Generator<number, void>): MaybePromise<void> {
    const turn = this.#turns.enter()
    if (turn === undefined) this.#context = requestContext({ clock: this.#clock })
    return andThen(turn, () =>
      finallyDo(
        () => runInSlices(this.#context, steps),
        () => this.#turns.leave(),
      ),
    )
  }

  /** Resolves when all work until now is done. */
  done(): MaybePromise<void> {
    return this.#turns.run(() => {})
  }
}
