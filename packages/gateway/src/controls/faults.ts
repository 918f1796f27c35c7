/**
 * The faults of one emulator, and their effect on a call.
 *
 *   call ─▶ faults that match, oldest first ─▶ latency: the sum of theirs ─▶ error: the first of theirs ─▶ or the engine
 *
 * A fault acts before the engine sees the call, so a call that fails has read and written nothing. Each fault draws from its own seed, once
 * for each matching call: the same calls get the same draws, whatever other faults exist. If two faults would answer one call, the older
 * one answers, and `times` of the other is not used up. Without faults a call costs one comparison.
 *
 * Ours.
 */
import { DatastoreError, type Inspector, type Random, seededRandom } from '@sixtables/engine'
import type { CallFacts } from '../calls/call-facts.ts'
import { checkFault, type FaultOptions, type FaultReport, holdOf, matches } from './fault.ts'

export interface Fault {
  readonly id: string
  /** Number of affected calls, or of held records. */
  readonly hits: number
  /** Ends the fault; resolves after its held commits were released. A second call has no effect. */
  remove(): Promise<void>
}

/** The decision about a call before the engine sees it: passed on, delayed or answered. */
export interface Verdict {
  readonly latencyMs: number
  readonly error: DatastoreError | undefined
}

export class Faults {
  readonly #active = new Map<string, ActiveFault>()
  readonly #hold: Inspector['hold']
  #count = 0
  /** Whether there are faults; read at every call. */
  any = false

  /** @param inspector - holds commits for faults with holdApply */
  constructor(inspector: Pick<Inspector, 'hold'>) {
    this.#hold = inspector.hold.bind(inspector)
  }

  /** @throws INVALID_ARGUMENT with the name of the wrong field */
  add(options: FaultOptions): Fault {
    const checked = checkFault(options)
    this.#count++
    const fault = new ActiveFault(`fault-${this.#count}`, checked, (id) => {
      this.#active.delete(id)
      this.any = this.#active.size > 0
    })
    this.#active.set(fault.id, fault)
    this.any = true
    if (checked.holdApply) fault.releases = this.#hold(holdOf(checked), () => fault.hits++)
    return fault
  }

  /** Holds matching commits before they are applied, until the fault is removed. */
  holdApply(options: Omit<FaultOptions, 'holdApply'> = {}): Fault {
    return this.add({ ...options, holdApply: true })
  }

  /** A fault for one call: `next({ method: 'commit', code: 'ABORTED' })`. */
  next(options: FaultOptions): Fault {
    return this.add({ times: 1, ...options })
  }

  /** The next matching commit fails as if it had lost a conflict. */
  abortNextCommit(options: Omit<FaultOptions, 'method' | 'code'> = {}): Fault {
    return this.next({ ...options, method: 'commit', code: 'ABORTED' })
  }

  list(): readonly FaultReport[] {
    return [...this.#active.values()].map((fault) => fault.report())
  }

  /** @throws NOT_FOUND if there is no such fault, or no longer */
  async remove(id: string): Promise<void> {
    const fault = this.#active.get(id)
    if (fault === undefined)
      throw new DatastoreError('NOT_FOUND', `there is no fault "${id}"; it is over, or was removed`)
    await fault.remove()
  }

  async clear(): Promise<void> {
    await Promise.all([...this.#active.values()].map((fault) => fault.remove()))
  }

  judge(facts: CallFacts): Verdict {
    let latencyMs = 0
    let error: DatastoreError | undefined
    for (const fault of [...this.#active.values()]) {
      const { code, message, latencyMs: own = 0 } = fault.options
      if (
        fault.options.holdApply ||
        !matches(fault.options, facts) ||
        !fault.draws(error === undefined || code === undefined)
      )
        continue
      latencyMs += own
      if (code !== undefined) error = new DatastoreError(code, message ?? `a fault of the test (${fault.id})`)
    }
    return { latencyMs, error }
  }
}

class ActiveFault implements Fault {
  readonly id: string
  readonly options: FaultOptions
  readonly #random: Random
  readonly #gone: (id: string) => void
  #matched = 0
  hits = 0
  releases: (() => Promise<void>) | undefined

  constructor(id: string, options: FaultOptions, gone: (id: string) => void) {
    this.id = id
    this.options = options
    this.#random = seededRandom(options.seed ?? 1)
    this.#gone = gone
  }

  /** Draws whether the fault affects a call that it matches; `may` is false if an older fault answers. */
  draws(may: boolean): boolean {
    const { skip = 0, times, share = 1 } = this.options
    this.#matched++
    const isDrawn = this.#matched > skip && (share === 1 || this.#random.next() < share)
    if (!isDrawn || !may) return false
    this.hits++
    if (this.hits === times) this.#gone(this.id)
    return true
  }

  async remove(): Promise<void> {
    this.#gone(this.id)
    await this.releases?.()
  }

  report(): FaultReport {
    const matched = this.options.holdApply ? this.hits : this.#matched
    return { id: this.id, ...this.options, matched, hits: this.hits }
  }
}
