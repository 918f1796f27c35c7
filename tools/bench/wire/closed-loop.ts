/**
 * A closed loop: so many streams, each of which sends its next request when its last was answered, for so long.
 *
 * Rates count answers between the end of the warm-up and the end; requests under way then are waited for and not counted. A
 * request slower than the whole time counts by the time it took.
 */
import type { Caller } from './caller.ts'
import type { Bytes, MethodName } from './messages.ts'

export interface Call {
  readonly method: MethodName
  readonly message: Bytes
}

/** Calls one after the other, such as begin, lookup, commit; each is answered before the next one is made. */
export type Operation<T = unknown> = Generator<Call, T, Bytes>

const noAnswer: Bytes = new Uint8Array(0)

/** Does an operation once. @throws when a call fails */
export async function runOnce<T>(caller: Pick<Caller, 'ask'>, operation: Operation<T>): Promise<T> {
  for (let answer = noAnswer; ; ) {
    const step = operation.next(answer)
    if (step.done === true) return step.value
    answer = await caller.ask(step.value.method, step.value.message)
  }
}

export interface LoopOptions {
  readonly connection: Pick<Caller, 'call'>
  operation(i: number): Operation
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

export async function closedLoop({ connection, operation, streams, warmMs, timeMs }: LoopOptions): Promise<LoopResult> {
  const latencies: number[] = []
  const begun = performance.now()
  const countFrom = begun + warmMs
  const end = countFrom + timeMs
  let number = 0
  let failures = 0
  let lastAt = countFrom
  const one = (): Promise<void> =>
    new Promise((resolve) => {
      // An operation that outlasts the warm-up and the time is not counted, so another one is begun behind it.
      let isCounted = false
      const next = (): void => {
        const from = performance.now()
        if (from >= end && isCounted) {
          resolve()
          return
        }
        isCounted = from >= countFrom
        const calls = operation(number++)
        const goOn = (before: Bytes): void => {
          const { done, value } = calls.next(before)
          if (done !== true) {
            connection.call(value.method, value.message, (answer) => {
              if (answer !== undefined) goOn(answer)
              else {
                failures++
                next()
              }
            })
            return
          }
          const now = performance.now()
          if (from >= countFrom && (now <= end || latencies.length < streams)) {
            latencies.push(now - from)
            lastAt = now
          }
          next()
        }
        goOn(noAnswer)
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
