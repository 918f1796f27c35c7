/** The inspector's reports, as plain JSON: rows and keys in words, versions and times as text. */

export interface RowReport {
  readonly table: string
  /** The row key in words. */
  readonly row: string
  /** The row key in hexadecimal. */
  readonly rowKey: string
  /** The cell in words; empty when the row key says all. */
  readonly value: string
  /** `stored`; or what a commit that is not applied yet will do to the row. */
  readonly state: 'stored' | 'to be written' | 'to be deleted' | 'to be changed'
}

export interface RowsReport {
  readonly key: string
  /** In the order of the tables; the row of the id counter too, and pending markers. */
  readonly rows: readonly RowReport[]
  readonly log: LogReport
}

export interface LogRecordReport {
  readonly group: string
  /** The log row in words. */
  readonly row: string
  readonly version: string
  /** Commit time, ISO 8601. */
  readonly committedAt: string
  /** `committed`, `A` (entity rows written), `applied` (index rows too). */
  readonly state: 'committed' | 'A' | 'applied'
  /** One for each entity, such as `put ToDo:1 {owner: "ada"}` or `delete ToDo:1`. */
  readonly changes: readonly string[]
}

export interface LogReport {
  /** Root key of the entity group. */
  readonly group: string
  /** Oldest first. */
  readonly records: readonly LogRecordReport[]
}

export interface VersionReport {
  readonly version: string
  /** Commit time, ISO 8601. */
  readonly committedAt: string
  readonly operation: 'put' | 'delete'
  /** As in {@link LogRecordReport}. */
  readonly state: LogRecordReport['state']
  /** The last moment at which it was the newest, RFC 3339 in microseconds: `read_time` of a read that shows it. Absent for the newest. */
  readonly readTime?: string
  /** Whether a read at that moment is still possible. */
  readonly readable: boolean
}

export interface VersionsReport {
  readonly key: string
  /** Oldest first; from before the oldest kept log record at most one. Empty for an entity that never was. */
  readonly versions: readonly VersionReport[]
}

export interface PendingReport {
  readonly pending: readonly LogRecordReport[]
}

export interface ReleaseReport {
  readonly group: string
  readonly milestone: 'A' | 'B'
  /** Records that moved on. */
  readonly released: number
}

export interface AppliedReport {
  /** Oldest first: the latest steps of applying. */
  readonly steps: readonly {
    readonly group: string
    readonly version: string
    readonly reached: 'A' | 'B'
    /** `policy`, `strong read`, `opening` or `release`. */
    readonly cause: string
  }[]
}

export interface TableReport {
  readonly table: string
  readonly rows: readonly { readonly row: string; readonly rowKey: string; readonly value: string }[]
  /** Where to go on, in hexadecimal; absent at the end. */
  readonly next?: string
}
