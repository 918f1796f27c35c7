/**
 * The context of a request, passed to every engine verb: clock, deadline, and the ledger in which store calls record the rows
 * they touched.
 *
 * A store call never waits for the ledger: charge() is synchronous and never fails. A ledger is settled once, at the end of
 * the call (database/database-parts.ts). Apply has a ledger of its own, not that of the request whose commit it applies.
 */
import type { CallFact } from './call-fact.ts'
import type { Scheduler } from './clock.ts'
import { DatastoreError } from './errors.ts'
import type { Meter, RequestLoad } from './meter.ts'
import type { RequestTrace } from './request-trace.ts'
import type { LedgerEntry, RowKey, RowOperation, TableId } from './row.ts'

export interface Ledger {
  /** The request of the call, once it is known to be valid. */
  fact?: CallFact | undefined
  /** Weight and outcome of the request, if they matter to the tablets. */
  load?: RequestLoad | undefined
  /** @param through - the end of a scan that began at `rowKey`, whatever rows it found */
  charge(table: TableId, operation: RowOperation, rowKey: RowKey, rows: number, bytes: number, through?: RowKey): void
}

/** The ledger of a request: counts rows, and reports some operations, in a simulation all, to the tablets. */
export class CountingLedger implements Ledger {
  rowsRead = 0
  rowsWritten = 0
  bytesRead = 0
  bytesWritten = 0
  /** The tablets to charge; set when a verb begins. */
  meter: Meter | undefined = undefined
  load: RequestLoad | undefined = undefined
  fact: CallFact | undefined = undefined

  charge(table: TableId, operation: RowOperation, rowKey: RowKey, rows: number, bytes: number, through?: RowKey): void {
    const { meter } = this
    if (meter !== undefined && --meter.countdown <= 0) {
      meter.take(this.load, { table, operation, rowKey, rows, bytes }, through)
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

export interface TouchedRows {
  readonly table: TableId
  rowsRead: number
  rowsWritten: number
}

/** A counting ledger with counts per table. A request touches few tables, so a list is cheaper than a map. */
export class TableLedger extends CountingLedger {
  readonly tables: TouchedRows[] = []

  override charge(...touch: Parameters<Ledger['charge']>): void {
    super.charge(...touch)
    const [table, operation, , rows] = touch
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

export class RecordingLedger implements Ledger {
  fact: CallFact | undefined = undefined
  readonly entries: LedgerEntry[] = []

  charge(table: TableId, operation: RowOperation, rowKey: RowKey, rows: number, bytes: number): void {
    this.entries.push({ table, operation, rowKey, rows, bytes })
  }
}

/** How long a request has run since it last yielded (slices.ts). */
export interface Slice {
  /** Rows since the clock was last asked, and since the slice began. */
  unseen: number
  work: number
  /** Milliseconds of the scheduler's steady clock; `undefined` = not asked yet. */
  beganAt: number | undefined
}

export interface RequestContext {
  readonly clock: Scheduler
  /** The time after which the answer is useless, in milliseconds of the steady clock; `undefined` = no limit. */
  readonly deadlineAt: number | undefined
  readonly signal: AbortSignal | undefined
  /** Whether the caller is gone, if that is known without `signal`, which may be created on demand. */
  readonly isCancelled?: boolean
  /** An explained query replaces it by one that counts rows by table. */
  ledger: Ledger
  readonly slice: Slice
  /** How many real operations this one represents in a simulation; 1 outside of it. */
  readonly weight: number
  /** Milliseconds over which a weight above 1 is spread; absent = the tablets' slot. */
  readonly spreadMs?: number | undefined
  /** A request of an observing tool: heat, totals, latencies, contention and findings stay as they were. */
  readonly isUncounted?: boolean | undefined
  readonly trace?: RequestTrace | undefined
}

export interface RequestContextOptions
  extends Partial<Pick<RequestContext, 'deadlineAt' | 'signal' | 'ledger' | 'spreadMs' | 'isUncounted'>> {
  readonly clock: Scheduler
  readonly weight?: number | undefined
}

export function requestContext(options: RequestContextOptions): RequestContext {
  return {
    clock: options.clock,
    deadlineAt: options.deadlineAt,
    signal: options.signal,
    ledger: options.ledger ?? new CountingLedger(),
    slice: { unseen: 0, work: 0, beganAt: undefined },
    weight: options.weight ?? 1,
    spreadMs: options.spreadMs,
    isUncounted: options.isUncounted,
  }
}

/** Throws CANCELLED or DEADLINE_EXCEEDED if the caller no longer waits. Long loops call it between batches. */
export function checkAlive(context: RequestContext): void {
  if (context.isCancelled ?? context.signal?.aborted)
    throw new DatastoreError('CANCELLED', 'the call was cancelled by the client')
  if (context.deadlineAt !== undefined && context.clock.steadyMs() > context.deadlineAt) {
    throw new DatastoreError('DEADLINE_EXCEEDED', 'the deadline of the call passed before the answer was complete')
  }
}
