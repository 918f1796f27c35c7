/**
 * Keeps the rows whose further columns, or paths, are in given ranges. With `a > 1 AND b < 5` a scan reads the rows of a > 1,
 * and this operator keeps those with b < 5.
 */
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { Column } from '../planner/normal-query.ts'
import type { FilterNode } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { columnOffset, isBefore } from './position.ts'
import { noRows, type PositionedRow, type RowStream } from './row-stream.ts'

const batchMax = 512

export class Filter implements RowStream {
  readonly #input: RowStream
  readonly #columns: readonly Column[]
  readonly #node: FilterNode
  readonly #reverse: boolean
  /** Matching rows beyond the number that was asked for. */
  #ready: readonly PositionedRow[] = noRows

  constructor(input: RowStream, columns: readonly Column[], node: FilterNode, reverse: boolean) {
    this.#input = input
    this.#columns = columns
    this.#node = node
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    return this.#ready.length > 0 ? this.#give(this.#ready, count) : runSteps(this.#read(count))
  }

  *#read(count: number): Steps<readonly PositionedRow[]> {
    for (let batch = count; ; batch = largerBatch(batch)) {
      const rows = yield* waitFor(this.#input.next(batch))
      const chosen = this.#choose(rows)
      if (chosen.length > 0 || rows.length === 0) return this.#give(chosen, count)
    }
  }

  #give(rows: readonly PositionedRow[], count: number): readonly PositionedRow[] {
    this.#ready = rows.length > count ? rows.slice(count) : noRows
    return rows.length > count ? rows.slice(0, count) : rows
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
    this.#ready = this.#ready.filter((row) => !isBefore(row.position, position, this.#reverse))
    // If such rows remain, the input is past the position, and a seek to it has no effect.
    this.#input.seek(position)
  }

  close(): void {
    this.#input.close()
  }
}

/** As long as no row matches, each step reads more rows. */
function largerBatch(batch: number): number {
  return Math.max(batch, Math.min(batch * 2, batchMax))
}
