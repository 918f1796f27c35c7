/**
 * Reads over a view that goes on changing, made again until they are whole.
 *
 * X2  A read that overlaps a commit of a row it reads is made again: it never mixes before and after.
 */
import { contention } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import { ReadSet, TrackedView } from './read-set.ts'
import type { RecentCommits } from './recent-commits.ts'

/** How often a read that commits keep overlapping is made before it gives up. */
const attemptsMax = 50

/**
 * Runs `work` over `viewOf()`. A commit that was under way meanwhile and touches what was read may be half in it: then, when
 * that commit has landed, everything is read again.
 *
 * @param settle - called with what was read, in the turn in which it is found to be whole; with a promise it asks to wait
 *   and to read again
 * @throws ABORTED when commits overlap it again and again
 */
export function consistentRead<T>(
  recent: RecentCommits,
  viewOf: () => MaybePromise<TableView>,
  work: (view: TableView) => MaybePromise<T>,
  settle: (reads: ReadSet) => Promise<void> | undefined,
  attempt = 1,
): MaybePromise<T> {
  const mark = recent.now
  const reads = new ReadSet()
  const whole = (value: T): MaybePromise<T> => {
    const overlapping = recent.since(mark).find(({ footprint }) => reads.hitBy(footprint) !== undefined)
    if (overlapping === undefined) {
      const wait = settle(reads)
      return wait === undefined ? value : wait.then(() => consistentRead(recent, viewOf, work, settle, attempt))
    }
    if (attempt === attemptsMax) {
      throw contention('what this transaction reads is changed all the time; try again', 'transaction')
    }
    const again = (): MaybePromise<T> => consistentRead(recent, viewOf, work, settle, attempt + 1)
    return overlapping.landing === undefined ? again() : overlapping.landing.then(again, again)
  }
  const value = andThen(viewOf(), (view) => work(new TrackedView(view, reads)))
  // A read within one turn of the event loop overlaps only batches under way, which are known without a mark.
  if (!(value instanceof Promise)) return whole(value)
  recent.keep(mark)
  return value.then(whole).finally(() => recent.release(mark))
}

/** Runs `work`; when it fails, `failed` is told before the caller is. */
export function whenFails<T>(work: () => MaybePromise<T>, failed: (error: unknown) => void): MaybePromise<T> {
  const told = (error: unknown): never => {
    failed(error)
    throw error
  }
  try {
    const result = work()
    return result instanceof Promise ? result.catch(told) : result
  } catch (error) {
    return told(error)
  }
}
