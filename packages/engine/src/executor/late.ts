/**
 * Orders by properties after the key, as in `order by __key__, priority`. No table has rows that begin with a key, so each
 * entity is read.
 *
 *   everyRow    path ─▶ a row for each combination of the entity's values that the query allows: path c1, path c2, … Each is made when
 *               it is asked for: two arrays of 10,000 values have 100 million.
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
import { giveWay } from '../slices.ts'
import { decodeImage } from '../tables/entities.ts'
import { codeInColumn, isBefore, lateOffset } from './position.ts'
import { type Execution, noRows, Operator, type PositionedRow, type RowStream, readEntity } from './row-stream.ts'

export class Late extends Operator {
  readonly #execution: Execution
  readonly #plan: Plan
  readonly #node: LateNode
  /** Bounds of rows with all late columns; other bounds were given to the rows below. */
  readonly #bounds: Span | undefined
  /** Entities whose rows are not all given yet. */
  #entities: { readonly position: string; readonly rows: Iterator<PositionedRow> }[] = []
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
      const given = this.#given(count)
      if (given.length > 0) {
        yield* waitFor(giveWay(this.#execution.context, given.length))
        return given
      }
      const rows = yield* waitFor(this.input.next(count))
      if (rows.length === 0) return noRows
      for (const row of rows) this.#take(row, yield* waitFor(readEntity(this.#execution, row)))
    }
  }

  #given(count: number): readonly PositionedRow[] {
    const given: PositionedRow[] = []
    for (let first = this.#entities[0]; first !== undefined && given.length < count; first = this.#entities[0]) {
      const row = first.rows.next()
      if (row.done === true) this.#entities.shift()
      else given.push(row.value)
    }
    return given
  }

  #take(row: PositionedRow, cell: Uint8Array | undefined): void {
    if (cell === undefined) return
    const { lateColumns, indexOptions, everyRow } = this.#plan
    const image = decodeImage(cell)
    const entries = indexEntries(image.properties, indexOptions)
    const allowed = lateColumns.map((column, i) => this.#valuesOf(entries, column, i))
    if (allowed.some((values) => values.length === 0)) return
    const { position } = row
    const rows = everyRow ? this.#unfold(position, row.cell, allowed) : [{ position, cell: row.cell, image }].values()
    this.#entities.push({ position, rows })
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

  /** The rows that begin so, in their order; what is sought or has bounds skips whole branches. */
  *#unfold(
    position: string,
    cell: Uint8Array,
    [values, ...others]: readonly (readonly LateValue[])[],
  ): Generator<PositionedRow> {
    if (this.#isOutside(position, values === undefined)) return
    if (values === undefined) {
      yield { position, cell, image: undefined }
      return
    }
    for (const { code, typeByte } of values) {
      yield* this.#unfold(position + code, Uint8Array.of(...cell, typeByte), others)
    }
  }

  /** Whether the position, or each one that begins so, is before what is sought, or beyond the bounds. */
  #isOutside(position: string, isWhole: boolean): boolean {
    const bounds = this.#bounds
    if (this.#isPassed(position, isWhole)) return true
    if (bounds === undefined) return false
    return position >= bounds.upper || (position < bounds.lower && (isWhole || !bounds.lower.startsWith(position)))
  }

  #isPassed(position: string, isWhole: boolean): boolean {
    const sought = this.#sought
    if (sought === undefined || !isBefore(position, sought, this.#plan.reverse)) return false
    return isWhole || !sought.startsWith(position)
  }

  override seek(position: string): void {
    this.#sought = position
    const isWhole = !this.#plan.everyRow
    this.#entities = this.#entities.filter((entity) => !this.#isPassed(entity.position, isWhole))
    if (this.#entities.length === 0) this.input.seek(boundBelow(this.#plan, position))
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
