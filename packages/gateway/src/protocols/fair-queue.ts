/**
 * A fair queue of calls: it decides which call runs next when more calls arrive than can run at once.
 *
 * One read of a socket may bring hundreds of calls, and Node would run all of them before it looks at another connection. So calls
 * run at once during a time slice. Calls that arrive later wait in a line, one line for each connection, until the event loop has
 * read the other sockets. Deficit round robin serves the lines by the time their calls take: a line spends its credit and then
 * moves to the end. A client with cheap calls gets as much time as a client with expensive calls, and waits for one turn of each
 * other line, not for all of their calls.
 *
 * A connection that has been the only one for a while gets longer slices, so that its answers leave in one write.
 *
 *   call ─┬─ no line waits, slice not over ─▶ runs at once
 *         └─ line of its connection ─▶ first line of the queue ─▶ runs, at the earliest in the next round of the event loop
 *
 * T1  Calls of a connection begin in the order of their arrival.                                         fair-queue.test.ts
 * T2  Between two reads of the sockets calls run for at most two slices, each longer by its last call.   same
 * T3  Of lines that never empty none gets ahead of another by more than two turns and two calls.         same
 * T4  A call that its client has cancelled does not run.                                                 same
 *
 * Known: deficit round robin (Shreedhar and Varghese). Ours: its use for calls, and the figures. What a call does after it has
 * answered by promise, and reading and writing of bytes, is not counted.
 */
import type { MaybePromise } from '@sixtables/engine'

/** Length of a slice: long enough that reading the sockets costs little beside it. */
const sliceMsDefault = 2
/** Length of a slice while only one connection has calls. */
const aloneMsDefault = 20
/** How long after the last switch between connections slices stay short. */
const sharedMs = 1000
/** Credit of a line for one turn. */
const turnMsDefault = 0.5

export interface FairQueueOptions {
  readonly sliceMs?: number
  readonly aloneMs?: number
  readonly turnMs?: number
  /** Milliseconds that only grow. */
  readonly now?: () => number
  /** Runs something after the event loop has looked at the sockets. */
  readonly later?: (run: () => void) => void
}

/** The part of a call that says whether its client still waits. */
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

export class FairQueue {
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
  /** The connection that called last. */
  #last: object | undefined
  #sharedUntil = Number.NEGATIVE_INFINITY

  constructor(options: FairQueueOptions = {}) {
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
    // A function deferred now runs before the next read of the sockets, one deferred from there runs after it.
    if (this.#lines.size === 0) this.#later(() => this.#later(this.#serve))
    this.#lines.set(connection, { first: waiting, last: waiting, credit: this.#turnMs })
  }

  /** A call of another connection than before. */
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
   * A slice for waiting calls in which no line has more than one turn, so that the answers of the lines served are sent
   * before an expensive call of another begins.
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
