/**
 * The time of one emulator as its tests see it. It runs with real time, and can be moved on; what falls due on the way is
 * done when advance() resolves: transactions and locks expire, delayed records are applied, entities with a time to live go.
 *
 * Commit versions are times of this clock, and never go back: after reset() they count on from the highest.
 */
import { type Engine, invalidArgument, type MovableClock } from '@sixtables/engine'

export class EmulatorClock {
  readonly #clock: MovableClock
  readonly #engine: Engine

  constructor(clock: MovableClock, engine: Engine) {
    this.#clock = clock
    this.#engine = engine
  }

  now(): Date {
    return new Date(Number(this.#clock.nowMicros() / 1000n))
  }

  /** How far it is ahead of real time. */
  get offsetMs(): number {
    return this.#clock.offsetMs
  }

  /** Moves time on. @throws INVALID_ARGUMENT for what is no time, or goes back */
  async advance(ms: number): Promise<void> {
    this.#clock.advance(ms)
    await this.#settle()
  }

  /** Moves time on to a moment. @throws INVALID_ARGUMENT for one that is past */
  async advanceTo(moment: Date): Promise<void> {
    const ms = moment.getTime() - Number(this.#clock.nowMicros()) / 1000
    if (!(ms >= 0)) {
      throw invalidArgument(`the clock stands at ${this.now().toISOString()}, and is only moved on; reset() goes back`)
    }
    await this.advance(ms)
  }

  /** Back to real time. */
  reset(): void {
    this.#clock.reset()
  }

  /** The emulator is closed, and nothing is to be done any more. */
  end(): void {
    this.#clock.end()
  }

  /** Lets what has fallen due be done. */
  async #settle(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.defer(() => this.#clock.defer(resolve)))
    const expires = this.#engine.databases().some(({ ttlPolicies }) => ttlPolicies.length > 0)
    if (expires) await this.#engine.sweepExpired()
  }
}
