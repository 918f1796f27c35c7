/** The latest steps of applying, for the inspector: the record, the milestone and the cause of each. Their number is bounded. */
import type { ApplyEvent } from '../../log/apply.ts'
import type { PendingRecord } from '../../log/pending.ts'
import { milestonesOf } from '../../log/record-writes.ts'

interface AppliedStep extends Pick<PendingRecord, 'group' | 'version'>, Pick<ApplyEvent, 'cause'> {
  readonly reached: 'A' | 'B'
}

const stepsKept = 256

export class ApplyHistory {
  #steps: AppliedStep[] = []

  note({ records, reached, cause }: ApplyEvent): void {
    for (const milestone of milestonesOf[reached]) {
      for (const { group, version } of records.slice(-stepsKept)) {
        this.#steps.push({ group, version, reached: milestone, cause })
      }
    }
    if (this.#steps.length >= 2 * stepsKept) this.#steps = this.#steps.slice(-stepsKept)
  }

  /** Oldest first. */
  steps(): readonly AppliedStep[] {
    return this.#steps.slice(-stepsKept)
  }
}
