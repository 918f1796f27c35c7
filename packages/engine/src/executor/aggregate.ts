/**
 * Counts the results of a plan, and sums and averages values in their rows.
 *
 * The values are in the rows (planner/normal-query.ts), so this operator reads no entity; a count over rows in key order
 * reads only index rows. The window of the query applies: start cursor, offset, limit, end cursor. It reads no row behind the
 * last one that counts: a limit ends it, and so does COUNT_UP_TO(1000) after 1,000 rows if it is the only aggregation. The
 * scans below yield between batches and end with the caller.
 */
import { andThen, finallyDo, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { Value } from '../model/value.ts'
import type { Plan } from '../planner/plan-node.ts'
import { NumberTotal } from './aggregate-number.ts'
import { rowsBefore } from './cursor.ts'
import { openResults } from './execute.ts'
import { placeOf } from './position.ts'
import type { Execution, PositionedRow, RowStream } from './row-stream.ts'
import type { Window } from './window.ts'

export type AggregateTerm =
  | { readonly operator: 'count'; readonly upTo: bigint | undefined }
  | { readonly operator: 'sum' | 'avg'; readonly property: string }

interface Aggregates {
  readonly terms: readonly AggregateTerm[]
  /**
   * The code of a property's value if an equality filter fixes it. Each property of a sum or average is here or among the
   * plan's columns.
   */
  readonly fixed: ReadonlyMap<string, string>
}

const firstBatch = 64
const batchMax = 1024

/** One value for each term, in order. */
export function aggregate(
  execution: Execution,
  { terms, fixed }: Aggregates,
  window: Window,
): MaybePromise<{ readonly values: readonly Value[] }> {
  const { plan } = execution
  const totals = new Map<string, NumberTotal>()
  for (const term of terms) if (term.operator !== 'count') totals.set(term.property, new NumberTotal())
  const rowsMax = window.offset + Math.min(window.limit ?? Number.POSITIVE_INFINITY, countMax(terms, totals.size > 0))
  const finish = (count: number) => ({ values: terms.map((term) => resultOf(term, count, totals)) })
  if (rowsMax === window.offset) return finish(0)

  const expect = Math.min(rowsMax, batchMax)
  const stream = openResults(execution, { bounds: window.bounds, expect })
  return andThen(
    finallyDo(
      () => runSteps(countRows(stream, plan, window, rowsMax, addersOf(plan, totals, fixed))),
      () => stream.close(),
    ),
    finish,
  )
}

/** The number of results after which counting may stop. */
function countMax(terms: readonly AggregateTerm[], hasTotals: boolean): number {
  if (hasTotals) return Number.POSITIVE_INFINITY
  let max = 0
  for (const term of terms) {
    if (term.operator !== 'count') continue
    if (term.upTo === undefined) return Number.POSITIVE_INFINITY
    max = Math.max(max, Number(term.upTo))
  }
  return max
}

export function resultOf(term: AggregateTerm, count: number, totals: ReadonlyMap<string, NumberTotal>): Value {
  if (term.operator === 'count') {
    const found = BigInt(count)
    return { type: 'integer', value: term.upTo !== undefined && term.upTo < found ? term.upTo : found }
  }
  const total = totals.get(term.property) ?? new NumberTotal()
  return term.operator === 'sum' ? total.sum() : total.average()
}

type Adder = (row: PositionedRow) => void

function addersOf(
  plan: Plan,
  totals: ReadonlyMap<string, NumberTotal>,
  fixed: ReadonlyMap<string, string>,
): readonly Adder[] {
  return [...totals].map(([property, total]): Adder => {
    const place = placeOf(plan, property)
    const code = fixed.get(property)
    if (place === undefined) return () => code !== undefined && total.addCode(code, 0, false)
    return ({ position }) => total.addCode(position, place.offset(position), place.inverted)
  })
}

/** Counts the results in the window, and adds their rows to the totals. @param rowsMax - includes the offset */
function* countRows(
  stream: RowStream,
  plan: Plan,
  { end, offset }: Window,
  rowsMax: number,
  adders: readonly Adder[],
): Steps<number> {
  const onlyCounts = end === undefined && adders.length === 0
  let count = 0
  for (let batch = firstBatch; count < rowsMax; batch = Math.min(batch * 2, batchMax)) {
    const wanted = Math.min(batch, rowsMax - count)
    if (onlyCounts && stream.count !== undefined) {
      const found = yield* waitFor(stream.count(wanted))
      if (found === 0) break
      count += found
      continue
    }
    const rows = yield* waitFor(stream.next(wanted))
    const inWindow = rowsBefore(plan, rows, end)
    for (const row of inWindow) if (++count > offset) for (const add of adders) add(row)
    if (inWindow.length < rows.length || rows.length === 0) break
  }
  return Math.max(0, count - offset)
}
