/**
 * Orders by properties after the key, as in `order by __key__, priority`. No table has rows that begin with a key, so each
 * entity is read.
 *
 *   everyRow    path ─▶ a row for each combination of the entity's values that the query allows: path c1, path c2, …
 *   otherwise   path ─▶ the same row, if the entity has a value that the query allows in each late column
 *
 * If the entity is gone or has changed under a delayed apply policy, its state now decides.
 */
import { type IndexEntry, indexEntries } from '../encoding/index-entries.ts'
import { typeByteOf } from '../encoding/value-codec.ts'
import { type Steps, waitFor } from '../maybe-promise.ts'
import type { Column } from '../planner/normal-query.ts'
import type { LateNode, Plan } from '../planner/plan-node.ts'
import { codesEnd, inSpans, type Span } from '../planner/spans.ts'
import { decodeImage } from '../tables/entities.ts'
import { codeInColumn, isBefore, lateOffset } from './position.ts'
import { type Execution, noRows, Operator, type PositionedRow, type RowStream, readEntity } from './row-stream.ts'

export class Late extends Operator {
  readonly #execution: Execution
  readonly #plan: Plan
  readonly #node: LateNode
  /** Bounds of rows with all late columns; other bounds were given to the rows below. */
  readonly #bounds: Span | undefined
  /** Rows that were made but not given yet. */
  #ready: PositionedRow[] = []
  #sought: string | undefined

  constructor(input: RowStream, execution: Execution, node: LateNode, bounds: Span | undefined) {
    super(input)
    this.#execution = execution
    this.#plan = execution.plan
    this.#node = node
    this.#bounds = this.#plan.everyRow ? bounds : undefined
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    for (;;) {
      if (this.#ready.length > 0) return this.#ready.splice(0, count)
      const rows = yield* waitFor(this.input.next(count))
      if (rows.length === 0) return noRows
      for (const row of rows) this.#take(row, yield* waitFor(readEntity(this.#execution, row)))
    }
  }

  #take(row: PositionedRow, cell: Uint8Array | undefined): void {
    if (cell === undefined) return
    const { lateColumns, indexOptions, everyRow } = this.#plan
    const image = decodeImage(cell)
    const entries = indexEntries(image.properties, indexOptions)
    const allowed = lateColumns.map((column, i) => this.#valuesOf(entries, column, i))
    if (allowed.some((values) => values.length === 0)) return
    if (everyRow) this.#unfold(row, allowed)
    else this.#ready.push({ position: row.position, cell: row.cell, image })
  }

  #valuesOf(entries: readonly IndexEntry[], column: Column, index: number): readonly LateValue[] {
    const spans = this.#node.lateSpans[index]
    const values: LateValue[] = []
    for (const entry of entries) {
      if (entry.property !== column.property) continue
      const code = codeInColumn(column, entry)
      if (spans === undefined || inSpans(spans, code))
        values.push({ code, typeByte: typeByteOf(entry.type, entry.multi) })
    }
    return values.sort((a, b) => (isBefore(a.code, b.code, this.#plan.reverse) ? -1 : 1))
  }

  #unfold(row: PositionedRow, allowed: readonly (readonly LateValue[])[]): void {
    let rows: readonly { readonly codes: string; readonly types: readonly number[] }[] = [{ codes: '', types: [] }]
    for (const values of allowed) {
      rows = rows.flatMap(({ codes, types }) =>
        values.map(({ code, typeByte }) => ({ codes: codes + code, types: [...types, typeByte] })),
      )
    }
    const bounds = this.#bounds
    for (const { codes, types } of rows) {
      const position = row.position + codes
      if (this.#sought !== undefined && isBefore(position, this.#sought, this.#plan.reverse)) continue
      if (bounds !== undefined && (position < bounds.lower || position >= bounds.upper)) continue
      this.#ready.push({ position, cell: Uint8Array.of(...row.cell, ...types), image: undefined })
    }
  }

  override seek(position: string): void {
    const { reverse } = this.#plan
    this.#sought = position
    this.#ready = this.#ready.filter((row) => !isBefore(row.position, position, reverse))
    if (this.#ready.length === 0) this.input.seek(boundBelow(this.#plan, position))
  }
}

interface LateValue {
  readonly code: string
  readonly typeByte: number
}

/**
 * The bounds for the rows below late columns: whole entities, even if a bound divides the rows of one. A row below sorts
 * before all positions made from it.
 */
export function boundsBelow(plan: Plan, bounds: Span | undefined): Span | undefined {
  if (bounds === undefined) return bounds
  const { lower, upper } = bounds
  const row = boundBelow(plan, upper)
  return { lower: boundBelow(plan, lower), upper: plan.reverse && row !== upper ? row + codesEnd : upper }
}

/** The part of a bound that is a position of a row below; other bounds unchanged. */
function boundBelow(plan: Plan, bound: string): string {
  const { columns, lateColumns, everyRow } = plan
  if (!everyRow) return bound
  try {
    return bound.slice(0, lateOffset({ columns, lateColumns }, bound, 0))
  } catch {
    // The bound ends before its path does: it is a start of positions, or the beginning of all.
    return bound
  }
}
