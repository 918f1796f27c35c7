/**
 * A closed loop: so many streams, each of which sends its next request when its last was answered, for so long.
 *
 * Rates count answers between the end of the warm-up and the end; requests under way then are waited for and not counted. A
 * request slower than the whole time counts by the time it took.
 */
import type { Caller } from './caller.ts'
import type { Bytes, MethodName } from './messages.ts'

export interface Step {
  readonly method: MethodName
  /** @param before - the answer of the step before, in a chain such as begin, lookup, commit */
  message(i: number, before: Bytes | undefined): Bytes
}

export interface LoopOptions {
  readonly connection: Pick<Caller, 'call'>
  /** One step, or a chain that counts as one operation. */
  readonly steps: readonly Step[]
  readonly streams: number
  readonly warmMs: number
  readonly timeMs: number
}

export interface LoopResult {
  readonly operations: number
  readonly failures: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export async function closedLoop({ connection, steps, streams, warmMs, timeMs }: LoopOptions): Promise<LoopResult> {
  const latencies: number[] = []
  const begun = performance.now()
  const countFrom = begun + warmMs
  const end = countFrom + timeMs
  let number = 0
  let failures = 0
  let lastAt = countFrom
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      const next = (): void => {
        const from = performance.now()
        if (from >= end) {
          resolve()
          return
        }
        const i = number++
        const run = (at: number, before: Bytes | undefined): void => {
          const step = steps[at]
          if (step === undefined) {
            const now = performance.now()
            if (from >= countFrom && (now <= end || latencies.length < streams)) {
              latencies.push(now - from)
              lastAt = now
            }
            next()
            return
          }
          connection.call(step.method, step.message(i, before), (answer) => {
            if (answer !== undefined) run(at + 1, answer)
            else {
              failures++
              next()
            }
          })
        }
        run(0, undefined)
      }
      next()
    })
  await Promise.all(Array.from({ length: streams }, one))
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
