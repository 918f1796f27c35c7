/**
 * Limits of real time, taken out of a test that is about something else: a machine that stands still for a while would end a call
 * that has not begun.
 */
import { onTestFinished, vi } from 'vitest'

/** Until the test has ended, no `AbortSignal.timeout` comes. */
export function withoutTimeouts(): void {
  const held = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal)
  onTestFinished(() => held.mockRestore())
}

/**
 * Holds the timers of this length until the test has ended.
 *
 * @returns what lets the time of those that were set so far pass
 */
export function heldTimers(ms: number): () => void {
  const real = globalThis.setTimeout
  const due: (() => void)[] = []
  const setTimeout = (run: (...args: unknown[]) => void, after?: number, ...args: unknown[]): NodeJS.Timeout => {
    if (after !== ms) return real(run, after, ...args)
    const timer = real(() => {}, 0)
    due.push(() => run(...args))
    return timer
  }
  const held = vi.spyOn(globalThis, 'setTimeout').mockImplementation(setTimeout as typeof globalThis.setTimeout)
  onTestFinished(() => held.mockRestore())
  return () => {
    for (const run of due.splice(0)) run()
  }
}
