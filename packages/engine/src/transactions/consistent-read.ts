/**
 * Consistent reads over the live tables, which change during a read. A commit that overlaps the read and changes one of its
 * rows may be half visible: the read of ToDo:1 came before the commit, the read of ToDo:2 after it. The read is then repeated,
 * so it never mixes the states before and after a commit.
 */
import { contention } from '../errors.ts'
import { type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import type { TableView } from '../tables/table.ts'
import { type ReadBudget, ReadSet, TrackedView } from './read-set.ts'
import type { RecentCommits } from './recent-commits.ts'

const attemptsMax = 50

/**
 * Steps that run `work` over `viewOf()`. If a commit overlaps and touches the rows that were read, waits for that commit and runs `work` again.
 *
 * @param settle - called with the rows read, in the turn in which they are known to be consistent. If it returns a promise, the
 *   read is repeated after it.
 * @throws ABORTED after {@link attemptsMax} attempts
 */
export function* consistentRead<T>(
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
        // A commit that fails may have changed rows too.
        yield* waitFor(overlapping.written)
      }
    } finally {
      reads.clear()
      recent.release(mark)
    }
  }
  throw contention('what this transaction reads is changed all the time; try again', 'transaction')
}
