/** Readers that wait for news, such as the next call: `await readers.next(signal, 15_000)`, and `readers.wake()` when there is one. */
export class Readers {
  readonly #wakes = new Set<() => void>()

  wake(): void {
    for (const wake of [...this.#wakes]) wake()
  }

  /** Resolves at the next wake(), when the signal aborts, or after the time. */
  next(signal: AbortSignal, ms?: number): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#wakes.delete(wake)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = ms === undefined ? undefined : setTimeout(wake, ms)
      this.#wakes.add(wake)
      signal.addEventListener('abort', wake)
    })
  }
}
