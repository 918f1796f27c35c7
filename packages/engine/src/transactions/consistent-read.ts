/**
 * Reads over a view that goes on changing, made again until they are whole.
 *
 * X2  A read that overlaps a commit of a row it reads is made again: it never mixes before and after.
 */
import { contention } from '../errors.ts'
import { type MaybePromise, runSteps, type Steps, waitFor, whenFails } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import { type ReadBudget, ReadSet, TrackedView } from './read-set.ts'
import type { RecentCommits } from './recent-commits.ts'

/** How often a read that commits keep overlapping is made before it gives up. */
const attemptsMax = 50

/**
 * Runs `work` over `viewOf()`. A commit that was under way meanwhile and touches what was read may be half in it: then, when
 * that commit is written, everything is read again.
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
  budget: ReadBudget,
): MaybePromise<T> {
  return runSteps(readings(recent, viewOf, work, settle, budget))
}

function* readings<T>(
  recent: RecentCommits,
  viewOf: () => MaybePromise<TableView>,
  work: (view: TableView) => MaybePromise<T>,
  settle: (reads: ReadSet) => Promise<void> | undefined,
  budget: ReadBudget,
): Steps<T> {
  for (let attempt = 1; attempt <= attemptsMax; ) {
    const mark = recent.mark()
    const reads = new ReadSet(budget)
    try {
      const view = yield* waitFor(viewOf())
      const value = yield* waitFor(work(new TrackedView(view, reads)))
      const overlapping = recent.changeSince(mark, reads)
      if (overlapping === undefined) {
        const wait = settle(reads)
        if (wait === undefined) return value
        yield* waitFor(wait)
      } else {
        attempt++
        // A commit that fails to be written may have changed rows, too.
        yield* waitFor(
          whenFails(
            () => overlapping.written,
            () => undefined,
          ),
        )
      }
    } finally {
      reads.clear()
      recent.release(mark)
    }
  }
  throw contention('what this transaction reads is changed all the time; try again', 'transaction')
}
