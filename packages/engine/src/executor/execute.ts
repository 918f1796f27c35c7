/**
 * Runs a plan over a view of the tables.
 *
 *   scan, mergeJoin, union, filter, late   the plan's tree
 *   firstRow                               each entity once, if it may be at several positions
 *   distinct                               each combination once
 *   page                                   offset, limit, cursors, entities
 *
 * With a store that answers at once, a query runs from start to end without waiting. All scans are closed when the answer is
 * complete, or after an error.
 */
import { finallyDo, type MaybePromise, runSteps } from '../maybe-promise.ts'
import type { PlanNode } from '../planner/plan-node.ts'
import { Distinct } from './distinct.ts'
import { Filter } from './filter.ts'
import { FirstRow } from './first-row.ts'
import { boundsBelow, Late } from './late.ts'
import { MergeJoin } from './merge-join.ts'
import { PageRun, type ResultPage } from './result-page.ts'
import { type Execution, emptyStream, type RowStream } from './row-stream.ts'
import { openScan, type ScanSettings } from './scan.ts'
import { Union } from './union.ts'
import type { Window } from './window.ts'

/** The rows that a scan is told to expect if nothing limits the query. */
const expectMax = 64
/** A join mostly seeks in its inputs and reads few rows after each other. */
const joinExpect = 8

export function execute(execution: Execution, window: Window): MaybePromise<ResultPage> {
  const expect = Math.min(window.offset + Math.min(window.limit ?? expectMax, window.resultsMax) + 1, expectMax)
  const stream = openResults(execution, { bounds: window.bounds, expect })
  return finallyDo(
    () => runSteps(new PageRun(execution, stream, window).steps()),
    () => stream.close(),
  )
}

/** The rows of all results of a plan, in order. The caller closes the stream. */
export function openResults(execution: Execution, options: Pick<ScanSettings, 'bounds' | 'expect'>): RowStream {
  const { context, view, plan } = execution
  const { lateColumns, reverse, distinctColumns } = plan
  const bounds = lateColumns.length === 0 ? options.bounds : boundsBelow(plan, options.bounds)
  const open = (node: PlanNode, expect: number): RowStream => {
    switch (node.type) {
      case 'scan':
        return openScan(context, view, node, { reverse, bounds, expect })
      case 'mergeJoin':
        return new MergeJoin(
          node.inputs.map((input) => open(input, Math.min(expect, joinExpect))),
          reverse,
        )
      case 'union':
        return new Union(
          node.inputs.map((input) => open(input, Math.ceil(expect / node.inputs.length))),
          reverse,
        )
      case 'filter':
        return new Filter(open(node.input, expect), plan, node)
      case 'late':
        return new Late(open(node.input, expect), execution, node, options.bounds)
      case 'empty':
        return emptyStream
    }
  }
  let stream = open(plan.source, options.expect)
  if (plan.firstRowOnly) stream = new FirstRow(stream, execution)
  if (distinctColumns !== undefined) stream = new Distinct(stream, plan, distinctColumns)
  return stream
}
