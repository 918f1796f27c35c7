/** The result of a check, as plain data. */

export type ProblemKind =
  /** An entity lacks an index row, or the cell of the row is wrong. */
  | 'missing index row'
  | 'wrong index row'
  | 'orphan index row'
  | 'entity differs from log'
  /** A pending marker without a record, or a record that cannot be read. */
  | 'marker without record'
  | 'unreadable row'
  /** A file of the store has other bytes than were written. Its rows cannot be trusted, and are not checked. */
  | 'damaged file'

export interface Problem {
  readonly kind: ProblemKind
  /** The row in words; for a damaged file its name. */
  readonly row: string
  /** The row key in hexadecimal; for a damaged file empty. */
  readonly rowKey: string
  readonly detail: string
}

/** A group with records that are committed but not applied. Not a problem, but good to know. */
export interface PendingGroup {
  readonly group: string
  readonly records: number
}

export interface CheckReport {
  readonly entities: number
  readonly indexRows: number
  readonly logRecords: number
  readonly pending: readonly PendingGroup[]
  /** All problems, including those that are not listed. */
  readonly problemCount: number
  /** The first problems, at most {@link problemsListed}. */
  readonly problems: readonly Problem[]
  /** Listed index rows that the repair, or a later write, has corrected; 0 without `repair`. */
  readonly repaired: number
  /** How to solve the problems if a repair is refused. */
  readonly remedy?: string
}

/** The remedy for a store that others write to. */
export const exportRemedy: string = 'while nothing writes, export the database, reset it and import the export'

export const problemsListed = 100
