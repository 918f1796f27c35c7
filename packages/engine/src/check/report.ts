/** The result of a check, as plain data. */

export type ProblemKind =
  /** An entity lacks an index row that it should have, or the row's cell is wrong. */
  | 'missing index row'
  | 'wrong index row'
  /** An index row that no entity accounts for. */
  | 'orphan index row'
  /** An entity's row is not what the newest record of its log says. */
  | 'entity differs from log'
  /** A pending marker without a record, or a record that cannot be read. */
  | 'marker without record'
  | 'unreadable row'
  /** A file of the store whose bytes are not as they were written. Rows are not looked at then: they cannot be trusted. */
  | 'damaged file'

export interface Problem {
  readonly kind: ProblemKind
  /** The row in words; of a damaged file its name. */
  readonly row: string
  /** The row key in hexadecimal; of a damaged file empty. */
  readonly rowKey: string
  readonly detail: string
}

/** A group with records that are committed but not applied: not a problem, but worth saying. */
export interface PendingGroup {
  readonly group: string
  readonly records: number
}

export interface CheckReport {
  readonly entities: number
  readonly indexRows: number
  readonly logRecords: number
  readonly pending: readonly PendingGroup[]
  /** All problems found, also those beyond what is listed. */
  readonly problemCount: number
  /** The first problems, at most {@link problemsListed}. */
  readonly problems: readonly Problem[]
  /** Index rows among the problems that are right now: put right, or by a write meanwhile; 0 without `repair`. */
  readonly repaired: number
  /** How problems are put right where a repair is refused. */
  readonly remedy?: string
}

/** The remedy of a store that several gateways share, which write meanwhile. */
export const sharedRemedy: string = 'while nothing writes, export the database, reset it and import the export'

export const problemsListed = 100
