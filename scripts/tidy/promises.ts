/**
 * The rule for answers that come at once or by promise: code between a store and its callers is written once, with the
 * helpers of engine/src/maybe-promise.ts. A file that asks `instanceof Promise` itself mostly has two copies of its logic.
 */
import { type Finding, isShipped, matches, type SourceFile, withoutComments } from './repository.ts'

const asks = /\binstanceof Promise\b|\bisPromise\(/g

/** Written by hand for speed, since it runs for each row of a result: these files may say `instanceof Promise`. */
const byHand: readonly string[] = [
  'packages/engine/src/maybe-promise.ts',
  'packages/engine/src/executor/scan.ts',
  'packages/engine/src/executor/result-page.ts',
]

/** Keep account of work under way, so they have to know what is not there yet: these files may call `isPromise()`. */
const withAccounts: readonly string[] = [
  'packages/engine/src/history/past-view.ts',
  'packages/engine/src/ids/id-sequence.ts',
  'packages/engine/src/log/apply.ts',
  'packages/engine/src/log/commit-log.ts',
  'packages/engine/src/log/sequencer.ts',
  'packages/engine/src/on-demand/on-demand-rows.ts',
  'packages/engine/src/database/plan-rows.ts',
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
