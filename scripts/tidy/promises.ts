/**
 * The rule for functions that return either a value or a promise: they are written once, with the helpers of engine/src/maybe-promise.ts. A file with
 * `instanceof Promise` mostly has two copies of its logic.
 */
import { type Finding, isShipped, matches, type SourceFile, withoutComments } from './repository.ts'

const asks = /\binstanceof Promise\b|\bisPromise\(/g

/** Files that may use `instanceof Promise`, because they run for each row of a result, or each mutation of a commit, and are written for speed. */
const byHand: readonly string[] = [
  'packages/engine/src/maybe-promise.ts',
  'packages/engine/src/executor/scan.ts',
  'packages/engine/src/executor/result-page.ts',
]

/** Files that may use `isPromise()`, because they count unfinished work. */
const withAccounts: readonly string[] = [
  'packages/engine/src/history/past-view.ts',
  'packages/engine/src/ids/id-sequence.ts',
  'packages/engine/src/log/apply.ts',
  'packages/engine/src/log/commit-log.ts',
  'packages/engine/src/on-demand/on-demand-rows.ts',
  'packages/engine/src/database/query.ts',
  'packages/engine/src/testing/at-once.ts',
  'packages/engine/src/transactions/transaction-views.ts',
]

export function promiseFindings(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => path.startsWith('packages/engine/') && isShipped(path) && !byHand.includes(path))
    .flatMap(({ path, text }) => {
      const found = matches(path, withoutComments(text), asks, (what) => what)
      const isListed = withAccounts.includes(path)
      if (isListed && found.length === 0) return [`${path} asks for no promise any more: take it off the list`]
      return found
        .filter((finding) => !isListed || finding.endsWith('Promise'))
        .map((finding) => `${finding}: andThen, runSteps, finallyDo and whenFails go on at once or later by themselves`)
    })
}
