/**
 * Details of one call for observers: rows by table, query plan, waits for other transactions, and the messages.
 *
 * The engine fills them in while the call runs (its request-trace.ts); watchedHandlers() adds the messages for all protocols.
 */
import { type LockWait, type PlanTree, type RequestTrace, type RowTally, TableLedger } from '@sixtables/engine'

/** A wait of a call; its times are on the clock of the call's start. */
export interface TracedWait extends LockWait {
  readonly fromMs: number
  toMs: number | undefined
}

/** Maximum number of waits: a call waits again after each commit that was ahead of it. */
const waitsMax = 20

export class CallTrace implements RequestTrace {
  readonly ledger: TableLedger = new TableLedger()
  plan: (() => PlanTree) | undefined
  /** Rows that its commit writes in the tables, immediately or when it is applied. */
  applied: RowTally | undefined
  abortedBy: readonly number[] | undefined
  readonly waited: TracedWait[] = []
  /** The messages, if an observer asks for them: views of the call's buffers. */
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

  get rowsApplied(): number {
    if (this.applied === undefined) return 0
    let rows = 0
    for (const { written, deleted } of Object.values(this.applied)) rows += written + deleted
    return rows
  }
}
