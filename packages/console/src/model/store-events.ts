/** The events of `GET /emulator/commits`, as docs/reference/http.md has them. */
import type { ApplyReport, CommitReport, ReloadReport } from '@sixtables/engine'

/** Exactly one of the members is there; `lost` counts the events that a slow reader missed. */
export interface StoreEvent {
  readonly commit?: CommitReport
  readonly apply?: ApplyReport
  readonly reload?: ReloadReport
  readonly lost?: number
}

export type StepEvent = CommitReport | ApplyReport
