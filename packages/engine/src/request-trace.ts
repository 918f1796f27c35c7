/**
 * The steps of a request beyond its answer, for tools that show them: plan, rows of its commit, waits, lost conflicts.
 *
 *   request ─▶ context.trace?.planned() … waits() … committed() … aborted()
 *
 * Without a trace a request pays one test at each of these places. A trace is called in the turn of the event; it must
 * neither throw nor wait.
 */
import type { TableId } from './row.ts'

/** A plan in words; planner/explain.ts makes it. */
export interface PlanTree {
  readonly source: PlanStep
  /** The steps after the source, one line each. */
  readonly results: readonly string[]
}

export interface PlanStep {
  /** Type of the node, such as `scan` (planner/plan-node.ts). */
  readonly type: string
  readonly words: string
  readonly table?: TableId
  /** The composite index of a scan, in words. */
  readonly index?: string
  readonly inputs: readonly PlanStep[]
}

/** The rows that a change writes and deletes, in each table that it touches. */
export type RowTally = Partial<Record<TableId, { written: number; deleted: number }>>

/** A wait for other transactions, given by their ids; 0 is a write outside of transactions. */
export interface LockWait {
  readonly waiter: number
  readonly holders: readonly number[]
  readonly row: string
}

export interface RequestTrace {
  /** A query is about to be read; after a second plan the last one counts. @param tree - makes the plan in words */
  planned(tree: () => PlanTree): void
  /** A commit is being written. @param rows - of the six tables, written and deleted now or when the commit is applied */
  committed(rows: RowTally): void
  /** The request waits from now on. @returns a function to call when it no longer does */
  waits(wait: LockWait): () => void
  /** Its transaction was aborted in favour of others: ids, as in {@link LockWait}. */
  aborted(by: readonly number[]): void
}
