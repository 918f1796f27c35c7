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

/** Streams of events, which end when their signal aborts. */
export type Watch = (intervalMs: number, options: HeatOptions, signal: AbortSignal) => AsyncGenerator<Buffer>

export function watchOf(engine: Engine, clock: Scheduler): Watch {
  /** The latest events by their options. */
  const latest = new Map<string, { readonly madeAtMs: number; readonly event: Promise<Buffer> }>()
  const eventOf = (options: HeatOptions): Promise<Buffer> => {
    const name = JSON.stringify(options)
    const now = clock.steadyMs()
    const kept = latest.get(name)
    if (kept !== undefined && now - kept.madeAtMs < tickMs) return kept.event
    const event = made(engine, options)
    if (latest.size >= keptMax) latest.clear()
    latest.set(name, { madeAtMs: now, event })
    return event
  }
  return async function* (intervalMs, options, signal) {
    const context = engine.context({ signal })
    while (!signal.aborted) {
      yield await eventOf(options)
      await clock.sleep(intervalMs, signal)
      await turnOfItsOwn(context)
    }
  }
}

async function made(engine: Engine, options: HeatOptions): Promise<Buffer> {
  const { tablets } = engine
  const context = engine.context()
  const report = await tablets.reportInSlices(context)
  const workOfPart = report.tablets.length
  const heat = tablets.heat(options)
  await giveWay(context, workOfPart)
  const findings = engine.findings()
  await giveWay(context, workOfPart)
  const pieces: Buffer[] = []
  const event = { report, heat, groups: tablets.groups(groupsDefault), findings }
  for await (const piece of eventPieces(context, event)) pieces.push(piece)
  return Buffer.concat(pieces)
}
