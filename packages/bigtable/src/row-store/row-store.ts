/**
 * Wide rows: the contract of a store that several processes share, such as a Bigtable. Its implementations are memory-rows.ts and
 * rows/bigtable-rows.ts; one contract suite runs on all of them.
 *
 *   row key ─▶ family ─▶ cells, each with a timestamp, newest first
 *
 *   v   every row     the row's value. At timestamp commitVersion in tables of entities, at 0 in counters and metadata
 *   h   group row     head of the entity group, at 0              l   group row    log: a record at its commitVersion
 *       clock row     how far rows are swept, at the version up to which everything is settled
 *   p   group row     prepared record, at its commitVersion       g   clock row    unfinished commits, at a gateway's number
 *   t   metadata      read sets and ends of transactions, at real time in milliseconds
 *
 * A timestamp is a whole number from 0 to 2^53 without a unit (a Bigtable stores it times 1,000). A family is one column, so its cells are versions
 * of that column. A cell of the same row, family and timestamp is replaced. The changes of one row take effect in their order.
 *
 * RS1  A row changes atomically: readers see all changes of one mutateRows entry or one mutateRowIf, or none of them.
 * RS2  An acknowledged change is seen by every read that starts after the acknowledgement.
 *
 * readRows and scanRows return each row at some moment during the call; different rows may be of different moments. Scans are in the order of
 * the unsigned bytes of the row keys; an answer with fewer rows than requested ends the range. mutateRowIf may throw OutcomeUnknown: then it takes
 * effect at most once, at any later time, or never. After any other error it has no effect. mutateRows and both reads are repeated until they are
 * acknowledged or given up. A change of mutateRows may take effect more than once, even after its acknowledgement: callers write only changes
 * that may be repeated.
 *
 * An implementation may join calls of one turn of the event loop to one request. Keys above rowKeyBytesMax bytes are refused with
 * INVALID_ARGUMENT. Errors are DatastoreError, or OutcomeUnknown. A closed store refuses everything with UNAVAILABLE.
 */
import { DatastoreError, invalidArgument, type StoreState } from '@sixtables/engine'
import type { KeyRange, RowKey, StoreCall } from '@sixtables/engine/store'

export type { RowKey }

/** The column families, in the order in which a table is created with them. */
export const families = ['v', 'h', 'l', 'p', 'g', 't'] as const

export type Family = (typeof families)[number]

/** Longest row key, in bytes: the limit of a Bigtable. */
export const rowKeyBytesMax = 4096

export interface Cell {
  readonly at: bigint
  /** Empty if the read excluded values. Its bytes must not be changed. */
  readonly value: Uint8Array
}

/** The cells of a row in an answer, newest first; a family without cells is absent. */
export type Cells = { readonly [family in Family]?: readonly Cell[] }

export interface Row {
  readonly key: RowKey
  readonly cells: Cells
}

/** The wanted cells of one family: all of them, except those that the options exclude. */
export interface WantedCells {
  readonly family: Family
  /** Lowest timestamp (inclusive). */
  readonly from?: bigint
  /** Highest timestamp (exclusive). */
  readonly until?: bigint
  /** Number of cells, from the newest one in the range of timestamps. */
  readonly newest?: number
  /** Whether the cells have empty values. */
  readonly withoutValues?: boolean
}

/** Each family at most once. */
export type Wanted = readonly WantedCells[]

export interface RowScan {
  readonly range: KeyRange
  /** From the end of the range to its start. */
  readonly reverse?: boolean
  /** Maximum number of rows, at least 1. */
  readonly limit: number
  readonly wanted: Wanted
}

/**
 * One change of a row: sets a cell, deletes the cells of a family whose timestamps are from `from` (inclusive) to `until`
 * (exclusive), or deletes the row.
 */
export type CellChange =
  | { readonly type: 'set'; readonly family: Family; readonly at: bigint; readonly value: Uint8Array }
  | { readonly type: 'delete'; readonly family: Family; readonly from?: bigint; readonly until?: bigint }
  | { readonly type: 'deleteRow' }

export interface RowChange {
  readonly key: RowKey
  readonly changes: readonly CellChange[]
}

/**
 * A condition on the newest cell of the family (with `at`: on the cell at that timestamp): its value is from `start` (inclusive) to `end`
 * (exclusive), by unsigned bytes. With `values: undefined` there must be no such cell.
 */
export interface RowCondition {
  readonly family: Family
  readonly at?: bigint
  readonly values: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined
}

export interface RowStore extends StoreState {
  /** When it last answered a call, in milliseconds of the steady clock; absent if that is not known. */
  readonly answeredMs?: number | undefined
  /** The rows that have any wanted cell, by key. Keys may repeat. */
  readRows(keys: readonly RowKey[], wanted: Wanted): Promise<ReadonlyMap<RowKey, Row>>
  /** The first rows of a range that have any wanted cell. */
  scanRows(scan: RowScan): Promise<readonly Row[]>
  /** Changes rows, each atomically. Keys do not repeat. */
  mutateRows(rows: readonly RowChange[]): Promise<void>
  /** Changes a row if the condition is true at that moment. @returns whether it was changed */
  mutateRowIf(key: RowKey, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean>
  /** The clock of the store at some moment during the call, in microseconds since the epoch; absent if the store has none. */
  clockMicros?(): Promise<bigint>
  /** Reports each call to the store at its end, including repeated attempts; absent for a store without calls. */
  observeCalls?(observer: (call: StoreCall) => void): void
  /** Waits for running calls, then releases connections. A second close has no effect. */
  close(): Promise<void>
}

/** Greatest difference between the clock of a process and that of its store. */
export const clockDifferenceMicrosMax = 60_000_000n

/** A conditional change without an answer: it may take effect once, now or later, or never. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** Whether a conditional change is known to have taken effect. After a false one without an answer the row has to be read again. */
export async function isKnownDone(change: Promise<boolean>): Promise<boolean> {
  try {
    return await change
  } catch (error) {
    if (error instanceof OutcomeUnknown) return false
    throw error
  }
}

/** The condition that a family's newest cell has exactly this value; with `undefined`, that it has none. */
export function newestIs(family: Family, value: Uint8Array | undefined): RowCondition {
  if (value === undefined) return { family, values: undefined }
  const end = new Uint8Array(value.length + 1)
  end.set(value)
  return { family, values: { start: value, end } }
}

/** @throws INVALID_ARGUMENT for a key that is too long for a Bigtable */
export function checkRowKey(key: RowKey): void {
  if (key.length <= rowKeyBytesMax) return
  throw invalidArgument(
    `a row key of ${key.length} bytes is needed, and the store takes at most ${rowKeyBytesMax}; use shorter names and indexed values`,
  )
}

/** The error of every call of a closed store. */
export function rowStoreClosed(location: string): DatastoreError {
  return new DatastoreError('UNAVAILABLE', `The store (${location}) was closed; open it anew to go on.`)
}
