/**
 * Keeps the first row of each entity in result order, if the entity has several. ToDo:1 with priority = [2, 5] has two rows
 * under `order by priority`; only the one with 2 is a result.
 *
 * A row whose columns are all single-valued is the entity's only one and passes. For others the entity is read, and its first
 * position is computed from its values: no answer rests on rows before, so it is the same for any page size and from any
 * cursor. A stale row, whose entity is gone or has other values, passes too: with a delayed apply policy an index may be
 * behind.
 *
 * The values of an entity with many are kept for its other rows: 19,000 rows of one entity would walk its 19,000 values each.
 *
 * F1  A row is dropped only if the entity has the values of its columns, and a matching row of the entity is before it.
 *     first-row.test.ts
 */
import type { RequestContext } from '../context.ts'
import { invert, sameBytes } from '../encoding/bytes.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import { isMulti } from '../encoding/value-codec.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Column, Disjunct } from '../planner/normal-query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { decodeImage, entityRowKey } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import { columnOffset, isBefore, pathOf } from './position.ts'
import type { PositionedRow, RowStream } from './row-stream.ts'

/** Entities with fewer entries are walked again for each row. */
const manyEntries = 64
/** Entries of entities that are kept, the newest of them at the least. */
const keptEntriesMax = 100_000

export class FirstRow implements RowStream {
  readonly #input: RowStream
  readonly #context: RequestContext
  readonly #view: TableView
  readonly #plan: Plan
  readonly #entriesOf: typeof indexEntries
  /** By path, the oldest first. */
  readonly #kept = new Map<string, LargeEntity>()
  #keptEntries = 0

  /** @param entriesOf - walks the values of an entity */
  constructor(
    input: RowStream,
    context: RequestContext,
    view: TableView,
    plan: Plan,
    entriesOf: typeof indexEntries = indexEntries,
  ) {
    this.#input = input
    this.#context = context
    this.#view = view
    this.#plan = plan
    this.#entriesOf = entriesOf
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    return runSteps(this.#next(count))
  }

  *#next(count: number): Steps<readonly PositionedRow[]> {
    for (;;) {
      const rows = yield* waitFor(this.#input.next(count))
      const chosen: PositionedRow[] = []
      for (const row of rows) {
        const { length } = this.#plan.columns
        if (!hasSeveral(row.cell, length)) chosen.push(row)
        else this.#judge(row, yield* waitFor(this.#readEntity(row)), chosen)
      }
      if (chosen.length > 0 || rows.length === 0) return chosen
    }
  }

  #readEntity({ position }: PositionedRow): MaybePromise<Uint8Array | undefined> {
    const { columns, partitionCode } = this.#plan
    return this.#view.get(this.#context, 'Entities', entityRowKey(partitionCode, pathOf(columns, position)))
  }

  #judge(row: PositionedRow, cell: Uint8Array | undefined, chosen: PositionedRow[]): void {
    if (cell === undefined) {
      chosen.push(row)
      return
    }
    const { position } = row
    const path = pathOf(this.#plan.columns, position)
    const kept = this.#kept.get(path)
    if (kept !== undefined && sameBytes(kept.cell, cell)) {
      if (kept.isFirst(position)) chosen.push({ position, cell: row.cell, image: kept.image })
      return
    }
    const image = decodeImage(cell)
    const entries = this.#entriesOf(image.properties, this.#plan.indexOptions)
    if (entries.length >= manyEntries) this.#keep(path, new LargeEntity(this.#plan, path, { cell, image, entries }))
    if (isFirst(this.#plan, position, entries)) chosen.push({ position, cell: row.cell, image })
  }

  #keep(path: string, entity: LargeEntity): void {
    this.#keptEntries += entity.size - (this.#kept.get(path)?.size ?? 0)
    this.#kept.delete(path)
    for (const [oldest, { size }] of this.#kept) {
      if (this.#keptEntries <= keptEntriesMax) break
      this.#kept.delete(oldest)
      this.#keptEntries -= size
    }
    this.#kept.set(path, entity)
  }

  seek(position: string): void {
    this.#input.seek(position)
  }

  close(): void {
    this.#input.close()
  }
}

interface WalkedEntity {
  readonly cell: Uint8Array
  readonly image: EntityImage
  readonly entries: readonly IndexEntry[]
}

/** An entity whose values are walked once: then {@link isFirst} is one look for each of its rows. */
class LargeEntity {
  readonly cell: Uint8Array
  readonly image: EntityImage
  readonly size: number
  readonly #plan: Plan
  readonly #first: string | undefined
  /** The codes that the entity has, for each column. */
  readonly #codes: readonly ReadonlySet<string>[]

  constructor(plan: Plan, path: string, { cell, image, entries }: WalkedEntity) {
    this.cell = cell
    this.image = image
    this.size = entries.length
    this.#plan = plan
    this.#first = firstPosition(plan, path, entries)
    this.#codes = plan.columns.map((column) => {
      const own = entries.filter(({ property }) => property === column.property)
      return new Set(own.map((entry) => codeOf(column, entry)))
    })
  }

  isFirst(position: string): boolean {
    const { columns, reverse } = this.#plan
    if (this.#first === undefined || !isBefore(this.#first, position, reverse)) return true
    return columns.some((_, i) => this.#codes[i]?.has(codeAt(columns, position, i)) === false)
  }
}

/** Whether one of the last `count` type bytes says that its property has several values. */
function hasSeveral(cell: Uint8Array, count: number): boolean {
  for (let i = cell.length - count; i < cell.length; i++) if (isMulti(cell[i] as number)) return true
  return false
}

/** Whether the row at `position` is the entity's first matching one; true also for a stale row. */
export function isFirst(plan: Plan, position: string, entries: readonly IndexEntry[]): boolean {
  const { columns, reverse } = plan
  const path = pathOf(columns, position)
  const first = firstPosition(plan, path, entries)
  if (first === undefined || !isBefore(first, position, reverse)) return true
  return columns.some((column, i) => {
    const code = codeAt(columns, position, i)
    return !entries.some((entry) => entry.property === column.property && codeOf(column, entry) === code)
  })
}

function codeAt(columns: readonly Column[], position: string, i: number): string {
  return position.slice(columnOffset(columns, position, i), columnOffset(columns, position, i + 1))
}

/** The first position at which an entity with these entries matches; `undefined` if there is none. */
export function firstPosition(plan: Plan, path: string, entries: readonly IndexEntry[]): string | undefined {
  let first: string | undefined
  for (const disjunct of plan.disjuncts) {
    const position = positionIn(disjunct, plan, path, entries)
    if (position !== undefined && (first === undefined || isBefore(position, first, plan.reverse))) first = position
  }
  return first
}

function positionIn(
  disjunct: Disjunct,
  { columns, lateColumns, reverse }: Plan,
  path: string,
  entries: readonly IndexEntry[],
): string | undefined {
  for (const { property, code } of disjunct.equalities) {
    if (!entries.some((entry) => entry.property === property && entry.valueCode === code)) return undefined
  }
  if (disjunct.pathSpans !== undefined && !inSpans(disjunct.pathSpans, path)) return undefined
  for (const [i, column] of lateColumns.entries()) {
    if (!entries.some((entry) => entry.property === column.property && fitsLate(disjunct, i, codeOf(column, entry)))) {
      return undefined
    }
  }
  let position = ''
  for (const [i, column] of columns.entries()) {
    const spans = disjunct.columnSpans[i]
    let best: string | undefined
    for (const entry of entries) {
      if (entry.property !== column.property) continue
      const code = codeOf(column, entry)
      if (spans !== undefined && !inSpans(spans, code)) continue
      if (best === undefined || isBefore(code, best, reverse)) best = code
    }
    if (best === undefined) return undefined
    position += best
  }
  return position + path
}

function fitsLate({ lateSpans }: Disjunct, column: number, code: string): boolean {
  const spans = lateSpans[column]
  return spans === undefined || inSpans(spans, code)
}

function codeOf(column: Column, entry: IndexEntry): string {
  return column.inverted ? invert(entry.valueCode) : entry.valueCode
}
