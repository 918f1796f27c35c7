import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FairQueue } from './fair-queue.ts'

const sliceMs = 2
const aloneMs = 6
const turnMs = 0.5

/** A call of the test: its connection and its duration. */
interface Asked {
  readonly connection: number
  readonly ms: number
}

interface Ran extends Asked {
  readonly call: number
  /** Number of rounds of the event loop so far. */
  readonly round: number
}

/** An event loop with a clock of its own. In each round calls arrive, then deferred functions run. */
class Loop {
  now = 0
  round = 0
  readonly ran: Ran[] = []
  readonly #connections = new Map<number, object>()
  readonly #cancelled = new Set<number>()
  #putOff: (() => void)[] = []
  #calls = 0
  readonly queue: FairQueue = new FairQueue({
    sliceMs,
    aloneMs,
    turnMs,
    now: () => this.now,
    later: (run) => this.#putOff.push(run),
  })

  /** One round, in which the calls arrive. */
  go(calls: readonly Asked[] = []): void {
    this.round++
    for (const call of calls) this.arrive(call)
    const due = this.#putOff
    this.#putOff = []
    for (const run of due) run()
  }

  get isIdle(): boolean {
    return this.#putOff.length === 0 && this.queue.waiting === 0
  }

  /** @returns the number of the call */
  arrive(asked: Asked): number {
    const call = this.#calls++
    const run = (): void => {
      this.now += asked.ms
      this.ran.push({ ...asked, call, round: this.round })
    }
    const connection = this.#connectionOf(asked.connection)
    if (this.queue.isFree(connection)) run()
    else {
      const cancelled = this.#cancelled
      const wanted = {
        get isCancelled(): boolean {
          return cancelled.has(call)
        },
      }
      void this.queue.wait(connection, wanted, run)
    }
    return call
  }

  #connectionOf(number: number): object {
    const known = this.#connections.get(number)
    if (known !== undefined) return known
    const connection = { number }
    this.#connections.set(number, connection)
    return connection
  }

  cancel(call: number): void {
    this.#cancelled.add(call)
  }

  finish(): void {
    for (let rounds = 0; !this.isIdle; rounds++) {
      if (rounds > 100_000) throw new Error('the loop does not come to rest')
      this.go()
    }
  }
}

const connectionsMax = 4
const msMax = 8
const askedArbitrary = fc.record({
  connection: fc.nat(connectionsMax - 1),
  ms: fc.constantFrom(0.01, 0.1, 0.4, 1, 3, msMax),
})
const roundsArbitrary = fc.array(fc.array(askedArbitrary, { maxLength: 20 }), { maxLength: 30 })

describe('calls', () => {
  test('run at once while a slice lasts, and when the loop has been round', () => {
    const loop = new Loop()
    loop.go([
      { connection: 0, ms: 1 },
      { connection: 0, ms: 1 },
    ])
    expect(loop.queue.waiting).toBe(0)
    loop.go([{ connection: 0, ms: 5 }])
    loop.go([{ connection: 0, ms: 5 }])
    expect(loop.ran.map(({ round }) => round)).toEqual([1, 1, 2, 3])
  })

  test('that come after the slice wait for the loop, and one of another connection does not wait for all', () => {
    const loop = new Loop()
    loop.go(Array.from({ length: 100 }, () => ({ connection: 0, ms: 3 })))
    expect(loop.ran).toHaveLength(aloneMs / 3)
    loop.go([{ connection: 1, ms: 0.1 }])
    loop.finish()
    expect(loop.ran).toHaveLength(101)
    expect(loop.ran.findIndex(({ connection }) => connection === 1)).toBeLessThan(2 * (aloneMs / 3) + 1)
  })

  test('have short slices where connections ask in turn, and long ones where one asks alone', () => {
    const loop = new Loop()
    const inRound = (calls: readonly Asked[]): number => {
      const before = loop.ran.length
      loop.go(calls)
      return loop.ran.length - before
    }
    const many = Array.from({ length: 100 }, () => ({ connection: 0, ms: 1 }))
    expect(inRound(many)).toBe(aloneMs)
    loop.finish()
    expect(inRound([{ connection: 1, ms: sliceMs }])).toBe(1)
    expect(inRound(many)).toBe(sliceMs)
    loop.finish()
    loop.now += 2000
    expect(inRound(many)).toBe(aloneMs)
  })

  test('that wait run as long as other work of the loop took since the last slice', () => {
    const loop = new Loop()
    const waiting = Array.from({ length: 100 }, (_, connection) => ({ connection, ms: 1 }))
    loop.go(waiting)
    for (const [otherMs, count] of [
      [0, sliceMs],
      [5, 5],
      [50, aloneMs],
    ] as const) {
      loop.now += otherMs
      const before = loop.ran.length
      loop.go()
      expect(loop.ran.length - before).toBe(count)
    }
  })

  test('that throw reject, and those behind them run', async () => {
    const loop = new Loop()
    loop.go([{ connection: 0, ms: aloneMs }])
    loop.arrive({ connection: 0, ms: aloneMs })
    expect(loop.queue.isFree(loop)).toBe(false)
    const failed = loop.queue.wait(loop, { isCancelled: false }, () => {
      throw new Error('broken')
    })
    const good = loop.queue.wait(loop, { isCancelled: false }, () => 'good')
    loop.finish()
    await expect(failed).rejects.toThrow('broken')
    await expect(good).resolves.toBe('good')
  })
})

describe('whatever comes', () => {
  test('each call runs once, those of a connection in their order (fair-queue/T1), none that was given up', () => {
    fc.assert(
      fc.property(roundsArbitrary, fc.array(fc.nat(200)), (rounds, cancelled) => {
        const loop = new Loop()
        for (const call of cancelled) loop.cancel(call)
        for (const calls of rounds) loop.go(calls)
        loop.finish()
        const all = rounds.flat().map((asked, call) => ({ ...asked, call }))
        for (let connection = 0; connection < connectionsMax; connection++) {
          const own = (list: readonly { connection: number; call: number }[]): number[] =>
            list.filter((one) => one.connection === connection).map(({ call }) => call)
          // A cancelled call may have run at once, before it was cancelled.
          const given = new Set(cancelled)
          const ran = own(loop.ran)
          expect(ran.filter((call) => !given.has(call))).toEqual(own(all).filter((call) => !given.has(call)))
          expect(new Set(ran).size).toBe(ran.length)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('the sockets are looked at after two slices at the latest, each with its last call (fair-queue/T2)', () => {
    fc.assert(
      fc.property(roundsArbitrary, (rounds) => {
        const loop = new Loop()
        const look = (calls: readonly Asked[]): void => {
          const before = loop.now
          loop.go(calls)
          expect(loop.now - before).toBeLessThanOrEqual(2 * (aloneMs + msMax) + 1e-6)
        }
        for (const calls of rounds) look(calls)
        while (!loop.isIdle) look([])
      }),
      { numRuns: 200 },
    )
  })

  test('of connections that wait all the time each has its share (fair-queue/T3)', () => {
    const costs = fc.array(fc.constantFrom(0.01, 0.1, 0.4, 1, 3, msMax), { minLength: 2, maxLength: connectionsMax })
    fc.assert(
      fc.property(costs, (ms) => {
        const loop = new Loop()
        loop.go([{ connection: 99, ms: sliceMs }])
        // Enough calls that each connection still has some at the end.
        const calls = ms.flatMap((each, connection) =>
          Array.from({ length: Math.ceil(100 / each) }, () => ({ connection, ms: each })),
        )
        // The first call arrives in a round whose slice is over, so all of them wait.
        loop.round++
        for (const call of [{ connection: 98, ms: sliceMs }, ...calls]) loop.arrive(call)
        const had = ms.map(() => 0)
        while (had.every((time) => time < 60)) {
          const from = loop.ran.length
          loop.go()
          for (const { connection, ms: took } of loop.ran.slice(from)) had[connection] = (had[connection] ?? 0) + took
        }
        const spread = Math.max(...had) - Math.min(...had)
        expect(spread).toBeLessThanOrEqual(2 * (turnMs + msMax))
      }),
      { numRuns: 30 },
    )
  })
})
