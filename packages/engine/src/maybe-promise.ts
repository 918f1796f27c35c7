/**
 * An answer that is there at once or comes by promise. A store answers at once where it can, and callers wait only when
 * given a promise: a lookup in memory runs from request to answer in one turn of the event loop.
 *
 * Code between a store and its callers is written once, for both kinds of store: one step with {@link andThen}, loops and
 * `try` as a generator that {@link runSteps} drives.
 *
 *   next(count) { return runSteps(this.#next(count)) }
 *   *#next(count) { for (;;) { const rows = yield* waitFor(this.#input.next(count)); … } }
 *
 * Steps are methods or functions of a module: a generator function made within a call costs more than most calls (measured,
 * Node 20).
 *
 * MP1  Steps that meet no promise run to their end in the turn in which they began.   maybe-promise.test.ts
 * MP2  The stack does not grow with the number of steps, whether they wait or not.      maybe-promise.test.ts
 */
export type MaybePromise<T> = T | Promise<T>

/** For callers that keep account of work under way; one that only goes on with the answer needs {@link andThen}. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/**
 * Continues with `next` at once, or after the promise. A throw in `next` is a throw or a rejection accordingly. (Not named
 * `then`: a dynamic import takes a module that exports a function of that name for a promise.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs `work`; when it throws or rejects, the outcome is that of `failed`, which may throw the error on. */
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
 * Runs `work`, then `done` in any case: at once, or when the promise has settled. The outcome is that of `work`, after `done`;
 * when `done` fails, its error.
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

/** A generator that yields the promises it waits for, by {@link waitFor}, and returns the outcome. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>

/** Within steps, as `yield* waitFor(value)`: the value, waited for only where it is a promise. */
export function* waitFor<T>(value: MaybePromise<T>): Steps<T> {
  return value instanceof Promise ? ((yield value) as T) : value
}

/** Runs steps to their end; their throw is a throw, or after the first promise a rejection. */
export function runSteps<T>(steps: Steps<T>): MaybePromise<T> {
  const step = steps.next()
  return step.done ? step.value : runRest(steps, step.value)
}

async function runRest<T>(steps: Steps<T>, waiting: Promise<unknown>): Promise<T> {
  for (;;) {
    const step = await waiting.then(
      (value) => steps.next(value),
      (error) => steps.throw(error),
    )
    if (step.done) return step.value
    waiting = step.value
  }
}

/** Begins `step` for each item in this turn; all answers, when the last of them is there. */
export function allOf<T, U>(items: Iterable<T>, step: (item: T) => MaybePromise<U>): MaybePromise<readonly U[]> {
  const answers: MaybePromise<U>[] = []
  try {
    for (const item of items) answers.push(step(item))
  } catch (error) {
    // The error goes to the caller now; a later failure of a step already begun is not reported.
    for (const answer of answers) if (answer instanceof Promise) answer.catch(() => undefined)
    throw error
  }
  return answers.some(isPromise) ? Promise.all(answers) : (answers as readonly U[])
}

/** Runs `step` for each item in order, waiting only where a step gives a promise. */
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
