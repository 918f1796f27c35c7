/**
 * The time of one emulator as its tests see it. It runs with real time, and can be moved on; what falls due on the way is
 * done when advance() resolves: transactions and locks expire, delayed records are applied, entities with a time to live go.
 *
 * Commit versions are times of this clock, and never go back: after reset() they count on from the highest.
 */
import { type Engine, invalidArgument, MovableClock, StandingClock, systemScheduler } from '@sixtables/engine'

/**
 * The clock of an emulator: real time, or one that stands at a moment (standing-clock.ts).
 *
 * @param standsAt - milliseconds since the epoch
 */
export function movableClock(standsAt: number | undefined): MovableClock {
  if (standsAt === undefined) return new MovableClock(systemScheduler)
  return new MovableClock(new StandingClock(BigInt(standsAt) * 1000n, systemScheduler))
}

/**
 * A moment at which a clock may stand, in milliseconds since the epoch.
 *
 * @returns `undefined` for what is none: a time with its zone, from 1970 to 9000, so that there is time to move on to
 */
export function standsAtOf(moment: string | Date): number | undefined {
  const isText = typeof moment === 'string'
  if (isText && !/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/.test(moment)) return undefined
  const ms = new Date(moment).getTime()
  return ms >= 0 && ms <= Date.UTC(9000, 0) ? ms : undefined
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

  /** How far it was moved on: ahead of real time, or of where it would stand. */
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
      throw invalidArgument(
        `the clock stands at ${this.now().toISOString()}, and is only moved on; a reset of the clock goes back`,
      )
    }
    await this.advance(ms)
  }

  /** Back to real time, or to where it would stand. */
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
