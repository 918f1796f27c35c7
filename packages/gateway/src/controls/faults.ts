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

interface ActiveFault extends Fault {
  readonly options: FaultOptions
  readonly random: Random
  matched: number
  hits: number
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
  add(given: FaultOptions): Fault {
    const options = checkFault(given)
    const id = `fault-${++this.#count}`
    let release: (() => Promise<void>) | undefined
    const remove = async (): Promise<void> => {
      this.#end(id)
      await release?.()
    }
    const fault = { id, options, random: seededRandom(options.seed ?? 1), matched: 0, hits: 0, remove }
    this.#active.set(id, fault)
    this.any = true
    if (options.holdApply) release = this.#hold(holdOf(options), () => fault.hits++)
    return fault
  }

  #end(id: string): void {
    this.#active.delete(id)
    this.any = this.#active.size > 0
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
    return [...this.#active.values()].map(({ id, options, matched, hits }) => {
      return { id, ...options, matched: options.holdApply ? hits : matched, hits }
    })
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
      const { holdApply, code, message, latencyMs: own = 0, skip = 0, times, share = 1 } = fault.options
      if (holdApply || !matches(fault.options, facts)) continue
      fault.matched++
      const isDrawn = fault.matched > skip && (share === 1 || fault.random.next() < share)
      // An older fault answers.
      if (!isDrawn || (error !== undefined && code !== undefined)) continue
      if (++fault.hits === times) this.#end(fault.id)
      latencyMs += own
      if (code !== undefined) error = new DatastoreError(code, message ?? `a fault of the test (${fault.id})`)
    }
    return { latencyMs, error }
  }
}
