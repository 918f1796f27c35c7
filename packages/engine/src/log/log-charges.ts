/**
 * What commits and applies tell the tablets: row operations to charge, rows that come and go, and the question whether a
 * commit may be written now.
 *
 * LC1  Apply's operations are charged to its own ledger, with the weight of the commit that they are of.
 */
import { CountingLedger, type RequestContext } from '../context.ts'
import type { KvWrite, RowKey } from '../storage/kv.ts'
import type { TableId, TableWrite } from '../tables/table.ts'
import type { RequestLoad } from '../tablets/meter.ts'
import { bytesOf } from '../tablets/row-counts.ts'
import type { Tablets } from '../tablets/tablets.ts'
import type { PendingRecord } from './pending.ts'

/** Which milestones a batch of writes is of. */
export type Stage = 'A' | 'B' | 'AB'

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
    const rows = this.#tablets?.rows
    if (rows === undefined || !rows.isWanted) return
    for (const { logRow, logBytes, load } of records) rows.note(logRow, 1, logBytes, load?.weight ?? 1)
    for (const { key } of trimmed) rows.note(key, -1, -freed / trimmed.length, 1)
  }

  /**
   * Rows of a record are about to be written.
   *
   * @param marker - the row of its pending marker, when that goes with them
   * @param indexRows - how many index rows it has, where that is known without making them
   */
  applying(record: PendingRecord, stage: Stage, marker?: RowKey, indexRows: number = record.indexWrites.length): void {
    const { entityWrites } = record
    const rows =
      (stage === 'B' ? 0 : entityWrites.length) + (stage === 'A' ? 0 : indexRows) + (marker === undefined ? 0 : 1)
    const ledger = this.#ledger
    ledger.load = record.load
    if (!ledger.chargeUnseen(rows)) {
      if (stage !== 'B') for (const write of entityWrites) this.#charge(write)
      if (stage !== 'A') this.#chargeIndexRows(record, indexRows)
      if (marker !== undefined) ledger.charge('Log', 'delete', marker, 1, marker.length)
    }
    if (this.#tablets?.rows.isWanted) this.#noteRows(record, stage)
  }

  /** One of many is looked at: mostly the others need not even be made. */
  #chargeIndexRows(record: PendingRecord, count: number): void {
    let at = 0
    for (;;) {
      at += this.#ledger.chargeUntilSeen(count - at)
      if (at === count) return
      this.#charge(record.indexWriteAt?.(at) ?? (record.indexWrites[at] as TableWrite))
      at++
    }
  }

  #charge({ table, key, value }: TableWrite): void {
    this.#ledger.charge(table, value === undefined ? 'delete' : 'put', key, 1, key.length + (value?.length ?? 0))
  }

  #noteRows(record: PendingRecord, stage: Stage): void {
    const rows = this.#tablets?.rows
    const weight = record.load?.weight ?? 1
    if (stage !== 'B') {
      for (const [i, { before, after }] of record.changes.entries()) {
        const key = record.entityWrites[i]?.key ?? ''
        const sizeOf = (cell: Uint8Array | undefined): number =>
          cell === undefined ? 0 : bytesOf('Entities', key, cell.length)
        const come = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
        rows?.note(key, come, sizeOf(after) - sizeOf(before), weight)
      }
    }
    if (stage === 'A') return
    for (const { key, value } of record.indexWrites) {
      if (value === undefined) rows?.note(key, -1, -key.length, weight)
      else if (!record.replaced?.has(key)) rows?.note(key, 1, key.length, weight)
    }
  }
}

/** What applying a request's commit weighs; `undefined` = 1. */
export function applyLoad({ weight, spreadMs }: RequestContext): RequestLoad | undefined {
  if (weight === 1) return undefined
  return { weight, spreadMs, requests: 0, startedMs: 0, delayMs: 0, refusal: undefined, admitted: true }
}

/** The rows that a commit writes, those of its application included: the worst of them counts. */
function* rowsOf(records: readonly PendingRecord[]): Iterable<{ readonly table: TableId; readonly rowKey: RowKey }> {
  for (const { logRow, entityWrites, indexWrites } of records) {
    yield { table: 'Log', rowKey: logRow }
    for (const { table, key } of entityWrites) yield { table, rowKey: key }
    for (const { table, key } of indexWrites) yield { table, rowKey: key }
  }
}
