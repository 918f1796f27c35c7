/**
 * Keeps the rows whose further columns, or paths, are in given ranges. With `a > 1 AND b < 5` a scan reads the rows of a > 1,
 * and this operator keeps those with b < 5.
 */
import { type Steps, waitFor } from '../maybe-promise.ts'
import type { FilterNode, Plan } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { columnOffset, isBefore } from './position.ts'
import { noRows, Operator, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMax = 512

export class Filter extends Operator {
  readonly #plan: Pick<Plan, 'columns' | 'reverse'>
  readonly #node: FilterNode
  #ready: readonly PositionedRow[] = noRows

  constructor(input: RowStream, plan: Pick<Plan, 'columns' | 'reverse'>, node: FilterNode) {
    super(input)
    this.#plan = plan
    this.#node = node
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    if (this.#ready.length > 0) return this.#give(this.#ready, count)
    // As long as no row matches, each step reads more rows.
    for (let batch = count; ; batch = Math.max(batch, Math.min(batch * 2, batchMax))) {
      const rows = yield* waitFor(this.input.next(batch))
      const chosen = rows.filter(({ position }) => this.#fits(position))
      if (chosen.length > 0 || rows.length === 0) return this.#give(chosen, count)
    }
  }

  #give(rows: readonly PositionedRow[], count: number): readonly PositionedRow[] {
    this.#ready = rows.length > count ? rows.slice(count) : noRows
    return rows.length > count ? rows.slice(0, count) : rows
  }

  #fits(position: string): boolean {
    const { columns } = this.#plan
    const { columnSpans, pathSpans } = this.#node
    for (let i = 0; i < columnSpans.length; i++) {
      const spans = columnSpans[i]
      if (spans !== undefined && !inSpans(spans, position.slice(columnOffset(columns, position, i)))) return false
    }
    if (pathSpans === undefined) return true
    return inSpans(pathSpans, position.slice(columnOffset(columns, position, columns.length)))
  }

  override seek(position: string): void {
    this.#ready = this.#ready.filter((row) => !isBefore(row.position, position, this.#plan.reverse))
    // If such rows remain, the input is past the position, and a seek to it has no effect.
    super.seek(position)
  }
}
