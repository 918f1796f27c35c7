/**
 * Several engines over one store of rows, under an adversary that is a function of a seed. It picks which waiting row operation takes effect
 * next, of all gateways; it lets sleepers wake at any time; and now and then
 *
 *   an answer is lost            the operation took effect, its gateway hears OutcomeUnknown
 *   an effect is late            the gateway hears OutcomeUnknown, the operation takes effect at some later step
 *   an operation is lost         the gateway hears OutcomeUnknown, nothing happens
 *   a gateway dies               its waiting operations take effect later, or never
 *   a gateway stands still       others take it for dead, and it goes on after that
 *
 * Operations that a store repeats (rows/RS5) are repeated here too, after any of these faults. Clocks of gateways differ, and one that dies
 * in the middle of its work is never closed.
 */
import type { Scheduler } from '../../src/clock.ts'
import type { Random } from '../../src/random.ts'
import { seededRandom } from '../../src/random.ts'
import { type Engine, openEngine } from '../../src/service/engine.ts'
import { MemoryRows, type RowSeam } from '../../src/storage/memory-rows.ts'
import { OutcomeUnknown } from '../../src/storage/rows.ts'
import type { SwitchedOff } from '../../src/switched-off.ts'
import { virtualStartMicros } from '../../src/testing/virtual-clock.ts'

/** A step that waits to be taken. */
interface Waiting {
  readonly gateway: Gateway | undefined
  /** Sleepers of a watch wake last. */
  readonly isIdle: boolean
  take(): void
}

export interface Gateway {
  readonly number: number
  readonly engine: Engine
  readonly skewMicros: bigint
  isDead: boolean
  /** Until this step of the world it stands still. */
  stalledUntil: number
  /** Rejects with GatewayDied when it dies. */
  readonly died: Promise<never>
  die(): void
}

/** A client hears nothing more from its gateway. */
export class GatewayDied extends Error {}

/** Sleeps above this never end by themselves: they stand for time-outs that this world has no need of. */
const endlessMs = 8_000
/** The watch looks every so often. */
const idleMs = 4_000

export class GatewaysWorld {
  readonly random: Random
  readonly rows: MemoryRows = new MemoryRows()
  readonly gateways: Gateway[] = []
  /** The first error of work in the background. */
  failure: unknown
  steps = 0
  operations = 0
  readonly #switchedOff: SwitchedOff
  readonly #faults: number
  #waiting: Waiting[] = []
  #isCalm = true

  constructor(seed: number, switchedOff: SwitchedOff) {
    this.random = seededRandom(seed)
    this.#switchedOff = switchedOff
    this.#faults = 0.03 + this.random.next() * 0.08
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random.integer(items.length)] as T
  }

  async open(): Promise<Gateway> {
    const number = this.gateways.length + 1
    const skewMicros = BigInt(this.random.integer(400) - 200)
    let die = (): void => {}
    const died = new Promise<never>((_, reject) => {
      die = () => reject(new GatewayDied())
    })
    died.catch(() => {})
    const gateway: { -readonly [field in keyof Gateway]?: Gateway[field] } = {
      number,
      skewMicros,
      isDead: false,
      stalledUntil: 0,
      died,
      die,
    }
    const engine = openEngine({
      shared: { rows: this.rows.through(this.#seamOf(gateway as Gateway)), gateway: number },
      scheduler: this.#schedulerOf(gateway as Gateway),
      seed: number,
      switchedOff: this.#switchedOff,
      retention: { ageMicros: 600n, bytesMax: 1 << 30 },
      onBackgroundFailure: (error) => {
        this.failure ??= error
      },
    })
    gateway.engine = await this.#during(engine)
    this.gateways.push(gateway as Gateway)
    return gateway as Gateway
  }

  get alive(): readonly Gateway[] {
    return this.gateways.filter(({ isDead }) => !isDead)
  }

  /** From now on there are faults, or none any more. */
  set calm(isCalm: boolean) {
    this.#isCalm = isCalm
  }

  /** A gateway dies: what it has sent may still arrive. */
  kill(gateway: Gateway): void {
    gateway.isDead = true
    gateway.die()
  }

  /** A gateway stands still for a while. */
  stall(gateway: Gateway): void {
    gateway.stalledUntil = this.steps + 50 + this.random.integer(400)
  }

  /** Takes steps until the work is done. @throws when it does not end within `stepsMax` steps */
  async run(work: Promise<unknown>, stepsMax: number, each: () => void = () => {}): Promise<void> {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    work.then(over, over)
    const last = this.steps + stepsMax
    for (await turn(); !isOver; await turn()) {
      if (this.steps >= last) throw new Error('the gateways do not come to an end')
      // Nothing waits, and the work is not over: its steps count, too.
      if (!this.#step()) this.steps++
      each()
      if (this.failure !== undefined) throw this.failure
    }
    await work
  }

  /** Lets everything end that is under way, the late effects included. */
  async drain(stepsMax: number): Promise<void> {
    for (let left = stepsMax; left > 0; left--) {
      if (this.failure !== undefined) throw this.failure
      if (!this.#waiting.some(({ isIdle }) => !isIdle)) return
      this.#step(true)
      await turn()
    }
    throw new Error('the gateways do not come to rest')
  }

  async #during<T>(work: Promise<T>): Promise<T> {
    await this.run(work, 10_000)
    return await work
  }

  /** Takes one of the waiting steps. @returns whether there was one */
  #step(withoutIdle = false): boolean {
    const waiting = this.#waiting
    if (waiting.length === 0) return false
    let at = this.random.integer(waiting.length)
    // Watches are slow: they would do all the work of recovery otherwise.
    const skipsIdle = withoutIdle || this.random.next() < 0.9
    const waits = ({ isIdle, gateway }: Waiting): boolean =>
      (skipsIdle && isIdle) || (gateway !== undefined && gateway.stalledUntil > this.steps)
    for (let tries = 0; tries < waiting.length && waits(waiting[at] as Waiting); tries++) at = (at + 1) % waiting.length
    const [one] = waiting.splice(at, 1)
    this.steps++
    one?.take()
    return true
  }

  #wait(gateway: Gateway | undefined, isIdle: boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        signal?.removeEventListener('abort', aborted)
        if (gateway?.isDead !== true) resolve()
      }
      const waiting: Waiting = { gateway, isIdle, take }
      const aborted = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(signal?.reason)
      }
      this.#waiting.push(waiting)
      signal?.addEventListener('abort', aborted)
    })
  }

  #schedulerOf(gateway: Gateway): Scheduler {
    return {
      nowMicros: () => virtualStartMicros + BigInt(this.steps * 3) + gateway.skewMicros,
      // A step is long for those who wait: so watches give gateways up that are alive.
      steadyMs: () => this.steps * 50,
      defer: (task) => {
        void this.#wait(gateway, false).then(task)
      },
      sleep: (ms, signal) => {
        if (signal?.aborted) return Promise.reject(signal.reason)
        if (ms <= endlessMs) return this.#wait(gateway, ms >= idleMs, signal)
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      },
    }
  }

  #seamOf(gateway: Gateway): RowSeam {
    return ({ kind }, effect) =>
      new Promise((resolve, reject) => {
        const take = (): void => {
          this.operations++
          if (gateway.isDead) {
            if (this.random.next() < 0.8) effect()
            return
          }
          if (!this.#isCalm && this.random.next() < this.#faults) {
            this.#fail(effect)
            if (kind === 'mutateIf') reject(new OutcomeUnknown('by the wish of this test'))
            else this.#waiting.push({ gateway, isIdle: false, take })
            return
          }
          resolve(effect())
        }
        this.#waiting.push({ gateway, isIdle: false, take })
      })
  }

  #fail(effect: () => unknown): void {
    const fault = this.random.integer(3)
    if (fault === 0) effect()
    if (fault === 1) this.#waiting.push({ gateway: undefined, isIdle: false, take: () => void effect() })
  }
}

/** Lets promises go on. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
