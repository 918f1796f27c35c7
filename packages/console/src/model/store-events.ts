/** The events of `GET /emulator/commits`, as docs/reference/http.md has them. Each has exactly one of the members. */
export interface StoreEvent {
  readonly commit?: CommitEvent
  readonly apply?: ApplyEvent
  readonly reload?: { readonly reason: string }
  readonly lost?: number
}

export interface RowChange {
  readonly table: string
  readonly row: string
  readonly rowKey: string
  readonly deleted?: true
}

export interface StepEvent {
  readonly version: string
  readonly committedAt: string
  readonly project: string
  readonly database: string
  readonly groups: readonly { readonly group: string; readonly namespace: string }[]
  readonly moreGroups?: number
  readonly rows: readonly RowChange[]
  readonly moreRows?: number
  readonly tables: Readonly<Record<string, { readonly written: number; readonly deleted: number }>>
}

export interface CommitEvent extends StepEvent {
  readonly waits: boolean
  readonly changes: readonly {
    readonly operation: 'insert' | 'update' | 'delete'
    readonly key: string
    readonly kind: string
    readonly namespace: string
  }[]
  readonly moreChanges?: number
}

export interface ApplyEvent extends StepEvent {
  readonly milestone: 'A' | 'B'
  readonly cause: string
}
