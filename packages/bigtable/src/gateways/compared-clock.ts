/**
 * The clock of this gateway, compared with that of its store.
 *
 *   at the start, every ten minutes, when the wall clock has stepped against the steady one, and before a big move of a register
 *   ─▶ compared ─▶ a minute apart at most: its readings may become stamps
 *              └─▶ more: commits, transactions and strong reads are refused, the store counts as failing ─▶ compared each second
 *
 * A comparison holds until the wall clock steps: that is seen without a call. The age of the comparison is looked at too where a stamp would move
 * a register by more than others have, as a clock may go wrong in ways that this process does not see.
 *
 * CK1  A clock that is more than a minute off gives no stamp.                               compared-clock.test.ts, test/property/gateways.test.ts
 * CK2  It is told once, with figures, and so is its end.                                                         compared-clock.test.ts
 *
 * A store without a clock of its own is trusted to have gateways with right ones.
 */
import { DatastoreError, type Scheduler, type StoreState, stopwatch } from '@sixtables/engine'
import { clockDifferenceMicrosMax, type RowStore } from '../row-store/row-store.ts'

/** The wall clock has stepped when it has moved by so much more or less than the steady one. */
const stepMicros = 1_000_000n
/** A register is moved by more than this only soon after a comparison. */
const bigMoveMicros = 5_000_000n
const soonMicros = 60_000_000n
const answeredWithinMicros = 5_000_000n
const compareEveryMicros = 600_000_000n
const lookEveryMs = 5_000
/** While it is wrong. */
const againEveryMs = 1_000

type Listener = Parameters<Required<StoreState>['onFailure']>[0]

interface Compared {
  /** By how much the wall clock was ahead of the steady one. */
  readonly origin: bigint
  /** By how much it was ahead of the clock of the store. */
  readonly ahead: bigint
  /** @returns microseconds since then */
  age(): bigint
}

export interface ComparedClockParts {
  readonly rows: Pick<RowStore, 'clockMicros' | 'location'>
  readonly scheduler: Scheduler
  /** For tests alone: whether no comparison is made (switched-off.ts). */
  readonly isOff: boolean
}

export class ComparedClock {
  readonly #rows: ComparedClockParts['rows']
  readonly #scheduler: Scheduler
  readonly #isTrusted: boolean
  readonly #listeners: Listener[] = []
  #last: Compared | undefined
  #comparing: Promise<void> | undefined
  #failure: DatastoreError | undefined

  constructor({ rows, scheduler, isOff }: ComparedClockParts) {
    this.#rows = rows
    this.#scheduler = scheduler
    this.#isTrusted = isOff || rows.clockMicros === undefined
  }

  /** With what stamps are refused, as the clock is wrong. */
  get failure(): DatastoreError | undefined {
    return this.#failure
  }

  onFailure(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** By how many microseconds it is ahead of the clock of the store; `undefined` = it was not compared yet. */
  get aheadMicros(): bigint | undefined {
    return this.#last === undefined ? undefined : this.#last.ahead + this.#steppedMicros(this.#last)
  }

  /** @param move - by how much a stamp of now would move a register, in microseconds @returns whether it may be given */
  isRight(move: bigint): boolean {
    if (this.#isTrusted) return true
    if (this.#failure !== undefined || this.#hasStepped) return false
    return move <= bigMoveMicros || (this.#last !== undefined && this.#last.age() <= soonMicros)
  }

  /**
   * Compares, where that is needed before a stamp; see {@link isRight}.
   *
   * @throws UNAVAILABLE when the clock is wrong; the error of a store that does not answer
   */
  async ensureRight(move: bigint): Promise<void> {
    if (this.isRight(move)) return
    if (this.#failure === undefined || this.#hasStepped) await this.#compare()
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Keeps comparing: a gateway that gets no calls, as it is wrong, learns so that it is right. */
  async watch(sleep: (ms: number) => Promise<void>): Promise<void> {
    if (this.#isTrusted) return
    for (;;) {
      const isDue =
        this.#failure !== undefined ||
        this.#hasStepped ||
        (this.#last?.age() ?? compareEveryMicros) >= compareEveryMicros
      if (isDue) {
        await this.#compare().catch((error) => {
          if (!(error instanceof DatastoreError)) throw error
        })
      }
      await sleep(this.#failure === undefined ? lookEveryMs : againEveryMs)
    }
  }

  get #origin(): bigint {
    return this.#scheduler.nowMicros() - BigInt(Math.round(this.#scheduler.steadyMs() * 1000))
  }

  #steppedMicros({ origin }: Compared): bigint {
    return this.#origin - origin
  }

  get #hasStepped(): boolean {
    return this.#last !== undefined && this.#hasSteppedSince(this.#last)
  }

  #hasSteppedSince(compared: Compared): boolean {
    const stepped = this.#steppedMicros(compared)
    return stepped > stepMicros || stepped < -stepMicros
  }

  /** All who wait share a comparison. */
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
      // Theirs is of a moment between the two.
      const ahead = before > theirs ? before - theirs : after < theirs ? after - theirs : 0n
      const compared = { origin, ahead, age }
      // It was set meanwhile, or the answer took so long that the readings tell little.
      if (this.#hasSteppedSince(compared) || age() > answeredWithinMicros) continue
      this.#last = compared
      this.#judge(ahead)
      return
    }
  }

  #judge(ahead: bigint): void {
    const wasRight = this.#failure === undefined
    const isRight = ahead <= clockDifferenceMicrosMax && ahead >= -clockDifferenceMicrosMax
    this.#failure = isRight
      ? undefined
      : new DatastoreError(
          'UNAVAILABLE',
          `the clock of this gateway is ${this.#inWords(ahead)}, and at most ${clockDifferenceMicrosMax / 1_000_000n} s are allowed, so that it ` +
            'takes no commits, transactions and strong reads; set the clock right: the gateway looks every second, and goes on by itself',
        )
    if (wasRight === isRight) return
    const words = `the clock of this gateway is right again: ${this.#inWords(ahead)}`
    for (const listener of this.#listeners) listener(this.#failure, words)
  }

  #inWords(ahead: bigint): string {
    const seconds = (ahead < 0n ? -ahead : ahead) / 1_000_000n
    return `${seconds} s ${ahead < 0n ? 'behind' : 'ahead of'} the clock of the ${this.#rows.location}`
  }
}
