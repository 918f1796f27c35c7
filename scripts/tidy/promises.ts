/**
 * The rule for answers that come at once or by promise: code between a store and its callers is written once, with the
 * helpers of engine/src/maybe-promise.ts. A file that asks `instanceof Promise` itself mostly has two copies of its logic.
 */
import { type Finding, isShipped, matches, type SourceFile, withoutComments } from './repository.ts'

const asks = /\binstanceof Promise\b|\bisPromise\(/g

/** Why a file may ask. */
type Reason = 'helper' | 'speed' | 'work under way'

/**
 * - speed: written by hand, since it runs for each row of a result.
 * - work under way: keeps account of what others have to wait for, so it has to know what is not there yet.
 */
const allowed: Readonly<Record<string, Reason>> = {
  'packages/engine/src/maybe-promise.ts': 'helper',
  'packages/engine/src/testing/at-once.ts': 'helper',
  'packages/engine/src/executor/scan.ts': 'speed',
  'packages/engine/src/executor/result-page.ts': 'speed',
  'packages/engine/src/tables/table.ts': 'speed',
  'packages/engine/src/service/lookup.ts': 'speed',
  'packages/engine/src/ids/id-sequence.ts': 'work under way',
  'packages/engine/src/log/apply.ts': 'work under way',
  'packages/engine/src/log/commit-log.ts': 'work under way',
  'packages/engine/src/log/sequencer.ts': 'work under way',
  'packages/engine/src/service/plan-rows.ts': 'work under way',
  'packages/engine/src/tables/missing-indexes.ts': 'work under way',
  'packages/engine/src/on-demand/on-demand-rows.ts': 'work under way',
  'packages/engine/src/transactions/transaction-views.ts': 'work under way',
}

export function promiseFindings(files: readonly SourceFile[]): Finding[] {
  const asking = files.filter(({ path }) => path.startsWith('packages/engine/') && isShipped(path))
  const found = asking.flatMap(({ path, text }) =>
    matches(path, withoutComments(text), asks, (what) => `asks ${what}: andThen, runSteps, finallyDo or whenFails do`),
  )
  const unknown = found.filter((finding) => !Object.keys(allowed).some((path) => finding.startsWith(`${path}:`)))
  const idle = Object.keys(allowed)
    .filter((path) => asking.some((file) => file.path === path))
    .filter((path) => !found.some((finding) => finding.startsWith(`${path}:`)))
  return [
    ...unknown,
    ...idle.map((path) => `${path} asks for no promise any more: take it off the list in promises.ts`),
  ]
}
