/**
 * The clock of one emulator, for tests. It runs with real time and can be moved forward: after `advance(60_000)` resolves, everything due
 * within that minute is done: transactions and locks have expired, delayed records are applied, entities with a time to live are deleted.
 *
 * Commit versions are times of this clock, but never go back: after reset() they continue from the highest.
 */
import { type Engine, invalidArgument, MovableClock, StandingClock, systemScheduler } from '@sixtables/engine'

/** A clock with real time, or one that stands still (standing-clock.ts). @param standsAt - milliseconds since the epoch */
export function movableClock(standsAt: number | undefined): MovableClock {
  if (standsAt === undefined) return new MovableClock(systemScheduler)
  return new MovableClock(new StandingClock(BigInt(standsAt) * 1000n, systemScheduler))
}

/** That of {@link MovableClock}, which speaks of milliseconds. */
const longestStepMs = 1000 * 365 * 86_400_000

/** The clock over HTTP: `{"now": "2030-01-01T02:00:00.000Z", "offsetMs": 7200000}`. */
export interface ClockReport {
  readonly now: string
  readonly offsetMs: number
}

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

  /** How far it was moved: ahead of real time, or of the moment at which it stands. */
  get offsetMs(): number {
    return this.#clock.offsetMs
  }

  /** Moves forward. @throws INVALID_ARGUMENT for a negative time, or a value that is no time */
  async advance(ms: number): Promise<void> {
    this.#clock.advance(ms)
    await this.#settle()
  }

  /** Moves forward to a moment. @throws INVALID_ARGUMENT for one in the past or too far ahead */
  async advanceTo(moment: Date): Promise<void> {
    const ms = moment.getTime() - Number(this.#clock.nowMicros()) / 1000
    if (!(ms >= 0)) {
      throw invalidArgument(
        `the clock stands at ${this.now().toISOString()}, and is only moved on; a reset of the clock goes back`,
      )
    }
    if (ms > longestStepMs) {
      throw invalidArgument(
        `the clock stands at ${this.now().toISOString()}, and is not moved to ${moment.toISOString()} in one step: a step is at most 1,000 ` +
          'years of 365 days; move it in several',
      )
    }
    await this.advance(ms)
  }

  /** Returns to real time, or to the moment at which it stands. */
  reset(): void {
    this.#clock.reset()
  }

  /** Called when the emulator closes; nothing is done at a due time any more. */
  end(): void {
    this.#clock.end()
  }

  async #settle(): Promise<void> {
    await new Promise<void>((resolve) => this.#clock.defer(() => this.#clock.defer(resolve)))
    const expires = this.#engine.databases().some(({ ttlPolicies }) => ttlPolicies.length > 0)
    if (expires) await this.#engine.sweepExpired()
  }
}
