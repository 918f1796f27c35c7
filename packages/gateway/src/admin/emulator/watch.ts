/**
 * The reports of tablets as events, for all who watch them.
 *
 *   stream ──┐
 *   stream ──┼─▶ one event of the last tick ◀─ made by the first stream that asks
 *   stream ──┘
 *
 * W1  In a tick one event is made and serialised for all streams with the same options, however many there are.   watch.test.ts
 */
import type { Engine, HeatOptions, Scheduler } from '@sixtables/engine'
import { eventOf } from '../../protocols/router.ts'

/** An event serves streams for this long; no stream may ask for them more often. */
export const tickMs = 100
export const groupsDefault = 20
/** Options of heat whose events are kept; streams mostly leave them out. */
const keptMax = 16

interface Kept {
  readonly madeAtMs: number
  readonly event: Buffer
}

export class Watch {
  readonly #engine: Engine
  readonly #clock: Scheduler
  /** The last events by their options. */
  readonly #kept = new Map<string, Kept>()

  constructor(engine: Engine, clock: Scheduler) {
    this.#engine = engine
    this.#clock = clock
  }

  async *events(intervalMs: number, options: HeatOptions, signal: AbortSignal): AsyncGenerator<Buffer> {
    while (!signal.aborted) {
      yield this.#event(options)
      await this.#clock.sleep(intervalMs, signal)
    }
  }

  #event(options: HeatOptions): Buffer {
    const name = JSON.stringify(options)
    const now = this.#clock.steadyMs()
    const kept = this.#kept.get(name)
    if (kept !== undefined && now - kept.madeAtMs < tickMs) return kept.event
    const { tablets } = this.#engine
    const event = eventOf({
      report: tablets.report(),
      heat: tablets.heat(options),
      groups: tablets.groups(groupsDefault),
      findings: this.#engine.findings(),
    })
    if (this.#kept.size >= keptMax) this.#kept.clear()
    this.#kept.set(name, { madeAtMs: now, event })
    return event
  }
}
