/**
 * Heat by the second as events: the first has all that is known, each later one what is new. While a stream is open every row
 * operation is counted.
 *
 * LH1  A client that reads slowly gets fewer events, and no less: nothing is read from the engine until it can be sent.
 */
import type { Engine, Scheduler } from '@sixtables/engine'
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
    }
  } finally {
    reader.end()
  }
}
