/**
 * Whose call is next, when there is more to do than a moment holds.
 *
 * One read of a socket may bring hundreds of calls, and Node would run them all before it looks at another connection. So calls
 * run at once for a slice of time; those that come after it stand in a line, one for each connection, until the event loop has
 * been round to read what others sent. Lines are served in turns by the time that their calls take (deficit round robin): a line
 * spends its credit, then goes to the end of the queue of lines; who comes with cheap calls gets as much time as who comes with
 * dear ones, and waits for a turn of each of the others, not for all that they have asked.
 *
 * Where one connection has asked alone for a while, its slices are longer: its answers go out together.
 *
 *   call ─┬─ nobody waits, slice not over ─▶ runs at once
 *         └─ line of its connection ─▶ first line of the queue ─▶ runs, at the earliest in the loop's next round
 *
 * T1  Calls of a connection begin in the order in which they came.                                       turns.test.ts
 * T2  Between two looks at the sockets calls run for two slices at most, each longer by its last call.   same
 * T3  Of lines that wait all the time none gets ahead of another by more than two turns and two calls.   same
 * T4  A call that its client has given up does not run.                                                  same
 *
 * Known: deficit round robin (Shreedhar and Varghese). Ours: its use for calls, and the figures. What a call does after it has
 * answered by promise, and reading and writing of bytes, is not counted.
 */
import type { MaybePromise } from '@sixtables/engine'

/** How long calls run before others are looked for: long enough that to look costs nothing beside it. */
const sliceMsDefault = 2
/** The same while one connection asks alone. A new one waits for that a few times, until its first call has come. */
const aloneMsDefault = 20
/** For how long those who asked in turn are expected to do so again. */
const sharedMs = 1000
/** How much time a line gets in a turn. */
const turnMsDefault = 0.5

export interface TurnsOptions {
  readonly sliceMs?: number
  readonly aloneMs?: number
  readonly turnMs?: number
  /** Milliseconds that only grow. */
  readonly now?: () => number
  /** Runs something after the event loop has looked at the sockets. */
  readonly later?: (run: () => void) => void
}

/** As much of a call as decides whether it is still wanted. */
interface Wanted {
  readonly isCancelled: boolean
}

interface Waiting {
  readonly call: Wanted
  readonly run: () => void
  behind: Waiting | undefined
}

/** Calls of a connection. */
interface Line {
  first: Waiting | undefined
  last: Waiting | undefined
  /** Milliseconds that it may run for; below zero when a call took more than there was. */
  credit: number
}

export class Turns {
  readonly #sliceMs: number
  readonly #aloneMs: number
  readonly #turnMs: number
  readonly #now: () => number
  readonly #later: (run: () => void) => void
  /** By connection, in the order in which they are served. */
  readonly #lines = new Map<object, Line>()
  #sliceEndsAt = Number.NEGATIVE_INFINITY
  /** Whether the sockets were looked at, or are about to be, since the slice began. */
  #isOver = true
  /** Who asked last. */
  #last: object | undefined
  #sharedUntil = Number.NEGATIVE_INFINITY

  constructor(options: TurnsOptions = {}) {
    this.#sliceMs = options.sliceMs ?? sliceMsDefault
    this.#aloneMs = options.aloneMs ?? aloneMsDefault
    this.#turnMs = options.turnMs ?? turnMsDefault
    this.#now = options.now ?? ((): number => performance.now())
    this.#later = options.later ?? setImmediate
  }

  /** Connections of which calls wait. */
  get waiting(): number {
    return this.#lines.size
  }

  /** Whether a call may run at once; otherwise it is to {@link wait}. */
  isFree(connection: object): boolean {
    if (connection !== this.#last) this.#meet(connection)
    if (this.#lines.size > 0) return false
    const now = this.#now()
    if (now < this.#sliceEndsAt) return true
    if (!this.#isOver) return false
    this.#begin(now)
    return true
  }

  /** Runs `work` when its turn has come. A call that is cancelled before is never answered (T4). */
  wait<T>(connection: object, call: Wanted, work: () => MaybePromise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      this.#add(connection, { call, run, behind: undefined })
    })
  }

  #add(connection: object, waiting: Waiting): void {
    const line = this.#lines.get(connection)
    if (line?.last !== undefined) {
      line.last.behind = waiting
      line.last = waiting
      return
    }
    // What is put off now comes before the next look at the sockets, what is put off then comes after it.
    if (this.#lines.size === 0) this.#later(() => this.#later(this.#serve))
    this.#lines.set(connection, { first: waiting, last: waiting, credit: this.#turnMs })
  }

  /** Somebody else than before. */
  #meet(connection: object): void {
    if (this.#last !== undefined) {
      const now = this.#now()
      this.#sharedUntil = now + sharedMs
      this.#sliceEndsAt = Math.min(this.#sliceEndsAt, now + this.#sliceMs)
    }
    this.#last = connection
  }

  #isShared(now: number): boolean {
    return now < this.#sharedUntil || this.#lines.size > 1
  }

  #begin(now: number): void {
    this.#sliceEndsAt = now + (this.#isShared(now) ? this.#sliceMs : this.#aloneMs)
    this.#isOver = false
    this.#later(this.#end)
  }

  readonly #end = (): void => {
    this.#isOver = true
  }

  /**
   * A slice for those who wait, in which no line has more than one turn: so the answers of those whose turn it was are sent
   * before a dear call of another begins.
   */
  readonly #serve = (): void => {
    const now = this.#now()
    this.#begin(now)
    const isShared = this.#isShared(now)
    let turns = this.#lines.size
    for (const [connection, line] of this.#lines) {
      this.#serveLine(line, isShared)
      const isEmpty = line.first === undefined
      const isSpent = line.credit <= 0
      if (isEmpty || isSpent) this.#lines.delete(connection)
      if (isSpent && !isEmpty) {
        line.credit += this.#turnMs
        this.#lines.set(connection, line)
      }
      if (--turns === 0 || this.#now() >= this.#sliceEndsAt) break
    }
    if (this.#lines.size > 0) this.#later(this.#serve)
  }

  /**
   * Runs calls of a line while it has credit and the slice lasts.
   *
   * @param isCharged - where a line has the slice for itself, it spends no credit
   */
  #serveLine(line: Line, isCharged: boolean): void {
    let now = this.#now()
    while (line.first !== undefined && line.credit > 0 && now < this.#sliceEndsAt) {
      const waiting = line.first
      if (!waiting.call.isCancelled) {
        waiting.run()
        const after = this.#now()
        if (isCharged) line.credit -= after - now
        now = after
      }
      line.first = waiting.behind
      // One that has become old would keep all that came behind it from the collector of young objects.
      waiting.behind = undefined
    }
    if (line.first === undefined) line.last = undefined
  }
}
