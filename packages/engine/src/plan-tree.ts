/** A plan in words, for reports and tools; planner/explain.ts makes it. */
import type { TableId } from './row.ts'

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
