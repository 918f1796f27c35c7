/** An event of `GET /emulator/overview`; docs/reference/http.md has its members. */
import type { DatabaseName } from '../../api/databases.ts'

export interface MethodCounts {
  readonly calls: number
  readonly errors: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface Finding {
  readonly kind: string
  readonly subject: string
  readonly words: string
  readonly evidence: readonly string[]
  readonly remedy: string
  /** Name of the lab that teaches it. */
  readonly lab: string
  readonly lastSeenMs: number
}

export interface OverviewEvent {
  readonly at: string
  readonly seconds: number
  readonly all?: MethodCounts
  readonly methods: Readonly<Record<string, MethodCounts>>
  readonly codes: Readonly<Record<string, number>>
  readonly openTransactions: number
  readonly waitingRecords: number
  readonly databases: readonly DatabaseName[]
  /** Databases behind these. */
  readonly moreDatabases?: number
  readonly findings: readonly Finding[]
}
