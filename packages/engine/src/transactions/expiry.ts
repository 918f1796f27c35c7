/**
 * The end of transactions that were left alone, or open, for too long.
 *
 *   once a second      all open transactions are looked through: those that would expire before the next look are due
 *   endDue()           ends those whose time is over
 *
 * E1  endDue() ends what has expired, up to {@link endsMax} transactions in a call; the next call goes on.        expiry.test.ts
 * E2  While something waits for transactions, they end at the instant at which they expire.
 */
import { type Scheduler, steadyMicros } from '../clock.ts'
import type { Transaction } from './transaction.ts'

const lookMicros = 1_000_000
const endsMax = 256

export class Expiry {
  readonly #scheduler: Scheduler
  readonly #open: () => Iterable<Transaction>
  #due: readonly Transaction[] = []
  /** The place in `#due` of the first that is not ended. */
  #next = 0
  #lookAt = 0
  #watches = 0
  #watching: AbortController | undefined

  constructor(scheduler: Scheduler, open: () => Iterable<Transaction>) {
    this.#scheduler = scheduler
    this.#open = open
  }

  /** Ends what has expired (E1). @returns the steady time, microseconds */
  endDue(): number {
    const now = steadyMicros(this.#scheduler)
    if (this.#next === this.#due.length && now >= this.#lookAt) this.#look(now)
    for (let ends = 0; ends < endsMax; ) {
      const transaction = this.#due[this.#next]
      if (transaction === undefined) break
      if (transaction.hasExpired(now)) {
        transaction.end('expired')
        ends++
      } else if (transaction.state === 'active' && transaction.expiresAt < this.#lookAt && !transaction.committing)
        break
      this.#next++
    }
    return now
  }

  #look(now: number): void {
    this.#lookAt = now + lookMicros
    const over: Transaction[] = []
    const soon: Transaction[] = []
    for (const transaction of this.#open()) {
      if (transaction.hasExpired(now)) over.push(transaction)
      else if (transaction.expiresAt < this.#lookAt) soon.push(transaction)
    }
    // Those whose time is over need no order: after a pause they may be many.
    this.#due = over.concat(soon.sort((a, b) => a.expiresAt - b.expiresAt))
    this.#next = 0
  }

  /** Something waits for transactions from now on (E2). @returns to be called when it no longer does */
  watch(): () => void {
    this.#watches++
    if (this.#watching === undefined) {
      this.#watching = new AbortController()
      void this.#endInTime(this.#watching.signal)
    }
    return () => {
      if (--this.#watches > 0) return
      this.#watching?.abort()
      this.#watching = undefined
    }
  }

  async #endInTime(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const now = this.endDue()
      const next = (this.#due[this.#next]?.expiresAt ?? this.#lookAt - 1) + 1
      await this.#scheduler.sleep(Math.max(0, (next - now) / 1000), signal).catch(() => {})
    }
  }
}
