/** The latest steps of applying, for the inspector: what was applied, how far, and why. A ring of fixed size. */
import type { ApplyCause, ApplyEvent } from '../../log/apply.ts'
import type { GroupCode } from '../../tables/log-rows.ts'

export interface AppliedStep {
  readonly group: GroupCode
  readonly version: bigint
  readonly reached: 'A' | 'B'
  readonly cause: ApplyCause
}

const stepsKept = 256

export class ApplyHistory {
  readonly #steps: AppliedStep[] = []
  #next = 0

  note({ records, reached, cause }: ApplyEvent): void {
    for (const { group, version } of records) {
      this.#steps[this.#next] = { group, version, reached, cause }
      this.#next = (this.#next + 1) % stepsKept
    }
  }

  /** Oldest first. */
  steps(): readonly AppliedStep[] {
    return this.#steps.length < stepsKept
      ? [...this.#steps]
      : [...this.#steps.slice(this.#next), ...this.#steps.slice(0, this.#next)]
  }
}
