/**
 * An answer that is there at once or comes by promise. The store answers at once where it can, and callers hop only when
 * given a promise, so that a lookup in memory runs from request to answer in one turn.
 */
export type MaybePromise<T> = T | Promise<T>

export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return value instanceof Promise
}

/**
 * Continues with `next` at once, or after the promise. A throw in `next` is a throw or a rejection accordingly. (Not named
 * `then`: a module that exports a function of that name is taken for a promise by whoever imports it dynamically.)
 */
export function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs `step` for each item in order, waiting only where a step gives a promise. */
export function forEachInOrder<T>(
  items: readonly T[],
  step: (item: T, index: number) => MaybePromise<void>,
  from = 0,
): MaybePromise<void> {
  for (let i = from; i < items.length; i++) {
    const done = step(items[i] as T, i)
    if (done instanceof Promise) return done.then(() => forEachInOrder(items, step, i + 1))
  }
}

/** Runs `work`, then `done`, whatever came of it and whenever. */
export function finallyDo<T>(work: () => MaybePromise<T>, done: () => void): MaybePromise<T> {
  let result: MaybePromise<T>
  try {
    result = work()
  } catch (error) {
    done()
    throw error
  }
  if (result instanceof Promise) return result.finally(done)
  done()
  return result
}
