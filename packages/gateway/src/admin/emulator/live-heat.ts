/**
 * Heat by the second as events: the first has all that is known, each later one what is new. While a stream is open every row
 * operation is counted.
 *
 * LH1  A client that reads slowly gets fewer events, and no less: nothing is read from the engine until it can be sent.
 */
import type { Engine, Scheduler } from '@sixtables/engine'
import { eventOf } from '../../protocols/router.ts'

export async function* liveHeat(
  engine: Engine,
  clock: Scheduler,
  intervalMs: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const reader = engine.tablets.watchHeat()
  let lastFindings = ''
  try {
    while (!signal.aborted) {
      const report = reader.read()
      const findings = engine.findings()
      const words = JSON.stringify(findings)
      yield eventOf(words === lastFindings && !report.isWhole ? report : { ...report, findings })
      lastFindings = words
      await clock.sleep(intervalMs, signal)
    }
  } finally {
    reader.end()
  }
}
