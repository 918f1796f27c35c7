/**
 * A value, or a promise of it. A store answers at once if it can, and callers wait only for a promise: a lookup in memory
 * runs from request to answer in one turn of the event loop.
 *
 * Code between a store and its callers is written once, for both kinds of store: one step with {@link andThen}, loops and
 * `try` as a generator that {@link runSteps} runs. Steps that meet no promise run to their end in one turn, and the stack
 * does not grow with their number.
 *
 *   next(count) { return runSteps(this.#next(count)) }
 *   *#next(count) { for (;;) { const rows = yield* waitFor(this.#input.next(count)); … } }
 *
 * Write steps as methods or functions of a module: creating a generator function within a call costs more than most calls
 * (measured, Node 20).
 */
export type MaybePromise<T> = T | Promise<T>

/** For callers that track work in progress; others use {@link andThen}. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/**
 * Continues with `next` at once, or after the promise. An error in `next` is thrown, or rejects the promise. (Not named
 * `then`: a dynamic import treats a module with an export of that name as a promise.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs `work`; if it throws or rejects, the result is that of `failed`, which may throw the error again. */
export function whenFails<T, U>(
  work: () => MaybePromise<T>,
  failed: (error: unknown) => MaybePromise<U>,
): MaybePromise<T | U> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    return failed(error)
  }
  return result instanceof Promise ? result.catch(failed) : result
}

/**
 * Runs `work`, then `done` in any case: at once, or after the promise has settled. The result is that of `work`; if `done`
 * fails, its error.
 */
export function finallyDo<T>(work: () => MaybePromise<T>, done: () => MaybePromise<void>): MaybePromise<T> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    return andThen(done(), () => {
      throw error
    })
  }
  if (result instanceof Promise) return result.finally(done)
  const ended = done()
  return ended instanceof Promise ? ended.then(() => result) : result
}

/** A generator that yields the promises it waits for, by {@link waitFor}, and returns the result, or a promise of it. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>

/** In steps, as `yield* waitFor(value)`: waits for the value if it is a promise. */
export function* waitFor<T>(value: MaybePromise<T>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value
}

/** Runs steps to their end. An error is thrown, or after the first promise rejects the result. */
export function runSteps<T>(steps: Steps<MaybePromise<T>>): MaybePromise<T> {
  const step = steps.next()
  return step.done ? step.value : runRest(steps, step.value)
}

async function runRest<T>(steps: Steps<MaybePromise<T>>, waiting: Promise<unknown>): Promise<T> {
  for (;;) {
    const step = await waiting.then(
      (value) => steps.next(value),
      (error) => steps.throw(error),
    )
    if (step.done) return step.value
    waiting = step.value
  }
}

/** Starts `step` for each item in this turn; gives all results when the last is there. */
export function allOf<T, U>(items: Iterable<T>, step: (item: T) => MaybePromise<U>): MaybePromise<readonly U[]> {
  const answers: MaybePromise<U>[] = []
  try {
    for (const item of items) answers.push(step(item))
  } catch (error) {
    // The caller gets this error now; later errors of started steps are ignored.
    for (const answer of answers) if (answer instanceof Promise) answer.catch(() => undefined)
    throw error
  }
  return answers.some(isPromise) ? Promise.all(answers) : (answers as readonly U[])
}

/** Runs `step` for each item in order, and waits only for promises. */
export function forEachInOrder<T>(
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<void>,
): MaybePromise<void> {
  for (let i = 0; i < items.length; i++) {
    const done = step(items[i] as T, i)
    if (done instanceof Promise) return restInOrder(items, step, i + 1, done)
  }
}

async function restInOrder<T>(
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<void>,
  from: number,
  waiting: Promise<void>,
): Promise<void> {
  await waiting
  for (let i = from; i < items.length; i++) {
    const done = step(items[i] as T, i)
    if (done instanceof Promise) await done
  }
}
