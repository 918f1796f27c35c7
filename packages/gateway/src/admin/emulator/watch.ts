/**
 * The reports of tablets as events. In one tick of 100 ms, ten streams with the same options get the same event, which is made and printed
 * once, in slices, for the first stream that asks.
 */
import { type Engine, giveWay, type HeatOptions, type Scheduler, turnOfItsOwn } from '@sixtables/engine'
import { eventPieces } from '../../protocols/json-report.ts'

/** An event is valid for this long; no stream may ask for them more often. */
export const tickMs = 100
export const groupsDefault = 20
/** Number of different options whose events are kept; most streams have the default ones. */
const keptMax = 16

interface Kept {
  readonly madeAtMs: number
  readonly event: Promise<Buffer>
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
    const context = this.#engine.context({ signal })
    while (!signal.aborted) {
      yield await this.#event(options)
      await this.#clock.sleep(intervalMs, signal)
      await turnOfItsOwn(context)
    }
  }

  #event(options: HeatOptions): Promise<Buffer> {
    const name = JSON.stringify(options)
    const now = this.#clock.steadyMs()
    const kept = this.#kept.get(name)
    if (kept !== undefined && now - kept.madeAtMs < tickMs) return kept.event
    const event = this.#made(options)
    if (this.#kept.size >= keptMax) this.#kept.clear()
    this.#kept.set(name, { madeAtMs: now, event })
    return event
  }

  async #made(options: HeatOptions): Promise<Buffer> {
    const { tablets } = this.#engine
    const context = this.#engine.context()
    const report = await tablets.reportInSlices(context)
    const workOfPart = report.tablets.length
    const heat = tablets.heat(options)
    await giveWay(context, workOfPart)
    const findings = this.#engine.findings()
    await giveWay(context, workOfPart)
    const pieces: Buffer[] = []
    const event = { report, heat, groups: tablets.groups(groupsDefault), findings }
    for await (const piece of eventPieces(context, event)) pieces.push(piece)
    return Buffer.concat(pieces)
  }
}
