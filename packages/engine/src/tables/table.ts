/**
 * The six tables, and how the layers above read them.
 *
 * Nothing above this folder builds or parses the bytes of a row key; each table's file owns its layout in both directions.
 */
import type { RequestContext } from '../context.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { type TableId, tableIds } from '../row.ts'
import { giveWay } from '../slices.ts'
import type { KeyRange, Kv, KvReader, KvRow, RowKey } from '../storage/kv.ts'

export { type TableId, tableIds }

/** Pull cursor over rows of one table; see KvScan for what a caller owes. */
export interface RowScan {
  next(count: number): MaybePromise<readonly KvRow[]>
  seek(key: RowKey): void
  close(): void
}

/**
 * The source of rows for planning and execution: the store now, a snapshot, or a past version. Each call charges the ledger.
 *
 * V1  A scan lets other calls run between two batches (slices.ts): a long read blocks no other call, and ends with its caller. So
 *     the scan of a synchronous store may answer by promise too, when there is much to read.
 */
export interface TableView {
  /** The moment that it shows, in microseconds, where that is known and rows of a younger index may be missing from it. */
  readonly moment?: bigint | undefined
  get(context: RequestContext, table: TableId, rowKey: RowKey): MaybePromise<Uint8Array | undefined>
  /** {@link get} for many rows, where the store finds them faster together; else `undefined`. */
  getAll?(
    context: RequestContext,
    table: TableId,
    rowKeys: readonly RowKey[],
  ): MaybePromise<readonly (Uint8Array | undefined)[] | undefined>
  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options?: { readonly reverse?: boolean; readonly expect?: number },
  ): RowScan
}

/** Cost of a row read by its key in a slice: the search for the row, and the decoding of its entity. */
const getWork = 4

/** The tables as a store or one of its snapshots has them. */
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

  scan(
    context: RequestContext,
    table: TableId,
    range: KeyRange,
    options: { readonly reverse?: boolean; readonly expect?: number } = {},
  ): RowScan {
    const scan = this.#reader.scan(range, { reverse: options.reverse, expect: options.expect, context })
    const isReverse = options.reverse === true
    // Where the next batch begins: what lies between it and the last row found was passed over, deleted rows included.
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
