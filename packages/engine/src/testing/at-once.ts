/** For tests over stores that answer at once: the answer itself, never a promise of it. */
import { isPromise, type MaybePromise } from '../maybe-promise.ts'

/** @throws when the answer comes by promise */
export function atOnce<T>(answer: MaybePromise<T>): T {
  if (isPromise(answer)) throw new Error('the answer came by promise; a store in memory answers at once')
  return answer
}
