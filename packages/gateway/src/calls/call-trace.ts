/**
 * One call's doings, for observers that show them: rows by table, plan, waits for other transactions, and the messages.
 *
 * The engine tells it while the call runs (engine request-trace.ts); traced-handlers.ts shows it the messages,
 * whatever the protocol.
 */
import { type LockWait, type PlanTree, type RequestTrace, type RowTally, TableLedger } from '@sixtables/engine'

/** A wait of a call; times are of the same clock as its begin. */
export interface TracedWait extends LockWait {
  readonly fromMs: number
  toMs: number | undefined
}

/** A call waits once for each commit that passes it. */
const waitsMax = 20

export class CallTrace implements RequestTrace {
  readonly ledger: TableLedger = new TableLedger()
  /** Makes the plan of its query in words. */
  plan: (() => PlanTree) | undefined
  /** Rows that its commit writes in the tables, now or when it is applied. */
  applied: RowTally | undefined
  abortedBy: readonly number[] | undefined
  readonly waited: TracedWait[] = []
  /** The messages, where they are wanted, as they stand in the buffers of the call. */
  request: Uint8Array | undefined
  answer: Uint8Array | undefined
  readonly keepsMessages: boolean

  constructor(keepsMessages: boolean) {
    this.keepsMessages = keepsMessages
  }

  planned(tree: () => PlanTree): void {
    this.plan = tree
  }

  committed(rows: RowTally): void {
    this.applied = rows
  }

  waits(wait: LockWait): () => void {
    if (this.waited.length >= waitsMax) return () => {}
    const traced: TracedWait = { ...wait, fromMs: performance.now(), toMs: undefined }
    this.waited.push(traced)
    return () => {
      traced.toMs = performance.now()
    }
  }

  aborted(by: readonly number[]): void {
    this.abortedBy = by
  }

  /** Rows that its commit writes and deletes in the tables. */
  get rowsApplied(): number {
    if (this.applied === undefined) return 0
    let rows = 0
    for (const { written, deleted } of Object.values(this.applied)) rows += written + deleted
    return rows
  }
}
