/** The events of the feed of commits (commit-feed.ts), as plain JSON: keys and rows in words, versions as text. */
import type { ApplyCause } from '../../log/apply.ts'
import type { RowTally } from '../../request-trace.ts'
import type { PendingRecordReport, RowReport } from '../inspect/reports.ts'

/** Exactly one member is present. */
export type StoreEvent =
  | { readonly commit: CommitReport }
  | { readonly apply: ApplyReport }
  | { readonly reload: ReloadReport }

export interface RowChangeReport extends Pick<RowReport, 'table' | 'row' | 'rowKey'> {
  /** The row was deleted; absent = it was written. */
  readonly deleted?: true
}

/** A step of a commit: its entity groups in one database, and the rows that the step wrote. All steps have the commit's version. */
interface StepReport extends Pick<PendingRecordReport, 'version' | 'committedAt' | 'project' | 'database'> {
  /** Root keys of the entity groups, each with its namespace; empty = the default one. */
  readonly groups: readonly { readonly group: string; readonly namespace: string }[]
  readonly moreGroups?: number
  readonly rows: readonly RowChangeReport[]
  readonly moreRows?: number
  /** All rows, by table. */
  readonly tables: RowTally
}

export interface CommitReport extends StepReport {
  /** It is applied later: each log record has a pending marker until milestone B. */
  readonly waits: boolean
  readonly changes: readonly {
    readonly operation: 'insert' | 'update' | 'delete'
    /** `User:"ada"/ToDo:5` */
    readonly key: string
    readonly kind: string
    readonly namespace: string
  }[]
  readonly moreChanges?: number
}

export interface ApplyReport extends StepReport {
  readonly milestone: 'A' | 'B'
  readonly cause: ApplyCause
}

/** Any row of the store, or of the named scope, may be another one: read them again. */
export interface ReloadReport {
  readonly reason: 'reset' | 'restore' | 'indexes' | 'repair'
  readonly project?: string
  readonly database?: string
  readonly namespace?: string
}
