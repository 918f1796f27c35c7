/**
 * Wide rows: the contract of a store that several processes share, such as a Bigtable. Its bodies are memory-rows.ts and
 * @sixtables/bigtable; one contract suite runs on all of them.
 *
 *   row key ─▶ family ─▶ cells, each with a timestamp; the newest comes first
 *
 *   v   every row     the row's value. At timestamp commitVersion in tables of entities, at 0 in counters and metadata
 *   h   group row     head of the entity group, at 0              l   group row    log: a record at its commitVersion
 *       clock row     how far rows are swept, at the version up to which everything is settled
 *   p   group row     prepared record, at its commitVersion       g   clock row    commits under way, at a gateway's number
 *   t   metadata      read sets and ends of transactions, at real time in milliseconds
 *
 * A timestamp is a whole number from 0 to 2^53 of no unit here (a Bigtable stores it times 1,000). A family is one column, so
 * many cells of a family are versions of it.
 *
 * RS1  A row changes atomically: readers see all changes of one mutateRows entry or one mutateRowIf, or none of them.
 * RS2  An acknowledged change is seen by every read that starts after the acknowledgement.
 * RS3  readRows and scanRows give each row as of some moment during the call; different rows may be of different moments.
 * RS4  mutateRowIf may throw OutcomeUnknown: then it takes effect at most once, at any later time, or never. Any other error means
 *      that it took no effect, and never will.
 * RS5  mutateRows and both reads are repeated until they are acknowledged or given up. A change of mutateRows may take effect more
 *      than once, also after its acknowledgement: callers write only what may be repeated.
 * RS6  A cell of the same row, family and timestamp is replaced. The changes of one row take effect in their order.
 * RS7  Scans are in the order of the unsigned bytes of the row keys; an answer with fewer rows than asked for ends the range.
 *
 * A body may gather calls of one turn of the event loop into one request. Keys above rowKeyBytesMax bytes are refused with
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
  /** Its timestamp. */
  readonly at: bigint
  /** Empty where a read asked for no values. Its bytes must not be changed. */
  readonly value: Uint8Array
}

/** The cells of a row that a read asked for, newest first; a family without one is absent. */
export type Cells = { readonly [family in Family]?: readonly Cell[] }

export interface Row {
  readonly key: RowKey
  readonly cells: Cells
}

/** Which cells of one family a read wants: all of them, but for what the options leave out. */
export interface WantedCells {
  readonly family: Family
  /** Lowest timestamp (inclusive). */
  readonly from?: bigint
  /** Highest timestamp (exclusive). */
  readonly until?: bigint
  /** How many, from the newest of those in the range of timestamps. */
  readonly newest?: number
  /** Leaves the bytes out: the cells have empty values. */
  readonly withoutValues?: boolean
}

/** Each family at most once. */
export type Wanted = readonly WantedCells[]

export interface RowScan {
  readonly range: KeyRange
  /** From the end of the range to its start. */
  readonly reverse?: boolean
  /** Most rows of the answer, at least 1. */
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
 * Holds if the newest cell of the family (with `at`: the cell at that timestamp) has a value from `start` (inclusive) to `end`
 * (exclusive), by unsigned bytes. With `values: undefined` it holds if there is no such cell.
 */
export interface RowCondition {
  readonly family: Family
  readonly at?: bigint
  readonly values: { readonly start: Uint8Array; readonly end: Uint8Array } | undefined
}

export interface RowStore extends StoreState {
  /** The rows that have any wanted cell, by key. Keys may repeat. */
  readRows(keys: readonly RowKey[], wanted: Wanted): Promise<ReadonlyMap<RowKey, Row>>
  /** The first rows of a range that have any wanted cell. */
  scanRows(scan: RowScan): Promise<readonly Row[]>
  /** Changes rows, each atomically. Keys do not repeat. */
  mutateRows(rows: readonly RowChange[]): Promise<void>
  /** Changes a row if the condition holds at that moment. False: it did not hold, nothing was changed. */
  mutateRowIf(key: RowKey, condition: RowCondition, changes: readonly CellChange[]): Promise<boolean>
  /** The clock of the store at some moment during the call, in microseconds since the epoch; absent = it has none that can be asked. */
  clockMicros?(): Promise<bigint>
  /** Tells of each call to the store at its end, attempts of repeated ones too; absent = there are none to tell of. */
  observeCalls?(observer: (call: StoreCall) => void): void
  /** Waits for calls under way, then releases connections. Closing twice is harmless. */
  close(): Promise<void>
}

/** By how much the clock of a process may differ from that of its store. */
export const clockDifferenceMicrosMax = 60_000_000n

/** A conditional change whose answer did not come (RS4). */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** The condition that a family's newest cell has exactly this value, or with `undefined` that there is none. */
export function newestIs(family: Family, value: Uint8Array | undefined): RowCondition {
  if (value === undefined) return { family, values: undefined }
  const end = new Uint8Array(value.length + 1)
  end.set(value)
  return { family, values: { start: value, end } }
}

/** @throws INVALID_ARGUMENT for a key that no Bigtable takes */
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
