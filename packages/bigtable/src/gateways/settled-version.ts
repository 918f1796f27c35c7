/**
 * The stamp up to which everything is settled in a database, and the one up to which it is swept, in a cell of its clock row.
 *
 *   M <database> "clock"      h   at the settled stamp: swept(8)           the newest cell counts
 *
 * Commits up to the settled stamp are finished, and none of them is applied again (sweep/SW2). The settled stamp never decreases, since the newest
 * cell counts. The swept stamp may decrease, when two gateways write at once: then rows are swept further than it says.
 */
import { byteString, bytesOf, decodeUint64, encodeUint64 } from '@sixtables/engine/store'
import type { Cell, CellChange, RowKey, RowStore } from '../row-store/row-store.ts'
import { latestOf } from './clock-state.ts'

export class Settled {
  readonly #rows: RowStore
  readonly #key: RowKey
  /** The settled stamp at the latest read. */
  at = 0n
  /** The swept stamp at the latest read. */
  swept = 0n

  /** @param key - of the clock row */
  constructor(rows: RowStore, key: RowKey) {
    this.#rows = rows
    this.#key = key
  }

  /** @param cell - the newest one of the clock row, just read */
  see(cell: Cell | undefined): void {
    if (cell === undefined || cell.at < this.at) return
    this.at = cell.at
    this.swept = latestOf(this.swept, decodeUint64(byteString(cell.value), 0))
  }

  /** Stores the two stamps, if one is higher than at the latest read. */
  async store(at: bigint, swept: bigint): Promise<void> {
    if (at <= this.at && swept <= this.swept) return
    const value = bytesOf(encodeUint64(latestOf(swept, this.swept)))
    const cell: Cell = { at: latestOf(at, this.at), value }
    const set: CellChange = { type: 'set', family: 'h', ...cell }
    await this.#rows.mutateRows([{ key: this.#key, changes: [{ type: 'delete', family: 'h', until: cell.at }, set] }])
    this.see(cell)
  }
}
