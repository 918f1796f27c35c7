/**
 * A fair queue of calls: it decides which call runs next when more calls arrive than can run at once.
 *
 * One read of a socket may bring hundreds of calls, and Node would run all of them before it looks at another connection. So calls
 * run at once during a time slice. Calls that arrive later wait in a line, one line for each connection, until the event loop has
 * read the other sockets. Deficit round robin serves the lines by the time their calls take: a line spends its credit and then
 * moves to the end. Client A sends 500 queries of 5 ms, then client B one lookup: the lookup waits for one turn of A, not for 500 queries.
 *
 * A connection that has been the only one for a while gets longer slices, so that its answers leave in one write. While calls wait, a slice
 * is as long as all other work since the last one, so that slices of long calls get half of the time at most.
 *
 *   call ─┬─ no line waits, slice not over ─▶ runs at once
 *         └─ line of its connection ─▶ first line of the queue ─▶ runs, at the earliest in the next round of the event loop
 *
 * T1  Calls of a connection begin in the order of their arrival.                                         fair-queue.test.ts
 * T2  Between two reads of the sockets calls run for at most two slices, each longer by its last call.   same
 * T3  Of lines that are never empty, none gets ahead of another by more than two turns and two calls.    same
 *
 * Known: deficit round robin (Shreedhar and Varghese). Ours: its use for calls, and the figures. Not counted: work of a call after it
 * returned a promise, and the reading and writing of bytes.
 */
import type { MaybePromise } from '@sixtables/engine'

/** Length of a slice; reading the sockets should cost little compared with it. */
const sliceMsDefault = 2
/** Length of a slice while only one connection has calls. */
const aloneMsDefault = 20
/** Slices stay short for this long after calls of two connections met. */
const sharedMs = 1000
/** Credit of a line for one turn. */
const turnMsDefault = 0.5

export interface FairQueueOptions {
  readonly sliceMs?: number
  readonly aloneMs?: number
  readonly turnMs?: number
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
  /** Defers a function until the event loop has read the sockets. */
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

interface Line {
  first: Waiting | undefined
  last: Waiting | undefined
  /** Milliseconds left to run; below zero after a call that took longer. */
  credit: number
}

export class FairQueue {
  readonly #sliceMs: number
  readonly #aloneMs: number
  readonly #turnMs: number
  readonly #now: () => number
  readonly #later: (run: () => void) => void
  /** By connection, in the order of service. */
  readonly #lines = new Map<object, Line>()
  #sliceEndsAt = Number.NEGATIVE_INFINITY
  /** Whether the sockets were read, or are about to be, since the slice began. */
  #isOver = true
  #last: object | undefined
  #sharedUntil = Number.NEGATIVE_INFINITY
  /** The end of the last slice of waiting calls, or the time at which the first one began to wait. */
  #servedAt = 0

  constructor(options: FairQueueOptions = {}) {
    this.#sliceMs = options.sliceMs ?? sliceMsDefault
    this.#aloneMs = options.aloneMs ?? aloneMsDefault
    this.#turnMs = options.turnMs ?? turnMsDefault
    this.#now = options.now ?? performance.now.bind(performance)
    this.#later = options.later ?? setImmediate
  }

  /** Number of connections with waiting calls. */
  get waiting(): number {
    return this.#lines.size
  }

  /** Whether a call may run at once; otherwise its caller must {@link wait}. */
  isFree(connection: object): boolean {
    if (connection !== this.#last) this.#meet(connection)
    if (this.#lines.size > 0) return false
    const now = this.#now()
    if (now < this.#sliceEndsAt) return true
    if (!this.#isOver) return false
    this.#begin(now)
    return true
  }

  /** Runs `work` when it is the call's turn. A call that is cancelled before does not run, and its promise stays pending. */
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
    // A function deferred now runs before the next read of the sockets; one deferred from there runs after it.
    if (this.#lines.size === 0) {
      this.#servedAt = this.#now()
      this.#later(() => this.#later(this.#serve))
    }
    this.#lines.set(connection, { first: waiting, last: waiting, credit: this.#turnMs })
  }

  /** Shortens the slices if the call is of another connection than the latest one. */
  #meet(connection: object): void {
    if (this.#last !== undefined) {
      const now = this.#now()
      this.#sharedUntil = now + sharedMs
      this.#sliceEndsAt = Math.min(this.#sliceEndsAt, now + this.#sliceMs)
    }
    this.#last = connection
  }

  /**
   * @param otherMs - the time since the last slice of waiting calls
   * @returns whether several connections share the slice
   */
  #begin(now: number, otherMs = 0): boolean {
    const isShared = now < this.#sharedUntil || this.#lines.size > 1
    const shortMs = Math.max(this.#sliceMs, Math.min(otherMs, this.#aloneMs))
    this.#sliceEndsAt = now + (isShared ? shortMs : this.#aloneMs)
    this.#isOver = false
    this.#later(this.#end)
    return isShared
  }

  readonly #end = (): void => {
    this.#isOver = true
  }

  /**
   * Serves the lines for one slice, one turn each at most, so that their answers are sent before an expensive call of another
   * line begins.
   */
  readonly #serve = (): void => {
    const now = this.#now()
    const isShared = this.#begin(now, now - this.#servedAt)
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
    this.#servedAt = this.#now()
    if (this.#lines.size > 0) this.#later(this.#serve)
  }

  /**
   * Runs calls of a line while it has credit and the slice lasts.
   *
   * @param isCharged - false for the only line, which spends no credit
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
      // An old entry that kept its successor would keep all later ones from the collector of the young generation.
      waiting.behind = undefined
    }
    if (line.first === undefined) line.last = undefined
  }
}
