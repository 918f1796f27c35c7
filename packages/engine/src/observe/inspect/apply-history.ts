/** The latest steps of applying, for the inspector: the records, the milestone and the cause of each. Their number is bounded. */
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
  /** As few of the latest as have {@link stepsKept} steps. */
  readonly #events: Applied[] = []
  #steps = 0

  note({ records, reached, cause }: ApplyEvent): void {
    const latest = records.slice(-stepsKept).map(({ group, version }) => ({ group, version }))
    const event = { records: latest, reached, cause }
    this.#events.push(event)
    this.#steps += stepsOf(event)
    for (;;) {
      const oldest = stepsOf(this.#events[0] as Applied)
      if (this.#steps - oldest < stepsKept) return
      this.#steps -= oldest
      this.#events.shift()
    }
  }

  /** Oldest first. */
  steps(): readonly AppliedStep[] {
    const steps = this.#events.flatMap(({ records, reached, cause }) =>
      milestonesOf[reached].flatMap((milestone) => records.map((one) => ({ ...one, reached: milestone, cause }))),
    )
    return steps.slice(-stepsKept)
  }
}

function stepsOf({ records, reached }: Applied): number {
  return records.length * milestonesOf[reached].length
}
