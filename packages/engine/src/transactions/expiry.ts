/**
 * The expiry of transactions: 60 s without a call, or 270 s open.
 *
 *   once a second      looks at all open transactions; those that expire before the next look are due
 *   endDue()           ends the due transactions whose time is over
 *
 * The calls of endDue() in one turn of the event loop end at most {@link endsMax} transactions together; a later turn continues.
 * While something waits for transactions, a timer ends each of them at the instant of its expiry.
 */
import { type Scheduler, steadyMicros } from '../clock.ts'
import type { Transaction } from './transaction.ts'

const lookMicros = 1_000_000
const endsMax = 256

export class Expiry {
  readonly #scheduler: Scheduler
  readonly #open: () => Iterable<Transaction>
  #due: readonly Transaction[] = []
  /** The place in `#due` of the next one to end. */
  #next = 0
  #lookAt = 0
  /** Transactions that were ended in this turn of the event loop. */
  #ends = 0
  #watches = 0
  #watching: AbortController | undefined

  constructor(scheduler: Scheduler, open: () => Iterable<Transaction>) {
    this.#scheduler = scheduler
    this.#open = open
  }

  /** Ends expired transactions, up to {@link endsMax} in a turn. @returns the steady time, microseconds */
  endDue(): number {
    const now = steadyMicros(this.#scheduler)
    if (this.#next === this.#due.length && now >= this.#lookAt) this.#look(now)
    while (this.#ends < endsMax) {
      const transaction = this.#due[this.#next]
      if (transaction === undefined) break
      if (transaction.hasExpired(now)) {
        transaction.end('expired')
        if (this.#ends++ === 0) this.#scheduler.defer(() => (this.#ends = 0))
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
    // Expired transactions need no order, and after a pause they may be many.
    this.#due = over.concat(soon.sort((a, b) => a.expiresAt - b.expiresAt))
    this.#next = 0
  }

  /** Something waits for transactions from now on. @returns a function that ends this */
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
