/**
 * Reports of commits and applies to the tablets: row operations to charge, rows that come and go, and the question whether a
 * commit may be written now.
 *
 * LC1  Apply's operations are charged to its own ledger, with the weight of the commit that they are of.
 */
import { CountingLedger, type RequestContext } from '../context.ts'
import type { RequestLoad } from '../observe/tablets/meter.ts'
import { bytesOf } from '../observe/tablets/row-counts.ts'
import type { Tablets } from '../observe/tablets/tablets.ts'
import type { RowTally } from '../request-trace.ts'
import type { KvWrite, RowKey } from '../storage/kv.ts'
import { RowProducer, tableOfRow } from '../tables/entity-rows.ts'
import type { TableId } from '../tables/table.ts'
import type { PendingRecord } from './pending.ts'
import { RecordWrites, rowCountOf, type Stage } from './record-writes.ts'

export class LogCharges {
  readonly #ledger = new CountingLedger()
  readonly #tablets: Tablets | undefined

  constructor(tablets: Tablets | undefined) {
    this.#tablets = tablets
    this.#ledger.meter = tablets?.metering
  }

  /** Rows written by applying so far. */
  get rowsWritten(): number {
    return this.#ledger.rowsWritten
  }

  /** A commit is about to be written. @throws what the tablets answer for it (metering.ts); nothing is written then */
  admit(context: RequestContext, records: readonly PendingRecord[]): void {
    if (this.#tablets?.metering.isSimulating) this.#tablets.metering.admit(context, rowsOf(records))
  }

  /** Log records are about to be written, and old ones to be deleted. */
  appended(
    context: RequestContext,
    records: readonly PendingRecord[],
    trimmed: readonly KvWrite[],
    freed: number,
  ): void {
    for (const { logRow, logBytes } of records) context.ledger.charge('Log', 'put', logRow, 1, logBytes)
    if (context.trace !== undefined) context.trace.committed(tallyOf(records))
    const rows = this.#tablets?.rows
    if (rows === undefined || !rows.isWanted) return
    for (const { logRow, logBytes, load } of records) rows.note(logRow, 1, logBytes, load?.weight ?? 1)
    for (const { key } of trimmed) rows.note(key, -1, -freed / trimmed.length, 1)
  }

  /**
   * Rows of a record are about to be written.
   *
   * @param marker - the row of its pending marker, when that goes with them
   */
  applying(record: PendingRecord, stage: Stage, marker?: RowKey): void {
    if (!record.isUncounted) this.#charge(record, stage, marker)
    if (this.#tablets?.rows.isWanted) this.#noteRows(record, stage)
  }

  #charge(record: PendingRecord, stage: Stage, marker: RowKey | undefined): void {
    const ledger = this.#ledger
    ledger.load = record.load
    const rows = rowCountOf(record, stage) + (marker === undefined ? 0 : 1)
    if (!ledger.chargeUnseen(rows)) {
      const write = (key: RowKey, value: Uint8Array | undefined): void => {
        const bytes = key.length + (value?.length ?? 0)
        ledger.charge(tableOfRow(key), value === undefined ? 'delete' : 'put', key, 1, bytes)
      }
      // One of many is looked at: mostly the others need not even be made.
      new RecordWrites([], [record], stage).writeTo({ write, passes: () => ledger.chargeUntilSeen(1) === 1 })
      if (marker !== undefined) write(marker, undefined)
    }
  }

  #noteRows({ changes, load }: PendingRecord, stage: Stage): void {
    const rows = this.#tablets?.rows
    const weight = load?.weight ?? 1
    if (stage !== 'B') {
      for (const { row, before, after } of changes) {
        const sizeOf = (cell: Uint8Array | undefined): number =>
          cell === undefined ? 0 : bytesOf('Entities', row, cell.length)
        const come = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
        rows?.note(row, come, sizeOf(after) - sizeOf(before), weight)
      }
    }
    if (stage === 'A') return
    const producer = new RowProducer({
      write: (key, value, wasThere) => {
        if (value === undefined) rows?.note(key, -1, -key.length, weight)
        else if (!wasThere) rows?.note(key, 1, key.length, weight)
      },
    })
    for (const change of changes) producer.indexRows(change)
  }
}

function tallyOf(records: readonly PendingRecord[]): RowTally {
  const tally: RowTally = {}
  for (const { changes } of records) {
    for (const change of changes) {
      change.tally('A', tally)
      change.tally('B', tally)
    }
  }
  return tally
}

/** The load of applying a request's commit; `undefined` = weight 1. */
export function applyLoad({ weight, spreadMs }: RequestContext): RequestLoad | undefined {
  if (weight === 1) return undefined
  return { weight, spreadMs, requests: 0, startedMs: 0, delayMs: 0, refusal: undefined, admitted: true }
}

/** The rows that a commit writes, those of its application included: the worst of them counts. */
function rowsOf(records: readonly PendingRecord[]): readonly { readonly table: TableId; readonly rowKey: RowKey }[] {
  const rows: { readonly table: TableId; readonly rowKey: RowKey }[] = []
  for (const record of records) {
    rows.push({ table: 'Log', rowKey: record.logRow })
    const write = (rowKey: RowKey): number => rows.push({ table: tableOfRow(rowKey), rowKey })
    new RecordWrites([], [record], 'AB').writeTo({ write })
  }
  return rows
}
