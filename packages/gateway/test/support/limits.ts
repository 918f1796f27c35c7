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
 * @returns what lets the time of those pass that were set so far and not cleared
 */
export function heldTimers(ms: number): () => void {
  const { setTimeout: set, clearTimeout: clear } = globalThis
  const due = new Map<unknown, () => void>()
  const setTimeout = (run: (...args: unknown[]) => void, after?: number, ...args: unknown[]): NodeJS.Timeout => {
    if (after !== ms) return set(run, after, ...args)
    const timer = set(() => {}, 0)
    due.set(timer, () => run(...args))
    return timer
  }
  const clearTimeout = (timer?: NodeJS.Timeout): void => {
    due.delete(timer)
    clear(timer)
  }
  const held = [
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(setTimeout as typeof globalThis.setTimeout),
    vi.spyOn(globalThis, 'clearTimeout').mockImplementation(clearTimeout as typeof globalThis.clearTimeout),
  ]
  onTestFinished(() => held.forEach((one) => void one.mockRestore()))
  return () => {
    for (const [timer, run] of [...due]) if (due.delete(timer)) run()
  }
}
