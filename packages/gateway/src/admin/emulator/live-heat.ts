/**
 * Heat second by second as events: the first has all recorded seconds, each later one the new seconds. While a stream is open every row operation
 * is counted. A slow client gets fewer events with more seconds each, and loses none: the engine is read only when an event can be sent.
 */
import { type Engine, type Scheduler, turnOfItsOwn } from '@sixtables/engine'
import { eventPieces } from '../../protocols/json-report.ts'

export async function* liveHeat(
  engine: Engine,
  clock: Scheduler,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const reader = engine.tablets.watchHeat()
  const context = engine.context({ signal })
  let lastFindings = ''
  try {
    while (!signal.aborted) {
      const report = await reader.read(context)
      const findings = engine.findings()
      const words = JSON.stringify(findings)
      yield* eventPieces(context, words === lastFindings && !report.isWhole ? report : { ...report, findings })
      lastFindings = words
      await clock.sleep(intervalMs, signal)
      await turnOfItsOwn(context)
    }
  } finally {
    reader.end()
  }
}
