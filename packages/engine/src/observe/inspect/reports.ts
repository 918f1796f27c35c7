/** The inspector's reports, as plain JSON: rows and keys in words, versions and times as text. */
import type { TabletReport } from '../tablets/report.ts'

export interface RowReport {
  readonly table: string
  /** The row key in words. */
  readonly row: string
  /** The row key in hexadecimal. */
  readonly rowKey: string
  /** The cell in words; empty if the row key contains everything. */
  readonly value: string
  /** `stored`, or the effect on the row of a commit that is not applied yet. */
  readonly state: 'stored' | 'to be written' | 'to be deleted' | 'to be changed'
}

export interface RowsReport {
  readonly key: string
  /** In the order of the tables, with the row of the id counter and pending markers. */
  readonly rows: readonly RowReport[]
  /** The place to continue after, in hexadecimal; absent on the last page. */
  readonly next?: string
  /** Its records are on the last page only. */
  readonly log: LogReport
}

export interface LogRecordReport {
  readonly group: string
  /** The log row in words. If several gateways share the store: the row of the group's root, which contains the record. */
  readonly row: string
  readonly rowKey: string
  readonly version: string
  /** Commit time, ISO 8601. */
  readonly committedAt: string
  /** `committed`, `A` (entity rows written), `applied` (index rows too). */
  readonly state: 'committed' | 'A' | 'applied'
  /** One per entity, such as `put ToDo:1 {owner: "ada"}` or `delete ToDo:1`. */
  readonly changes: readonly string[]
}

export interface LogReport {
  /** Root key of the entity group. */
  readonly group: string
  /** Oldest first. */
  readonly records: readonly LogRecordReport[]
  readonly hasMore?: boolean
  /** The place to continue before: the version of the first of these records. */
  readonly previous?: string
}

export interface VersionReport extends Pick<LogRecordReport, 'version' | 'committedAt' | 'state'> {
  readonly operation: 'put' | 'delete'
  /** The last moment at which it was the newest, RFC 3339 in microseconds, for the `read_time` of a read. Absent for the newest. */
  readonly readTime?: string
  /** Whether that moment can still be read. */
  readonly readable: boolean
}

export interface VersionsReport {
  readonly key: string
  /** Oldest first, with the state before the oldest kept log record. Empty if the entity never existed. */
  readonly versions: readonly VersionReport[]
  /** The place to continue before: the version of the first of these; absent if there are no older ones. */
  readonly previous?: string
}

/** A record between commit and apply; its state is `committed` or `A`. */
export interface PendingRecordReport extends LogRecordReport {
  readonly project: string
  /** Empty = the default database. */
  readonly database: string
  readonly namespace: string
  /** Whether a hold keeps it, or an earlier one in its group. */
  readonly held: boolean
  readonly moreChanges?: number
}

export interface PendingReport {
  readonly pending: readonly PendingRecordReport[]
  readonly more?: number
  /** The place to continue after; absent at the end. */
  readonly next?: string
}

export interface ReleaseReport {
  readonly group: string
  readonly milestone: 'A' | 'B'
  /** Number of records that were applied, wholly or to A. */
  readonly released: number
}

export interface AppliedReport {
  /** Oldest first. */
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
  readonly rows: readonly Pick<RowReport, 'row' | 'rowKey' | 'value'>[]
  /** The place to continue after, in hexadecimal; absent at the end, and for a backward page. */
  readonly next?: string
  /** The place to continue before, for a backward page; absent at the beginning. */
  readonly previous?: string
  /** The start of the scope in the table, in hexadecimal; a row with this key may not exist. */
  readonly start?: string
  /** The tablets of the rows, in order; each ends where the next one starts. */
  readonly tablets: readonly TabletBoundary[]
}

export interface TabletBoundary extends Pick<TabletReport, 'id' | 'server'> {
  /** First row key of the tablet in hexadecimal; empty for the first tablet of a table. */
  readonly start: string
}
