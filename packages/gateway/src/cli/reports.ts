/**
 * What `check` and `inspect` tell, as plain JSON: the body of the server's inspection answers, and what `--json` prints. Rows
 * and keys are in words; versions are decimal strings.
 */
export interface RowReport {
  readonly table: string
  /** The row key in words. */
  readonly row: string
  /** The value in words; empty when the row's key says all. */
  readonly value: string
}

export interface RowsReport {
  readonly key: string
  readonly rows: readonly RowReport[]
}

export interface LogRecordReport {
  readonly version: string
  /** `committed`, `A` (entity rows written) or `applied`. */
  readonly state: string
  /** One for each entity, such as `put ToDo:1`. */
  readonly changes: readonly string[]
}

export interface LogReport {
  /** Root key of the entity group. */
  readonly group: string
  readonly records: readonly LogRecordReport[]
}

export interface PendingReport {
  readonly pending: readonly (LogRecordReport & { readonly group: string })[]
}

export interface ReleaseReport {
  readonly group: string
  readonly milestone: 'A' | 'B'
  /** How many records moved on. */
  readonly released: number
}

export interface CheckReport {
  /** What was looked at, in words: `12 entities`, `40 index rows`. */
  readonly looked: readonly string[]
  readonly findings: readonly { readonly problem: string; readonly detail: string }[]
  /** Records that wait to be applied: no damage. */
  readonly pending: number
  /** Rows written or removed by a repair. */
  readonly repaired: number
}
