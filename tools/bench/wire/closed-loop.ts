/**
 * A closed loop: so many streams, each of which sends its next request when its last was answered, for so long.
 *
 * Rates count answers between the end of the warm-up and the end; requests under way then are waited for and not counted. A
 * request slower than the whole time counts by the time it took.
 */
import { CallFailed } from './connection.ts'

export interface LoopOptions {
  /** One call, or several one after the other, such as begin, lookup, commit. */
  operation(i: number): Promise<unknown>
  readonly streams: number
  readonly warmMs: number
  readonly timeMs: number
}

export type LoopResult = Readonly<Awaited<ReturnType<typeof closedLoop>>>

export async function closedLoop({ operation, streams, warmMs, timeMs }: LoopOptions) {
  const latencies: number[] = []
  const countFrom = performance.now() + warmMs
  const end = countFrom + timeMs
  let [number, failures, lastAt] = [0, 0, countFrom]
  const stream = async (): Promise<void> => {
    // An operation that outlasts the warm-up and the time is not counted, so another one is begun behind it.
    for (let from = performance.now(), isCounted = false; from < end || !isCounted; from = performance.now()) {
      isCounted = from >= countFrom
      try {
        await operation(number++)
      } catch (error) {
        if (!(error instanceof CallFailed)) throw error
        failures++
        continue
      }
      const now = performance.now()
      if (!isCounted || (now > end && latencies.length >= streams)) continue
      latencies.push(now - from)
      lastAt = now
    }
  }
  await Promise.all(Array.from({ length: streams }, stream))
  latencies.sort((a, b) => a - b)
  const seconds = (Math.max(end, lastAt) - countFrom) / 1000
  const at = (share: number): number =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0
  return {
    operations: latencies.length,
    failures,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: at(1),
  }
}
