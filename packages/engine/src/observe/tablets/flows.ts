/**
 * The running flows of a fleet: operations that stand for many, spread evenly over a time.
 *
 *   a put with weight 10 and spreadMs 60,000  ─▶  1/30 write in each tick of 200 ms
 *
 * A tick reads the sum of each tablet, and never each flow: after a quiet minute 300 ticks of thousands of flows are due in one turn.
 */
import { getOrInsert } from '../../get-or-insert.ts'
import type { RowKey } from '../../storage/kv.ts'
import type { Load, Tablet } from './tablet.ts'

/** Reads, writes and bytes are per tick. */
export interface Flow extends Load {
  readonly rowKey: RowKey
  /** Cost for its server, row operations a second. */
  readonly costPerSecond: number
  readonly endsMs: number
  /** The tablet of its row, also after splits and merges. */
  tablet: Tablet
}

/** All flows of a tablet per tick. */
type FlowSum = { -readonly [measure in keyof Load]: number } & { flows: number }

export class RunningFlows {
  readonly sums: Map<Tablet, FlowSum> = new Map()
  readonly #byEnd = new Map<number, Flow[]>()

  get size(): number {
    return this.#byEnd.size
  }

  add(flow: Flow): void {
    getOrInsert(this.#byEnd, flow.endsMs, () => []).push(flow)
    this.#sum(flow, 1)
  }

  clear(): void {
    this.sums.clear()
    this.#byEnd.clear()
  }

  of(tablet: Tablet): readonly Flow[] {
    if (!this.sums.has(tablet)) return []
    return [...this.#byEnd.values()].flat().filter((flow) => flow.tablet === tablet)
  }

  give(flow: Flow, tablet: Tablet): void {
    this.#sum(flow, -1)
    flow.tablet = tablet
    this.#sum(flow, 1)
  }

  /** The instants at which flows end, ascending. */
  ends(): readonly number[] {
    return [...this.#byEnd.keys()].sort((a, b) => a - b)
  }

  /** Removes the flows that end at an instant or before. */
  takeEnded(atMs: number): readonly Flow[] {
    const over: Flow[] = []
    for (const [endsMs, flows] of this.#byEnd) {
      if (endsMs > atMs) continue
      this.#byEnd.delete(endsMs)
      for (const flow of flows) {
        this.#sum(flow, -1)
        over.push(flow)
      }
    }
    return over
  }

  #sum({ tablet, reads, writes, bytes }: Flow, sign: 1 | -1): void {
    const sum = getOrInsert(this.sums, tablet, () => ({ flows: 0, reads: 0, writes: 0, bytes: 0 }))
    sum.flows += sign
    // Fractions may leave a little less than nothing.
    sum.reads = Math.max(0, sum.reads + sign * reads)
    sum.writes = Math.max(0, sum.writes + sign * writes)
    sum.bytes = Math.max(0, sum.bytes + sign * bytes)
    if (sum.flows === 0) this.sums.delete(tablet)
  }
}
