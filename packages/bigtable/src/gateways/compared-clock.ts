/**
 * The clock of this gateway, compared with that of its store.
 *
 *   at the start, every ten minutes, when the wall clock has stepped against the steady one, and before a big move of a register
 *   ─▶ compared ─▶ at most a minute apart: its readings may become stamps
 *              └─▶ more: commits, transactions and strong reads are refused, the store counts as failing ─▶ compared each second
 *
 * A comparison is valid until the wall clock steps, which is visible without a call. A wrong clock is reported once, and so is its end. A store
 * without a clock of its own trusts the clocks of its gateways.
 *
 * CK1  A clock that is more than a minute wrong gives no stamp.                             compared-clock.test.ts, test/property/gateways.test.ts
 */
import { DatastoreError, type Scheduler, type StoreState, stopwatch } from '@sixtables/engine'
import { clockDifferenceMicrosMax, type RowStore } from '../row-store/row-store.ts'

/** The wall clock has stepped if it moved by this much more or less than the steady one. */
export const stepMicros = 1_000_000n
/** A register is raised by more than this only soon after a comparison. */
const bigMoveMicros = 5_000_000n
const soonMicros = 60_000_000n
const answeredWithinMicros = 5_000_000n
const compareEveryMicros = 600_000_000n
const lookEveryMs = 5_000
/** Pause between comparisons while the clock is wrong. */
const againEveryMs = 1_000

type Listener = Parameters<Required<StoreState>['onFailure']>[0]

interface Compared {
  /** Distance of the wall clock ahead of the steady one. */
  readonly origin: bigint
  /** Distance of the wall clock ahead of the store's. */
  readonly ahead: bigint
  /** @returns microseconds since the comparison */
  age(): bigint
}

type ClockOfStore = Pick<RowStore, 'clockMicros' | 'location'>

export class ComparedClock {
  readonly #rows: ClockOfStore
  readonly #scheduler: Scheduler
  readonly #isTrusted: boolean
  readonly #listeners: Listener[] = []
  #last: Compared | undefined
  #comparing: Promise<void> | undefined
  /** The error for requests while the clock is wrong. */
  failure: DatastoreError | undefined

  /** @param isOff - for tests: whether no comparison is made (switched-off.ts) */
  constructor(rows: ClockOfStore, scheduler: Scheduler, isOff: boolean) {
    this.#rows = rows
    this.#scheduler = scheduler
    this.#isTrusted = isOff || rows.clockMicros === undefined
  }

  onFailure(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** Microseconds that it is ahead of the store's clock; `undefined` before the first comparison. */
  get aheadMicros(): bigint | undefined {
    return this.#last === undefined ? undefined : this.#last.ahead + this.#steppedMicros(this.#last)
  }

  /** @param move - microseconds by which a stamp of now would raise a register @returns whether the stamp may be given */
  isRight(move: bigint): boolean {
    if (this.#isTrusted) return true
    if (this.failure !== undefined || this.#hasStepped()) return false
    return move <= bigMoveMicros || (this.#last !== undefined && this.#last.age() <= soonMicros)
  }

  /**
   * Compares the clocks if a stamp needs it; see {@link isRight}.
   *
   * @throws UNAVAILABLE for a wrong clock; the error of a store that does not answer
   */
  async ensureRight(move: bigint): Promise<void> {
    if (this.isRight(move)) return
    if (this.failure === undefined || this.#hasStepped()) await this.#compare()
    if (this.failure !== undefined) throw this.failure
  }

  /** Compares regularly, so that a gateway with a wrong clock and without calls notices when it is right again. */
  async watch(sleep: (ms: number) => Promise<void>): Promise<void> {
    if (this.#isTrusted) return
    for (;;) {
      const isDue =
        this.failure !== undefined ||
        this.#hasStepped() ||
        (this.#last?.age() ?? compareEveryMicros) >= compareEveryMicros
      if (isDue) {
        await this.#compare().catch((error) => {
          if (!(error instanceof DatastoreError)) throw error
        })
      }
      await sleep(this.failure === undefined ? lookEveryMs : againEveryMs)
    }
  }

  get #origin(): bigint {
    return this.#scheduler.nowMicros() - BigInt(Math.round(this.#scheduler.steadyMs() * 1000))
  }

  #steppedMicros({ origin }: Compared): bigint {
    return this.#origin - origin
  }

  #hasStepped(compared = this.#last): boolean {
    const stepped = compared === undefined ? 0n : this.#steppedMicros(compared)
    return stepped > stepMicros || stepped < -stepMicros
  }

  /** Compares once for all callers that wait. */
  #compare(): Promise<void> {
    this.#comparing ??= this.#compareNow().finally(() => {
      this.#comparing = undefined
    })
    return this.#comparing
  }

  async #compareNow(): Promise<void> {
    for (;;) {
      const age = stopwatch(this.#scheduler)
      const origin = this.#origin
      const before = this.#scheduler.nowMicros()
      const theirs = (await this.#rows.clockMicros?.()) ?? before
      const after = this.#scheduler.nowMicros()
      // The store's reading is of a moment between our two.
      const ahead = before > theirs ? before - theirs : after < theirs ? after - theirs : 0n
      const compared = { origin, ahead, age }
      // The clock was set meanwhile, or the answer took so long that the readings tell little.
      if (this.#hasStepped(compared) || age() > answeredWithinMicros) continue
      this.#last = compared
      this.#judge(ahead)
      return
    }
  }

  #judge(ahead: bigint): void {
    const wasRight = this.failure === undefined
    const isRight = ahead <= clockDifferenceMicrosMax && ahead >= -clockDifferenceMicrosMax
    this.failure = isRight
      ? undefined
      : new DatastoreError(
          'UNAVAILABLE',
          `the clock of this gateway is ${this.#inWords(ahead)}, and at most ${clockDifferenceMicrosMax / 1_000_000n} s are allowed, so that it ` +
            'takes no commits, transactions and strong reads; set the clock right: the gateway looks every second, and goes on by itself',
        )
    if (wasRight === isRight) return
    const words = `the clock of this gateway is right again: ${this.#inWords(ahead)}`
    for (const listener of this.#listeners) listener(this.failure, words)
  }

  #inWords(ahead: bigint): string {
    const seconds = (ahead < 0n ? -ahead : ahead) / 1_000_000n
    return `${seconds} s ${ahead < 0n ? 'behind' : 'ahead of'} the clock of the ${this.#rows.location}`
  }
}
