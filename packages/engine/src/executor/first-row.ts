/**
 * Keeps the first row of each entity in result order, if the entity has several. ToDo:1 with priority = [2, 5] has two rows
 * under `order by priority`; only the one with 2 is a result.
 *
 * A row whose columns are all single-valued is the entity's only one and passes. For others the entity is read, and its first
 * position is computed from its values: no answer rests on rows before, so it is the same for any page size and from any
 * cursor. A stale row, whose entity is gone or has other values, passes too: with a delayed apply policy an index may be
 * behind.
 *
 * An entity with 19,000 values has 19,000 rows, and walking its values for each would be 361 million steps. So an entity with many
 * values is walked once and kept. Rows of several such entities may alternate, so all of them are kept, up to a limit in bytes.
 *
 * F1  A row is dropped only if the entity has the values of its columns, and a matching row of the entity is before it.    first-row.test.ts
 */
import { sameBytes } from '../encoding/bytes.ts'
import { type IndexEntry, indexEntries } from '../encoding/index-entries.ts'
import { isMulti } from '../encoding/value-codec.ts'
import { type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Disjunct } from '../planner/normal-query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { giveWay } from '../slices.ts'
import { decodeImage } from '../tables/entities.ts'
import { codeInColumn, columnOffset, isBefore, pathIn } from './position.ts'
import { type Execution, Operator, type PositionedRow, type RowStream, readEntity } from './row-stream.ts'

/** Entities with fewer entries are walked again for each row. */
const manyEntries = 64
/** Bytes of entities and their codes that are kept, those of the newest entity at the least. */
const keptBytesMax = 64 * 1024 * 1024
/** Estimated bytes of a code besides its characters. */
const codeBytes = 64

export class FirstRow extends Operator {
  readonly #execution: Execution
  readonly #entriesOf: typeof indexEntries
  /** By path, the oldest first. */
  readonly #kept = new Map<string, WalkedEntity>()
  #keptBytes = 0

  /** @param entriesOf - walks the values of an entity */
  constructor(input: RowStream, execution: Execution, entriesOf: typeof indexEntries = indexEntries) {
    super(input)
    this.#execution = execution
    this.#entriesOf = entriesOf
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    const { context, plan } = this.#execution
    for (;;) {
      const rows = yield* waitFor(this.input.next(count))
      const chosen: PositionedRow[] = []
      for (const row of rows) {
        if (!hasSeveral(row.cell, plan.columns.length)) chosen.push(row)
        else {
          const cell = yield* waitFor(readEntity(this.#execution, row))
          const way = giveWay(context, this.#judge(row, cell, chosen))
          if (way !== undefined) yield* waitFor(way)
        }
      }
      if (chosen.length > 0 || rows.length === 0) return chosen
    }
  }

  /** @returns the work, in rows */
  #judge(row: PositionedRow, cell: Uint8Array | undefined, chosen: PositionedRow[]): number {
    if (cell === undefined) {
      chosen.push(row)
      return 1
    }
    const { plan } = this.#execution
    const path = pathIn(plan, row.position)
    let entity = this.#kept.get(path)
    let work = 1
    if (entity === undefined || !sameBytes(entity.cell, cell)) {
      const image = decodeImage(cell)
      const entries = this.#entriesOf(image.properties, plan.indexOptions)
      entity = new WalkedEntity(plan, path, cell, image, entries)
      work += entries.length
      if (entries.length >= manyEntries) this.#keep(path, entity)
    }
    if (entity.isFirst(row.position)) chosen.push({ position: row.position, cell: row.cell, image: entity.image })
    return work
  }

  #keep(path: string, entity: WalkedEntity): void {
    entity.shrink()
    this.#keptBytes += entity.bytes - (this.#kept.get(path)?.bytes ?? 0)
    this.#kept.delete(path)
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= keptBytesMax) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes
    }
    this.#kept.set(path, entity)
  }
}

/** An entity with its index entries and its first position, which decide about each of its rows. */
class WalkedEntity {
  readonly cell: Uint8Array
  readonly image: EntityImage
  bytes = 0
  readonly #plan: Plan
  #entries: readonly IndexEntry[]
  readonly #first: string | undefined
  /** The codes of the entity's values for each column, in place of the entries of a kept one. */
  #codes: readonly ReadonlySet<string>[] | undefined

  constructor(plan: Plan, path: string, cell: Uint8Array, image: EntityImage, entries: readonly IndexEntry[]) {
    this.cell = cell
    this.image = image
    this.#plan = plan
    this.#entries = entries
    this.#first = firstPosition(plan, path, entries)
  }

  shrink(): void {
    this.bytes = this.cell.length
    this.#codes = this.#plan.columns.map((column) => {
      const codes = new Set<string>()
      for (const entry of this.#entries) {
        if (entry.property === column.property) codes.add(codeInColumn(column, entry))
      }
      for (const { length } of codes) this.bytes += codeBytes + length
      return codes
    })
    this.#entries = []
  }

  /** Whether the row at `position` is the entity's first matching one; true also for a stale row. */
  isFirst(position: string): boolean {
    const { columns, reverse } = this.#plan
    if (this.#first === undefined || !isBefore(this.#first, position, reverse)) return true
    return columns.some((column, i) => {
      const code = position.slice(columnOffset(columns, position, i), columnOffset(columns, position, i + 1))
      if (this.#codes !== undefined) return !this.#codes[i]?.has(code)
      return !this.#entries.some((entry) => entry.property === column.property && codeInColumn(column, entry) === code)
    })
  }
}

/** Whether one of the last `count` type bytes says that its property has several values. */
function hasSeveral(cell: Uint8Array, count: number): boolean {
  for (let i = cell.length - count; i < cell.length; i++) if (isMulti(cell[i] as number)) return true
  return false
}

function firstPosition(plan: Plan, path: string, entries: readonly IndexEntry[]): string | undefined {
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
    const spans = disjunct.lateSpans[i]
    const fits = (entry: IndexEntry): boolean =>
      entry.property === column.property && (spans === undefined || inSpans(spans, codeInColumn(column, entry)))
    if (!entries.some(fits)) return undefined
  }
  let position = ''
  for (const [i, column] of columns.entries()) {
    const spans = disjunct.columnSpans[i]
    let best: string | undefined
    for (const entry of entries) {
      if (entry.property !== column.property) continue
      const code = codeInColumn(column, entry)
      if (spans !== undefined && !inSpans(spans, code)) continue
      if (best === undefined || isBefore(code, best, reverse)) best = code
    }
    if (best === undefined) return undefined
    position += best
  }
  return position + path
}
