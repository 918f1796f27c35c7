/**
 * Keeps the first row of each entity in result order, if the entity has several. ToDo:1 with priority = [2, 5] has two rows
 * under `order by priority`; only the one with 2 is a result.
 *
 * A row whose columns are all single-valued is the entity's only one and passes. For others the entity is read, and its first
 * position is computed from its values: no answer rests on rows before, so it is the same for any page size and from any
 * cursor. A stale row, whose entity is gone or has other values, passes too: with a delayed apply policy an index may be
 * behind.
 *
 * An entity with 19,000 values has 19,000 rows, and walking its values for each would be 361 million steps. So the values of an entity with
 * many are walked once and kept, as hashes of 53 bits. Rows of several such entities may alternate, so all of them are kept, up to a limit
 * in bytes.
 *
 * F1  A row is dropped only if the entity has the values of its columns, and a matching row of the entity is before it.    first-row.test.ts
 *     (One exception: a stale row whose value has the hash of another one, with a probability of 2 in 10^12.)
 */
import type { RequestContext } from '../context.ts'
import { invert, sameBytes } from '../encoding/bytes.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import type { IndexEntry } from '../encoding/index-entry.ts'
import { isMulti } from '../encoding/value-codec.ts'
import { lowerBound } from '../lower-bound.ts'
import { type MaybePromise, type Steps, waitFor } from '../maybe-promise.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Column, Disjunct } from '../planner/normal-query.ts'
import type { Plan } from '../planner/plan-node.ts'
import { inSpans } from '../planner/spans.ts'
import { giveWay } from '../slices.ts'
import { decodeImage, entityRowKey } from '../tables/entities.ts'
import type { TableView } from '../tables/table.ts'
import { columnOffset, isBefore, pathOf } from './position.ts'
import { Operator, type PositionedRow, type RowStream } from './row-stream.ts'

/** Entities with fewer entries are walked again for each row. */
const manyEntries = 64
/** Bytes of entities and hashes that are kept, those of the newest entity at the least. */
const keptBytesMax = 64 * 1024 * 1024

export class FirstRow extends Operator {
  readonly #context: RequestContext
  readonly #view: TableView
  readonly #plan: Plan
  readonly #entriesOf: typeof indexEntries
  /** By path, the oldest first. */
  readonly #kept = new Map<string, LargeEntity>()
  #keptBytes = 0

  /** @param entriesOf - walks the values of an entity */
  constructor(
    input: RowStream,
    context: RequestContext,
    view: TableView,
    plan: Plan,
    entriesOf: typeof indexEntries = indexEntries,
  ) {
    super(input)
    this.#context = context
    this.#view = view
    this.#plan = plan
    this.#entriesOf = entriesOf
  }

  protected override *steps(count: number): Steps<readonly PositionedRow[]> {
    for (;;) {
      const rows = yield* waitFor(this.input.next(count))
      const chosen: PositionedRow[] = []
      for (const row of rows) {
        const { length } = this.#plan.columns
        if (!hasSeveral(row.cell, length)) chosen.push(row)
        else {
          const way = giveWay(this.#context, this.#judge(row, yield* waitFor(this.#readEntity(row)), chosen))
          if (way !== undefined) yield* waitFor(way)
        }
      }
      if (chosen.length > 0 || rows.length === 0) return chosen
    }
  }

  #readEntity({ position }: PositionedRow): MaybePromise<Uint8Array | undefined> {
    const { columns, partitionCode } = this.#plan
    return this.#view.get(this.#context, 'Entities', entityRowKey(partitionCode, pathOf(columns, position)))
  }

  /** @returns the work, in rows */
  #judge(row: PositionedRow, cell: Uint8Array | undefined, chosen: PositionedRow[]): number {
    if (cell === undefined) {
      chosen.push(row)
      return 1
    }
    const { position } = row
    const path = pathOf(this.#plan.columns, position)
    let large = this.#kept.get(path)
    let walked: readonly IndexEntry[] = []
    let image = large?.image
    if (large === undefined || image === undefined || !sameBytes(large.cell, cell)) {
      image = decodeImage(cell)
      walked = this.#entriesOf(image.properties, this.#plan.indexOptions)
      large = walked.length < manyEntries ? undefined : this.#keep(path, { cell, image, entries: walked })
    }
    const isOne = large === undefined ? isFirst(this.#plan, position, walked) : large.isFirst(position)
    if (isOne) chosen.push({ position, cell: row.cell, image })
    return 1 + walked.length
  }

  #keep(path: string, walked: WalkedEntity): LargeEntity {
    const entity = new LargeEntity(this.#plan, path, walked)
    this.#keptBytes += entity.bytes - (this.#kept.get(path)?.bytes ?? 0)
    this.#kept.delete(path)
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#keptBytes <= keptBytesMax) break
      this.#kept.delete(oldest)
      this.#keptBytes -= bytes
    }
    this.#kept.set(path, entity)
    return entity
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
  readonly bytes: number
  readonly #plan: Plan
  readonly #first: string | undefined
  /** Hashes of the value codes that the entity has, ascending, for each column. */
  readonly #codes: readonly Float64Array[]

  constructor(plan: Plan, path: string, { cell, image, entries }: WalkedEntity) {
    this.cell = cell
    this.image = image
    this.#plan = plan
    this.#first = firstPosition(plan, path, entries)
    this.#codes = plan.columns.map((column) => {
      const own = entries.filter(({ property }) => property === column.property)
      return Float64Array.from(own, ({ valueCode }) => hashOf(valueCode)).sort()
    })
    this.bytes = this.#codes.reduce((sum, { byteLength }) => sum + byteLength, cell.length)
  }

  isFirst(position: string): boolean {
    const { columns, reverse } = this.#plan
    if (this.#first === undefined || !isBefore(this.#first, position, reverse)) return true
    return columns.some((column, i) => {
      const code = codeAt(columns, position, i)
      return !has(this.#codes[i] as Float64Array, hashOf(column.inverted ? invert(code) : code))
    })
  }
}

/** Whether an ascending list has a number. */
function has(sorted: Float64Array, wanted: number): boolean {
  return sorted[lowerBound(sorted.length, (i) => (sorted[i] as number) < wanted)] === wanted
}

/** 53 bits of a byte string: two multiplicative hashes, mixed at the end. */
function hashOf(code: string): number {
  let [one, other] = [0x9e3779b9, 0x41c6ce57]
  for (let i = 0; i < code.length; i++) {
    const byte = code.charCodeAt(i)
    one = Math.imul(one ^ byte, 0x9e3779b1)
    other = Math.imul(other ^ byte, 0x5f356495)
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ (other >>> 13)
  other = Math.imul(other ^ (other >>> 16), 0xc2b2ae35) ^ (one >>> 15)
  return (other >>> 11) * 0x1_0000_0000 + (one >>> 0)
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
