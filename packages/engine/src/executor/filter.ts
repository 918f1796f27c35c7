/** Rows whose further columns, or paths, lie in given ranges: what a scan could not be confined to. */
import type { MaybePromise } from '../maybe-promise.ts'
import type { Column } from '../planner/normal-query.ts'
import type { FilterNode } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { columnOffset } from './position.ts'
import { noRows, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMax = 512

export class Filter implements RowStream {
  readonly #input: RowStream
  readonly #columns: readonly Column[]
  readonly #node: FilterNode

  constructor(input: RowStream, columns: readonly Column[], node: FilterNode) {
    this.#input = input
    this.#columns = columns
    this.#node = node
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    let batch = count
    for (;;) {
      const rows = this.#input.next(batch)
      if (rows instanceof Promise) return rows.then((late) => this.#resume(late, batch))
      const chosen = this.#choose(rows)
      if (chosen.length > 0 || rows.length === 0) return chosen
      // Nothing fits so far: look at more at a time.
      batch = Math.max(count, Math.min(batch * 2, batchMax))
    }
  }

  #resume(rows: readonly PositionedRow[], batch: number): MaybePromise<readonly PositionedRow[]> {
    const chosen = this.#choose(rows)
    return chosen.length > 0 || rows.length === 0 ? chosen : this.next(batch)
  }

  #choose(rows: readonly PositionedRow[]): readonly PositionedRow[] {
    if (rows.length === 0) return noRows
    return rows.filter((row) => this.#fits(row.position))
  }

  #fits(position: string): boolean {
    const { columnSpans, pathSpans } = this.#node
    for (let i = 0; i < columnSpans.length; i++) {
      const spans = columnSpans[i]
      if (spans !== undefined && !inSpans(spans, position.slice(columnOffset(this.#columns, position, i)))) return false
    }
    if (pathSpans === undefined) return true
    return inSpans(pathSpans, position.slice(columnOffset(this.#columns, position, this.#columns.length)))
  }

  seek(position: string): void {
    this.#input.seek(position)
  }

  close(): void {
    this.#input.close()
  }
}
