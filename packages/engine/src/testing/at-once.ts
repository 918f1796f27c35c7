/** The immediate answer of a store, never a promise; for tests. */
import { isPromise, type MaybePromise } from '../maybe-promise.ts'

export function atOnce<T>(answer: MaybePromise<T>): T {
  if (isPromise(answer)) throw new Error('the answer came by promise; a store in memory answers at once')
  return answer
}
