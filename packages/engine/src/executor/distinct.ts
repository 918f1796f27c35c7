/**
 * The first row for each combination of the first columns. Of the rows (blue, ToDo:2), (red, ToDo:1), (red, ToDo:4) it gives
 * the first and the second.
 *
 * If a batch ends inside a combination, the rest of it is skipped by a seek. A cursor behind a result continues after the
 * whole combination (cursor.ts), so nothing is remembered between requests.
 */
import { type Steps, waitFor } from '../maybe-promise.ts'
import type { Plan } from '../planner/plan-node.ts'
import { afterAll, columnOffset } from './position.ts'
import { Operator, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMin = 4
const batchMax = 512

export class Distinct extends Operator {
  readonly #plan: Pick<Plan, 'columns' | 'reverse'>
  readonly #width: number
  #batch = batchMin
  #group: string | undefined

  constructor(input: RowStream, plan: Pick<Plan, 'columns' | 'reverse'>, width: number) {
    super(input)
    this.#plan = plan
    this.#width = width
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    for (;;) {
      const rows = yield* waitFor(this.input.next(Math.min(count, this.#batch)))
      const chosen = this.#choose(rows)
      if (chosen.length > 0 || rows.length === 0) return chosen
    }
  }

  #choose(rows: readonly PositionedRow[]): readonly PositionedRow[] {
    const chosen: PositionedRow[] = []
    const { columns, reverse } = this.#plan
    let repeats = false
    for (const row of rows) {
      repeats = this.#group !== undefined && row.position.startsWith(this.#group)
      if (repeats) continue
      this.#group = row.position.slice(0, columnOffset(columns, row.position, this.#width))
      chosen.push(row)
    }
    if (repeats && this.#group !== undefined) {
      this.input.seek(afterAll(this.#group, reverse))
      this.#batch = batchMin
    } else this.#batch = Math.min(this.#batch * 2, batchMax)
    return chosen
  }
}
