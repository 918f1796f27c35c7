/**
 * The context of a request, passed to every engine verb: clock, deadline, and the ledger in which store calls note the rows
 * they touched.
 *
 * C1  A store call never waits for the ledger.              charge() is synchronous and does not fail
 * C2  The service settles a ledger once, at the end.        database/settled.ts
 * C3  Apply has a ledger of its own, never its request's.   log/apply.ts
 * C4  An uncounted request leaves heat, totals, latencies, contention and findings as they were.   gateway/test/contract/watcher.test.ts
 */
import type { Scheduler } from './clock.ts'
import { DatastoreError } from './errors.ts'
import type { Meter, RequestLoad } from './meter.ts'
import type { RequestTrace } from './request-trace.ts'
import type { RowKey, RowOperation, TableId } from './row.ts'

/** One note in a ledger: `rows` rows of `table` from `rowKey` on, `bytes` bytes of key and value in all. */
export interface LedgerEntry {
  readonly table: TableId
  readonly operation: RowOperation
  readonly rowKey: RowKey
  readonly rows: number
  readonly bytes: number
}

/** Takes notes of touched rows. */
export interface Ledger {
  /** @param through - of a scan: it went from `rowKey` to here, whatever rows it found on its way */
  charge(
    table: TableId,
    operation: RowOperation,
    rowKey: RowKey,
    rows: number,
    bytes: number,
    through?: RowKey | undefined,
  ): void
}

/** The ledger of a request: counts per operation, and tells the tablets of some operations or, simulated, of all. */
export class CountingLedger implements Ledger {
  rowsRead = 0
  rowsWritten = 0
  bytesRead = 0
  bytesWritten = 0
  /** The charge to the tablets; set when a verb begins. */
  meter: Meter | undefined = undefined
  /** Weight and outcome of the request, where they matter. */
  load: RequestLoad | undefined = undefined

  charge(
    table: TableId,
    operation: RowOperation,
    rowKey: RowKey,
    rows: number,
    bytes: number,
    through?: RowKey | undefined,
  ): void {
    const { meter } = this
    if (meter !== undefined && --meter.countdown <= 0) {
      meter.take(this.load, table, operation, rowKey, rows, bytes, through)
    }
    if (operation === 'get' || operation === 'scan') {
      this.rowsRead += rows
      this.bytesRead += bytes
    } else {
      this.rowsWritten += rows
      this.bytesWritten += bytes
    }
  }
}

/** Rows of one table that a request touched. */
export interface TouchedRows {
  readonly table: TableId
  rowsRead: number
  rowsWritten: number
}

/** A counting ledger that tells the tables apart. A request touches few: a list of them is cheaper than a map. */
export class TableLedger extends CountingLedger {
  readonly tables: TouchedRows[] = []

  override charge(
    table: TableId,
    operation: RowOperation,
    rowKey: RowKey,
    rows: number,
    bytes: number,
    through?: RowKey | undefined,
  ): void {
    super.charge(table, operation, rowKey, rows, bytes, through)
    const touched = this.#rowsOf(table)
    if (operation === 'get' || operation === 'scan') touched.rowsRead += rows
    else touched.rowsWritten += rows
  }

  #rowsOf(table: TableId): TouchedRows {
    for (const touched of this.tables) if (touched.table === table) return touched
    const touched = { table, rowsRead: 0, rowsWritten: 0 }
    this.tables.push(touched)
    return touched
  }
}

/** A ledger that keeps every entry, for tests, explain and the inspector. */
export class RecordingLedger implements Ledger {
  readonly entries: LedgerEntry[] = []

  charge(table: TableId, operation: RowOperation, rowKey: RowKey, rows: number, bytes: number): void {
    this.entries.push({ table, operation, rowKey, rows, bytes })
  }
}

/** How long a request has run since others had a turn (slices.ts). */
export class Slice {
  /** Rows since the clock was asked, and since the slice began. */
  unseen = 0
  work = 0
  /** Milliseconds, of the scheduler's steady ones; `undefined` = it was not asked yet. */
  endsAt: number | undefined = undefined
}

export interface RequestContext {
  readonly clock: Scheduler
  /** When the answer is of no use any more, in milliseconds of the steady clock; `undefined` = no limit. */
  readonly deadlineAt: number | undefined
  readonly signal: AbortSignal | undefined
  /** Whether the caller is gone, where that can be told without asking for the signal, which may be made on demand. */
  readonly isCancelled?: boolean
  readonly ledger: Ledger
  /** Kept by giveWay() of slices.ts. */
  readonly slice: Slice
  /** How many real operations this one stands for in a simulation; 1 outside of it. */
  readonly weight: number
  /** Milliseconds over which a weight above 1 is spread, as a flow; absent = the tablets' slot. */
  readonly spreadMs?: number | undefined
  /** A request of a tool that looks on (C4); absent = it counts. */
  readonly isUncounted?: boolean | undefined
  /** Told what the request does (request-trace.ts). */
  readonly trace?: RequestTrace | undefined
}

export interface RequestContextOptions {
  readonly clock: Scheduler
  readonly deadlineAt?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly ledger?: Ledger
  readonly weight?: number | undefined
  readonly spreadMs?: number | undefined
  readonly isUncounted?: boolean | undefined
}

export function requestContext(options: RequestContextOptions): RequestContext {
  return {
    clock: options.clock,
    deadlineAt: options.deadlineAt,
    signal: options.signal,
    ledger: options.ledger ?? new CountingLedger(),
    slice: new Slice(),
    weight: options.weight ?? 1,
    spreadMs: options.spreadMs,
    isUncounted: options.isUncounted,
  }
}

/** Throws CANCELLED or DEADLINE_EXCEEDED when the caller no longer waits. Long loops call it between batches. */
export function checkAlive(context: RequestContext): void {
  if (context.isCancelled ?? context.signal?.aborted)
    throw new DatastoreError('CANCELLED', 'the call was cancelled by the client')
  if (context.deadlineAt !== undefined && context.clock.steadyMs() > context.deadlineAt) {
    throw new DatastoreError('DEADLINE_EXCEEDED', 'the deadline of the call passed before the answer was complete')
  }
}
