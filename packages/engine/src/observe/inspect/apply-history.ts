/** The latest steps of applying, for the inspector: the records, the milestone and the cause of each. A ring of fixed size. */
import type { ApplyCause, ApplyEvent } from '../../log/apply.ts'
import { milestonesOf } from '../../log/record-writes.ts'
import type { GroupCode } from '../../tables/log-rows.ts'

export interface AppliedStep {
  readonly group: GroupCode
  readonly version: bigint
  readonly reached: 'A' | 'B'
  readonly cause: ApplyCause
}

const stepsKept = 256

/** An event without the images of its records. */
interface Applied extends Pick<ApplyEvent, 'reached' | 'cause'> {
  readonly records: readonly Pick<AppliedStep, 'group' | 'version'>[]
}

export class ApplyHistory {
  readonly #events: Applied[] = []
  #next = 0

  note({ records, reached, cause }: ApplyEvent): void {
    const latest = records.slice(-stepsKept).map(({ group, version }) => ({ group, version }))
    this.#events[this.#next] = { records: latest, reached, cause }
    this.#next = (this.#next + 1) % stepsKept
  }

  /** Oldest first. */
  steps(): readonly AppliedStep[] {
    const events = [...this.#events.slice(this.#next), ...this.#events.slice(0, this.#next)]
    let steps: AppliedStep[] = []
    for (const { records, reached, cause } of events.reverse()) {
      const own = milestonesOf[reached].flatMap((milestone) =>
        records.map((one) => ({ ...one, reached: milestone, cause })),
      )
      steps = [...own, ...steps]
      if (steps.length >= stepsKept) break
    }
    return steps.slice(-stepsKept)
  }
}
