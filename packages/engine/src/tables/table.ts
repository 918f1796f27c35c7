/**
 * The six tables, and how the layers above read them. Only this folder builds or parses the bytes of row keys; each table's
 * file has its layout.
 */
import type { RequestContext } from '../context.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { type TableId, tableIds } from '../row.ts'
import { giveWay } from '../slices.ts'
import type { KeyRange, Kv, KvReader, KvRow, KvScan, RowKey, ScanOptions } from '../storage/kv.ts'

export { type TableId, tableIds }

export type RowScan = KvScan

export type ScanDirection = ScanOptions

/**
 * The rows for planning and execution: the store now, a snapshot, or a past moment. Each call is charged to the ledger. A scan
 * yields between two batches (slices.ts), so that of a synchronous store may answer by promise too.
 */
export interface TableView {
  /** The moment that it shows, in microseconds, if that is known and it may lack rows of younger indexes. */
  readonly moment?: bigint | undefined
  get(context: RequestContext, table: TableId, rowKey: RowKey): MaybePromise<Uint8Array | undefined>
  /** {@link get} for many rows, if the store finds them faster together; else `undefined`. */
  getAll?(
    context: RequestContext,
    table: TableId,
    rowKeys: readonly RowKey[],
  ): MaybePromise<readonly (Uint8Array | undefined)[] | undefined>
  scan(context: RequestContext, table: TableId, range: KeyRange, options?: ScanDirection): RowScan
}

/** Cost of reading a row by its key, in units of a slice: the search, and decoding its entity. */
const getWork = 4

/** The tables of a store or of one of its snapshots. */
export class KvTableView implements TableView {
  readonly moment: bigint | undefined
  readonly #reader: KvReader

  constructor(reader: Kv | KvReader, moment?: bigint) {
    this.#reader = reader
    this.moment = moment
  }

  get(context: RequestContext, table: TableId, rowKey: RowKey): MaybePromise<Uint8Array | undefined> {
    context.slice.unseen += getWork
    return andThen(this.#reader.get(rowKey), (value) => {
      context.ledger.charge(table, 'get', rowKey, 1, rowKey.length + (value?.length ?? 0))
      return value
    })
  }

  getAll(
    context: RequestContext,
    table: TableId,
    rowKeys: readonly RowKey[],
  ): MaybePromise<readonly (Uint8Array | undefined)[] | undefined> {
    const found = this.#reader.getAll?.(rowKeys)
    if (found === undefined) return undefined
    return andThen(found, (values) => {
      context.slice.unseen += rowKeys.length
      for (let i = 0; i < rowKeys.length; i++) {
        const rowKey = rowKeys[i] as RowKey
        context.ledger.charge(table, 'get', rowKey, 1, rowKey.length + (values[i]?.length ?? 0))
      }
      return values
    })
  }

  scan(context: RequestContext, table: TableId, range: KeyRange, options: ScanDirection = {}): RowScan {
    const scan = this.#reader.scan(range, options)
    const isReverse = options.reverse === true
    // The start of the next batch: rows between it and the last row found were skipped, deleted rows included.
    let from = isReverse ? range.end : range.start
    let read = 0
    const charged = (rows: readonly KvRow[]): readonly KvRow[] => {
      let bytes = 0
      read = rows.length + 1
      for (const row of rows) bytes += row.key.length + row.value.length
      const to = rows[rows.length - 1]?.key ?? (isReverse ? range.start : range.end)
      if (isReverse) context.ledger.charge(table, 'scan', to, rows.length, bytes, from)
      else context.ledger.charge(table, 'scan', from, rows.length, bytes, to)
      from = to
      return rows
    }
    return {
      next(count) {
        return andThen(giveWay(context, read), () => andThen(scan.next(count), charged))
      },
      seek(key) {
        from = key
        scan.seek(key)
      },
      close: () => scan.close(),
    }
  }
}
