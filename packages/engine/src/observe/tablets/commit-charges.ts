/**
 * Charges of commits to the tablets: what applying a commit writes for each entity, and the rows that are added and deleted.
 *
 *   put ToDo:1 {owner: "ada"}   the ledger of the request charges the log row; here: its row in Entities, its row of the kind
 *                               and its rows of `owner`, as one operation for the meter, which takes all of them or none
 *
 * Rows of applying are never charged to the request; they have the weight of its commit.
 */
import { CountingLedger } from '../../context.ts'
import type { ApplyEvent } from '../../log/apply.ts'
import type { CommitEvent } from '../../log/commit-log.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { rowCountOf, type Stage } from '../../log/record-writes.ts'
import type { GroupLoad } from './group-load.ts'
import type { Metering } from './metering.ts'
import { bytesOf, type RowCounts } from './row-counts.ts'

export class CommitCharges {
  readonly #ledger = new CountingLedger()
  readonly #metering: Metering
  readonly #rows: RowCounts

  readonly #groups: GroupLoad

  constructor(metering: Metering, rows: RowCounts, groups: GroupLoad) {
    this.#metering = metering
    this.#rows = rows
    this.#groups = groups
    this.#ledger.meter = metering
  }

  get rowsApplied(): number {
    return this.#ledger.rowsWritten
  }

  /** Log records were written, and old ones deleted. */
  committed({ records, trimmed, trimmedBytes }: CommitEvent): void {
    if (this.#groups.troubled > 0) {
      const nowMs = this.#metering.nowMs()
      for (const { group, isUncounted } of records) if (!isUncounted) this.#groups.committed(group, nowMs)
    }
    if (!this.#rows.isWanted) return
    for (const { logRow, logBytes, load } of records) this.#rows.note(logRow, 1, logBytes, load?.weight ?? 1)
    for (const { key } of trimmed) this.#rows.note(key, -1, -trimmedBytes / trimmed.length, 1)
  }

  applied({ records, reached, marker }: ApplyEvent): void {
    const ledger = this.#ledger
    const metering = this.#metering
    for (const record of records) {
      const { changes, load, isUncounted } = record
      if (!isUncounted) {
        ledger.rowsWritten += rowCountOf(record, reached)
        if (metering.countdown > changes.length) metering.countdown -= changes.length
        else for (const change of changes) if (--metering.countdown <= 0) metering.takeEntity(load, change, reached)
        if (marker !== undefined) {
          ledger.load = load
          ledger.charge('Log', 'delete', marker, 1, marker.length)
        }
      }
      // After the charges, which may split a tablet: its halves then count the rows.
      if (this.#rows.isWanted) this.#note(record, reached)
    }
  }

  #note({ changes, load }: PendingRecord, stage: Stage): void {
    const weight = load?.weight ?? 1
    for (const { row, before, after, indexRows } of changes) {
      if (stage !== 'B' && before !== after) {
        const sizeOf = (cell: Uint8Array | undefined): number =>
          cell === undefined ? 0 : bytesOf('Entities', row, cell.length)
        const come = (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1)
        this.#rows.note(row, come, sizeOf(after) - sizeOf(before), weight)
      }
      if (stage === 'A') continue
      for (const { key, value, wasThere } of indexRows) {
        if (value === undefined) this.#rows.note(key, -1, -key.length, weight)
        else if (!wasThere) this.#rows.note(key, 1, key.length, weight)
      }
    }
  }
}
