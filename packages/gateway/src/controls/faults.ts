/**
 * The faults of one emulator, and what they do to a call.
 *
 *   call ─▶ faults that match, oldest first ─▶ latency: the sum of theirs ─▶ error: the first of theirs ─▶ or the engine
 *
 * F1  A fault comes before the engine sees the call: what is failed has read and written nothing.
 * F2  Each fault draws from its own seed, once for each call that it matches: the same calls meet the same faults, whatever
 *     other faults there are.
 * F3  A fault that answers is counted by `times`; one that another's error came before is not.
 * F4  Without faults a call costs one test.                                                       controls/watched-port.ts
 *
 * Ours.
 */
import { DatastoreError, type Inspector, type Random, seededRandom } from '@sixtables/engine'
import type { CallFacts } from '../calls/call-facts.ts'
import { checkFault, type FaultOptions, type FaultReport, holdOf, matches } from './fault.ts'

/** A fault that is in force. */
export interface Fault {
  readonly id: string
  /** Calls that it did something to so far, or records that it held. */
  readonly hits: number
  /** Ends it; resolves when what it held is on its way. Twice is harmless. */
  remove(): Promise<void>
}

/** The fate of a call before the engine sees it: passed on, delayed or answered. */
export interface Verdict {
  readonly latencyMs: number
  readonly error: DatastoreError | undefined
}

export class Faults {
  readonly #active = new Map<string, ActiveFault>()
  readonly #hold: Inspector['hold']
  #count = 0

  /** @param inspector - holds what is to be held */
  constructor(inspector: Pick<Inspector, 'hold'>) {
    this.#hold = inspector.hold.bind(inspector)
  }

  /** Whether there are any: what every call asks. */
  get any(): boolean {
    return this.#active.size > 0
  }

  /** @throws INVALID_ARGUMENT that names the field that is wrong */
  add(options: FaultOptions): Fault {
    const checked = checkFault(options)
    this.#count++
    const fault = new ActiveFault(`fault-${this.#count}`, checked, (id) => this.#active.delete(id))
    this.#active.set(fault.id, fault)
    if (checked.holdApply) fault.releases = this.#hold(holdOf(checked), () => fault.hits++)
    return fault
  }

  /** Holds matching commits back from being applied, until the fault is removed. */
  holdApply(options: Omit<FaultOptions, 'holdApply'> = {}): Fault {
    return this.add({ ...options, holdApply: true })
  }

  /** A fault for one call: `next({ method: 'commit', code: 'ABORTED' })`. */
  next(options: FaultOptions): Fault {
    return this.add({ times: 1, ...options })
  }

  /** The next commit (of those that match) loses a conflict that is not there. */
  abortNextCommit(options: Omit<FaultOptions, 'method' | 'code'> = {}): Fault {
    return this.next({ ...options, method: 'commit', code: 'ABORTED' })
  }

  list(): readonly FaultReport[] {
    return [...this.#active.values()].map((fault) => fault.report())
  }

  /** @throws NOT_FOUND when there is no such fault (any more) */
  async remove(id: string): Promise<void> {
    const fault = this.#active.get(id)
    if (fault === undefined)
      throw new DatastoreError('NOT_FOUND', `there is no fault "${id}"; it is over, or was removed`)
    await fault.remove()
  }

  /** Ends all. */
  async clear(): Promise<void> {
    await Promise.all([...this.#active.values()].map((fault) => fault.remove()))
  }

  /** Decides about a call; counts and draws. */
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
  /** Holds of a fault that holds commits. */
  releases: (() => Promise<void>) | undefined

  constructor(id: string, options: FaultOptions, gone: (id: string) => void) {
    this.id = id
    this.options = options
    this.#random = seededRandom(options.seed ?? 1)
    this.#gone = gone
  }

  /** Whether it does something to a call that it matches, if it may (F2, F3). */
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
