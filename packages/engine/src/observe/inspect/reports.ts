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
  /** Where to go on behind, in hexadecimal; absent when these are the last rows. */
  readonly next?: string
  /** Without its records until these are the last rows. */
  readonly log: LogReport
}

export interface LogRecordReport {
  readonly group: string
  /** The log row in words; where several gateways share the store, the row of the group's root, which has the record. */
  readonly row: string
  /** Its key in hexadecimal. */
  readonly rowKey: string
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
  /** Older ones are left out. */
  readonly hasMore?: boolean
  /** Where to go on before: the version of the first of these records. */
  readonly previous?: string
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
  /** Oldest first, with the state before the oldest kept log record. Empty for an entity that never was. */
  readonly versions: readonly VersionReport[]
  /** Where to go on before: the version of the first of these, when older ones are left out. */
  readonly previous?: string
}

/** A record between commit and apply; its state is `committed` or `A`. */
export interface PendingRecordReport extends LogRecordReport {
  readonly project: string
  /** Empty = the default database. */
  readonly database: string
  readonly namespace: string
  /** A hold keeps it, or one before it in its group, whatever the policy. */
  readonly held: boolean
  /** Changes that are not shown. */
  readonly moreChanges?: number
}

export interface PendingReport {
  readonly pending: readonly PendingRecordReport[]
  /** Records behind these. */
  readonly more?: number
  /** Where to go on behind; absent at the end. */
  readonly next?: string
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
  /** Where to go on behind, in hexadecimal; absent at the end, and when rows were asked for backwards. */
  readonly next?: string
  /** Where to go on before, when rows were asked for backwards; absent at the beginning. */
  readonly previous?: string
  /** Where the scope begins in the table, in hexadecimal, whether a row is there or not. */
  readonly start?: string
  /** The tablets that the rows lie in, in their order; each ends where the next one starts. */
  readonly tablets: readonly TabletBoundary[]
}

export interface TabletBoundary {
  readonly id: number
  readonly server: number
  /** First row key of the tablet in hexadecimal; empty for the first one of a table. */
  readonly start: string
}
