/**
 * A plain key-value store over wide rows: family `v` of each row, its newest cell. It writes counters and metadata, at timestamp 0. Rows of
 * entities are only read through it, in their newest state or at a version.
 *
 *   cell of `v`     01 + bytes of the value; empty = deleted at that version
 *
 * Unlike a store on disk, a scan is no snapshot: each row is of some moment after the start of the scan. A failed write does not make later
 * writes fail. A conditional write without an answer returns false, so that its caller reads again.
 */
import { invalidArgument, type KvWrite } from '@sixtables/engine'
import type { KeyRange, KvReader, KvRow, KvScan, RowKv, ScanOptions } from '@sixtables/engine/store'
import { type Cell, isKnownDone, newestIs, type RowKey, type RowStore, type Wanted } from './row-store.ts'

const present = 1

/** The cell of a row's value; an empty cell for `undefined`, a deleted row. */
export function valueCell(value: Uint8Array | undefined): Uint8Array {
  if (value === undefined) return new Uint8Array(0)
  const cell = new Uint8Array(value.length + 1)
  cell[0] = present
  cell.set(value, 1)
  return cell
}

/** The value in a cell; `undefined` for a deleted row and without a cell. */
export function valueInCell(cell: Cell | undefined): Uint8Array | undefined {
  return cell === undefined || cell.value.length === 0 ? undefined : cell.value.subarray(1)
}

/** Longest value in the condition of a write: a Bigtable's filters have at most 20 KiB, and contain the value twice. */
export const expectedBytesMax = 10_000

/** Rows at a version; `undefined` = their newest cells. */
export class RowsReader implements KvReader {
  readonly gathersReads = true
  readonly #rows: RowStore
  readonly #wanted: Wanted

  constructor(rows: RowStore, version: bigint | undefined) {
    this.#rows = rows
    this.#wanted = [{ family: 'v', newest: 1, ...(version === undefined ? {} : { until: version + 1n }) }]
  }

  async get(key: RowKey): Promise<Uint8Array | undefined> {
    const found = await this.#rows.readRows([key], this.#wanted)
    return valueInCell(found.get(key)?.cells.v?.[0])
  }

  async getAll(keys: readonly RowKey[]): Promise<(Uint8Array | undefined)[]> {
    const found = await this.cells(keys)
    return keys.map((key) => valueInCell(found.get(key)))
  }

  async cells(keys: readonly RowKey[]): Promise<ReadonlyMap<RowKey, Cell | undefined>> {
    const found = await this.#rows.readRows(keys, this.#wanted)
    return new Map([...found].map(([key, { cells }]) => [key, cells.v?.[0]]))
  }

  scan(range: KeyRange, options: ScanOptions = {}): KvScan {
    return new RowsScan(this.#rows, this.#wanted, range, options)
  }
}

export class RowsKv extends RowsReader implements RowKv {
  readonly rows: RowStore

  constructor(rows: RowStore) {
    super(rows, undefined)
    this.rows = rows
  }

  get location(): string {
    return this.rows.location
  }

  /** The rows at a version: of each the newest cell at or below it. */
  at(version: bigint): RowsReader {
    return new RowsReader(this.rows, version)
  }

  mutate(write: KvWrite): Promise<void> {
    return this.rows.mutateRows([{ key: write.key, changes: changesOf(write) }])
  }

  async mutateIf(write: KvWrite, expected: Uint8Array | undefined): Promise<boolean> {
    if (expected !== undefined && expected.length > expectedBytesMax) {
      throw invalidArgument(
        `a conditional write expects ${expected.length} bytes; at most ${expectedBytesMax} can be compared`,
      )
    }
    const condition = newestIs('v', expected === undefined ? undefined : valueCell(expected))
    return await isKnownDone(this.rows.mutateRowIf(write.key, condition, changesOf(write)))
  }

  close(): Promise<void> {
    return this.rows.close()
  }
}

function changesOf({ value }: KvWrite) {
  if (value === undefined) return [{ type: 'delete', family: 'v' } as const]
  return [{ type: 'set', family: 'v', at: 0n, value: valueCell(value) } as const]
}

const rowsAtFirst = 64
const rowsAtOnceMax = 10_000

/** A scan that requests as many rows as its caller expects, then four times as many each time; no stream stays open. */
class RowsScan implements KvScan {
  readonly #rows: RowStore
  readonly #wanted: Wanted
  readonly #range: KeyRange
  readonly #reverse: boolean
  readonly #expect: number
  #limit: number
  /** Rows that were read but not returned, from `#at` on. */
  #ahead: readonly KvRow[] = []
  #at = 0
  /** The rest of the range; `undefined` at its end. */
  #rest: KeyRange | undefined
  #closed = false

  constructor(rows: RowStore, wanted: Wanted, range: KeyRange, { reverse = false, expect = rowsAtFirst }: ScanOptions) {
    this.#rows = rows
    this.#wanted = wanted
    this.#range = range
    this.#reverse = reverse
    this.#expect = Math.max(1, Math.min(expect, rowsAtOnceMax))
    this.#limit = this.#expect
    this.#rest = range
  }

  async next(count: number): Promise<readonly KvRow[]> {
    while (this.#at === this.#ahead.length && this.#rest !== undefined && !this.#closed) {
      const range = this.#rest
      const found = await this.#rows.scanRows({
        range,
        reverse: this.#reverse,
        limit: this.#limit,
        wanted: this.#wanted,
      })
      // A seek has changed the range meanwhile.
      if (this.#rest === range) this.#take(range, found)
    }
    if (this.#closed) return []
    const given = this.#ahead.slice(this.#at, this.#at + count)
    this.#at += given.length
    return given
  }

  seek(key: RowKey): void {
    const { start, end } = this.#range
    this.#ahead = []
    this.#at = 0
    this.#limit = this.#expect
    if (this.#reverse) this.#rest = { start, end: key < end ? `${key}\x00` : end }
    else this.#rest = { start: key > start ? key : start, end }
  }

  close(): void {
    this.#closed = true
  }

  #take(range: KeyRange, found: Awaited<ReturnType<RowStore['scanRows']>>): void {
    const last = found.at(-1)?.key
    if (last === undefined || found.length < this.#limit) this.#rest = undefined
    else this.#rest = this.#reverse ? { start: range.start, end: last } : { start: `${last}\x00`, end: range.end }
    this.#limit = Math.min(this.#limit * 4, rowsAtOnceMax)
    const rows: KvRow[] = []
    for (const { key, cells } of found) {
      const value = valueInCell(cells.v?.[0])
      if (value !== undefined) rows.push({ key, value })
    }
    this.#ahead = rows
    this.#at = 0
  }
}
