/** Calls as the server has them: docs/reference/http.md, "Requests". */
export interface RequestWait {
  readonly afterMs: number
  readonly ms: number
  readonly row: string
  readonly for: readonly string[]
}

export interface RecordedRequest {
  readonly id: number
  readonly at: string
  readonly ms: number
  readonly method: string
  readonly code: string
  readonly message?: string
  readonly protocol: string
  readonly project?: string
  readonly database?: string
  readonly namespaces?: readonly string[]
  readonly kinds?: readonly string[]
  readonly keys?: number
  readonly key?: string
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly transaction?: string
  readonly began?: true
  readonly waits?: readonly RequestWait[]
  readonly abortedBy?: readonly string[]
}

export interface RequestList {
  readonly recording: boolean
  readonly requests: readonly RecordedRequest[]
}

export interface RequestEvent {
  readonly requests: readonly RecordedRequest[]
  readonly skipped?: number
}

export interface MessageReport {
  readonly json?: unknown
  readonly bytes: number
  readonly cut?: { readonly kept: number; readonly of: number }
}

export interface PlanStep {
  readonly words: string
  readonly inputs: readonly PlanStep[]
}

export interface TableRows {
  readonly table: string
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly rowsDeleted: number
}

export interface RequestDetail extends RecordedRequest {
  readonly request?: MessageReport
  readonly response?: MessageReport
  readonly plan?: { readonly source: PlanStep; readonly results: readonly string[] }
  readonly tables?: readonly TableRows[]
}

/** Milliseconds since the epoch, with microseconds behind the point. */
export function beginOf({ at }: Pick<RecordedRequest, 'at'>): number {
  const [whole = '', micros = ''] = [at.slice(0, 23), at.slice(23, -1)]
  return Date.parse(`${whole}Z`) + Number(`0.${micros || '0'}`)
}

/** Ids of transactions are numbers of 16 digits; their last ones tell them apart. */
export function shortTransaction(id: string): string {
  return id === '0' ? 'a write outside of transactions' : `…${id.slice(-5)}`
}
