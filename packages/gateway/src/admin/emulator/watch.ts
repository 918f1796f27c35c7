/**
 * The reports of tablets as events. In one tick of 100 ms, ten streams with the same options get the same event, which is made and printed
 * once, by the first stream that asks.
 */
import type { Engine, HeatOptions, Scheduler } from '@sixtables/engine'
import { eventOf } from '../../protocols/router.ts'

/** An event is valid for this long; no stream may ask for them more often. */
export const tickMs = 100
export const groupsDefault = 20
/** Number of different options whose events are kept; most streams have the default ones. */
const keptMax = 16

interface Kept {
  readonly madeAtMs: number
  readonly event: Buffer
}

export class Watch {
  readonly #engine: Engine
  readonly #clock: Scheduler
  /** The latest events by their options. */
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
