/**
 * Wide rows in memory (row-store.ts). Several handles may use the same rows, like gateways on one Bigtable; the seam of each handle decides
 * when an operation takes effect, and whether its answer arrives.
 *
 *   MemoryRows ── through(seam) ──▶ RowStore       a seam gets each operation on one row, or one scan
 *
 * row-store/RS1 and row-store/RS2 are true because an effect runs in one turn of the event loop.
 */
import { Buffer } from 'node:buffer'
import { BTree, type KeyRange, type RowKey, TreeScan } from '@sixtables/engine/store'
import {
  type Cell,
  type CellChange,
  checkRowKey,
  type Family,
  type Row,
  type RowChange,
  type RowCondition,
  type RowScan,
  type RowStore,
  rowStoreClosed,
  type Wanted,
} from './row-store.ts'

/** One operation of a store of rows, before it takes effect. */
export interface RowOperationCall {
  /** Only `mutateIf` may not be repeated. */
  readonly kind: 'read' | 'scan' | 'mutate' | 'mutateIf'
  /** The row; the start of the range in a scan. */
  readonly key: RowKey
}

/** Runs the effect of an operation, now or later, and answers. */
export type RowSeam = <T>(call: RowOperationCall, effect: () => T) => Promise<T>

/** Cells of a family, newest first. */
type StoredRow = Map<Family, Cell[]>

const atOnce: RowSeam = async (_call, effect) => effect()

export class MemoryRows implements RowStore {
  readonly location = 'rows in memory'
  readonly #rows: BTree<StoredRow>
  readonly #seam: RowSeam
  readonly clockMicros?: () => Promise<bigint>
  readonly #nowMicros: (() => bigint) | undefined
  #closed = false

  /** @param nowMicros - the clock of the store; absent = it has none */
  constructor(seam: RowSeam = atOnce, rows: BTree<StoredRow> = new BTree(), nowMicros?: () => bigint) {
    this.#seam = seam
    this.#rows = rows
    this.#nowMicros = nowMicros
    if (nowMicros !== undefined) this.clockMicros = () => this.#run('read', 'M', nowMicros)
  }

  /** Another handle of the same rows. */
  through(seam: RowSeam): MemoryRows {
    return new MemoryRows(seam, this.#rows, this.#nowMicros)
  }

  async readRows(keys: readonly RowKey[], wanted: Wanted): Promise<ReadonlyMap<RowKey, Row>> {
    const found = new Map<RowKey, Row>()
    const read = async (key: RowKey): Promise<void> => {
      const row = await this.#run('read', key, () => this.#wantedOf(key, this.#rows.get(key), wanted))
      if (row !== undefined) found.set(key, row)
    }
    await Promise.all([...new Set(keys)].map(read))
    return found
  }

  scanRows({ range, reverse = false, limit, wanted }: RowScan): Promise<readonly Row[]> {
    return this.#run('scan', range.start, () => this.#scan(range, reverse, limit, wanted))
  }

  async mutateRows(rows: readonly RowChange[]): Promise<void> {
    for (const { key } of rows) checkRowKey(key)
    await Promise.all(rows.map(({ key, changes }) => this.#run('mutate', key, () => this.#change(key, changes))))
  }

  async mutateRowIf(key: RowKey, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean> {
    checkRowKey(key)
    return await this.#run('mutateIf', key, () => {
      if (!holds(this.#rows.get(key), condition)) return false
      this.#change(key, changes)
      return true
    })
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  async #run<T>(kind: RowOperationCall['kind'], key: RowKey, effect: () => T): Promise<T> {
    if (this.#closed) throw rowStoreClosed(this.location)
    return await this.#seam({ kind, key }, effect)
  }

  #scan(range: KeyRange, reverse: boolean, limit: number, wanted: Wanted): readonly Row[] {
    const found: Row[] = []
    const view = this.#rows.view()
    try {
      const scan = new TreeScan(view, range, reverse)
      for (let [row] = scan.next(1); row !== undefined && found.length < limit; [row] = scan.next(1)) {
        const one = this.#wantedOf(row.key, row.value, wanted)
        if (one !== undefined) found.push(one)
      }
    } finally {
      this.#rows.release(view)
    }
    return found
  }

  #wantedOf(key: RowKey, row: StoredRow | undefined, wanted: Wanted): Row | undefined {
    const cells: Partial<Record<Family, readonly Cell[]>> = {}
    let isEmpty = true
    for (const { family, from = 0n, until, newest, withoutValues = false } of wanted) {
      const inRange = row?.get(family)?.filter(({ at }) => at >= from && (until === undefined || at < until))
      const taken = newest === undefined ? inRange : inRange?.slice(0, newest)
      if (taken === undefined || taken.length === 0) continue
      cells[family] = withoutValues ? taken.map(({ at }) => ({ at, value: new Uint8Array(0) })) : taken
      isEmpty = false
    }
    return isEmpty ? undefined : { key, cells }
  }

  #change(key: RowKey, changes: readonly CellChange[]): void {
    const row: StoredRow = new Map(this.#rows.get(key))
    for (const change of changes) {
      if (change.type === 'deleteRow') row.clear()
      else if (change.type === 'set') put(row, change.family, change)
      else {
        const { family, from = 0n, until } = change
        const kept = (row.get(family) ?? []).filter(({ at }) => at < from || (until !== undefined && at >= until))
        if (kept.length === 0) row.delete(family)
        else row.set(family, kept)
      }
    }
    if (row.size === 0) this.#rows.delete(key)
    else this.#rows.set(key, row)
  }
}

function put(row: StoredRow, family: Family, { at, value }: Cell): void {
  const others = (row.get(family) ?? []).filter((cell) => cell.at !== at)
  const place = others.findIndex((cell) => cell.at < at)
  others.splice(place < 0 ? others.length : place, 0, { at, value: Uint8Array.from(value) })
  row.set(family, others)
}

function holds(row: StoredRow | undefined, { family, at, values }: RowCondition): boolean {
  const cells = row?.get(family)
  const cell = at === undefined ? cells?.[0] : cells?.find((one) => one.at === at)
  if (cell === undefined || values === undefined) return cell === undefined && values === undefined
  return Buffer.compare(cell.value, values.start) >= 0 && Buffer.compare(cell.value, values.end) < 0
}
