/**
 * Time, passed in. Nothing else in the engine asks the machine for the time or sets a timer (the tidy test holds this), so
 * that a test or a lab can run on virtual time.
 */
import { WallClock } from './wall-clock.ts'

/** The engine's only source of time and of later turns. */
export interface Scheduler {
  /**
   * Microseconds since the epoch. May stand still or go back, as a clock that is set right does; users that need order keep their own last
   * value, and those that wait go by {@link steadyMs}.
   */
  nowMicros(): bigint
  /** Milliseconds since a moment of no meaning. Never goes back: for how long something takes. Stands while the machine is suspended. */
  steadyMs(): number
  /** Runs `task` in a later turn, after what arrived in this one. */
  defer(task: () => void): void
  /**
   * Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first.
   *
   * @param isAwaited - a caller waits for the result: the process must not exit meanwhile, even if it has nothing else
   */
  sleep(ms: number, signal?: AbortSignal, isAwaited?: boolean): Promise<void>
}

const wallClock = new WallClock(
  () => Date.now(),
  () => performance.now(),
  performance.timeOrigin,
)

/** The machine's clock and timers. */
export const systemScheduler: Scheduler = {
  nowMicros() {
    return wallClock.nowMicros()
  },
  steadyMs() {
    return performance.now()
  },
  defer(task) {
    setImmediate(task)
  },
  sleep(ms, signal, isAwaited = false) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason)
        return
      }
      const onAbort = () => {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      if (!isAwaited) timer.unref?.()
      signal?.addEventListener('abort', onAbort, { once: true })
    })
  },
}

/** Whole microseconds of the steady clock. */
export function steadyMicros(clock: Pick<Scheduler, 'steadyMs'>): number {
  return Math.round(clock.steadyMs() * 1000)
}

/**
 * Measures how long ago something was, where trusting an old reading would do harm: by the clock that has gone further. The steady one
 * stands while the machine is suspended, the other one while it is behind.
 *
 * @returns microseconds since this call
 */
export function stopwatch(clock: Pick<Scheduler, 'nowMicros' | 'steadyMs'>): () => bigint {
  const startMicros = clock.nowMicros()
  const startMs = clock.steadyMs()
  return () => {
    const passed = clock.nowMicros() - startMicros
    const steady = BigInt(Math.floor((clock.steadyMs() - startMs) * 1000))
    return passed > steady ? passed : steady
  }
}
