/**
 * A request's doings beyond its answer, for tools that show them: plan, rows that its commit makes, waits, lost conflicts.
 *
 *   request ─▶ context.trace?.planned() … waits() … committed() … aborted()
 *
 * RT1  A request without a trace pays one test at each of these places.
 * RT2  A trace is told in the turn of the event; it must not throw and must not wait.
 */
import type { PlanTree } from './plan-tree.ts'
import type { TableId } from './row.ts'

/** How many rows a change writes and deletes, in the tables that it touches. */
export type RowTally = Partial<Record<TableId, { written: number; deleted: number }>>

/** A wait for other transactions, which are named by their ids; 0 is a write outside of transactions. */
export interface LockWait {
  readonly waiter: number
  readonly holders: readonly number[]
  /** The contended row, in words. */
  readonly row: string
}

export interface RequestTrace {
  /** A query is about to be read. Where it is planned again the last plan counts. @param tree - makes it in words */
  planned(tree: () => PlanTree): void
  /** A commit is being written. @param rows - of the six tables, written and deleted now or when the commit is applied */
  committed(rows: RowTally): void
  /** The request waits from now on. @returns to be called when it no longer does */
  waits(wait: LockWait): () => void
  /** Its transaction was aborted in favour of others: ids, as in {@link LockWait}. */
  aborted(by: readonly number[]): void
}
