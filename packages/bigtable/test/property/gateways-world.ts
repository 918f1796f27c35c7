/**
 * Several engines over one store of rows, under an adversary that is a function of a seed. It picks which waiting row operation takes effect
 * next, of all gateways; it lets sleepers wake at any time; and now and then
 *
 *   an answer is lost            the operation took effect, its gateway hears OutcomeUnknown
 *   an answer is late            the operation took effect, its gateway hears so at some later step
 *   an effect is late            the gateway hears OutcomeUnknown, the operation takes effect at some later step
 *   an operation is lost         the gateway hears OutcomeUnknown, nothing happens
 *   an operation is refused      the gateway hears RESOURCE_EXHAUSTED, nothing happens
 *   a gateway dies               its waiting operations take effect later, or never
 *   a gateway stands still       others take it for dead, and it goes on after that
 *   time passes                  35 minutes: callers give up, transactions expire, old cells are swept
 *   a clock is set               of one gateway, some seconds to an hour off, and right again; in one of five runs, in which the store has a
 *                                clock of its own
 *
 * Operations that a store repeats are repeated here too, after any of these faults, until time passes: then they fail. Clocks of gateways differ, and one that dies
 * in the middle of its work is never closed. What was sent before time passed takes effect before it passes again.
 */
// Opening loads it on demand, in real time: the adversary would count steps meanwhile.
import {
  DatastoreError,
  type Engine,
  type Mode,
  openEngine,
  type Random,
  type Scheduler,
  seededRandom,
} from '@sixtables/engine'
import type { RowKey } from '@sixtables/engine/store'
import { virtualStartMicros } from '@sixtables/engine/testing'
import { clockTopic } from '../../src/gateways/clock-rows.ts'
import { severalGateways } from '../../src/gateways/several-gateways.ts'
import type { GatewaysSwitchedOff } from '../../src/gateways/switched-off.ts'
import type { MemoryRows, RowSeam } from '../../src/row-store/memory-rows.ts'
import { OutcomeUnknown } from '../../src/row-store/row-store.ts'

/** A step that waits to be taken. */
interface Waiting {
  readonly gateway: Gateway | undefined
  /** Sleepers of a watch wake last. */
  readonly isIdle: boolean
  /** For the report of a run that does not end. */
  readonly what: string
  take(): void
  /** Of an operation of a store: it takes effect, or is lost, now. */
  readonly land?: (() => void) | undefined
  /** How often time had passed when it was sent. */
  readonly period?: number
  /** It waits until this step if others can be taken. */
  readonly slowUntil?: number
}

export interface Gateway {
  readonly number: number
  readonly engine: Engine
  changeRows(rows: number): Promise<number>
  skewMicros: bigint
  isDead: boolean
  /** Until this step of the world it stands still. */
  stalledUntil: number
  /** Rejects with GatewayDied when it dies. */
  readonly died: Promise<never>
  die(): void
}

/** A client hears nothing more from its gateway. */
export class GatewayDied extends Error {}

/** Longer sleeps end only when time passes: they stand for time-outs. */
const longMs = 8_000
/** Sweeps of old cells look that often. */
const sweepMs = 600_000
const passingMicros = 2_100_000_000n
/** How far clocks are set off, in seconds. */
const setSeconds: readonly number[] = [0, 0, 0, 0.8, 50, -50, 100, -100, 3_600, -3_600]
const stepMs = 50
/** With several clock rows: so many writes of them take long, and stamps of other rows are given meanwhile. */
const slow = { share: 0.3, steps: 400 }
/** In one of four runs so many of all conditional writes, while epochs change often: a write is on its way through two of them. */
const slowInRace = { share: 0.5, steps: 800 }
/** With several clock rows: a raised register is ahead of a clock for two steps of the world, or for many. */
const stepsMicros: readonly number[] = [3, 100, 1_000, 10_000]
/** The watch looks every so often. */
const idleMs = 4_000

export class GatewaysWorld {
  readonly random: Random
  readonly rows: MemoryRows
  readonly gateways: Gateway[] = []
  /** The first error of work in the background. */
  failure: unknown
  steps = 0
  operations = 0
  readonly #switchedOff: GatewaysSwitchedOff
  readonly #faults: number
  readonly #mode: Mode
  /** Whether sweeps of old cells happen. */
  readonly #sweeps: boolean
  readonly #empties: boolean
  /** So few in some runs that commits are refused. */
  readonly #groupBytesMax: number | undefined
  /** Whether clients commit transactions twice at a time. */
  readonly commitsTwice: boolean
  /** Whether expired entities are deleted. */
  readonly expires: boolean
  /** Whether clocks are set, also back. */
  readonly setsClocks: boolean
  /** Told of a row before it is changed. */
  readonly #onChange: (row: RowKey) => void
  /** Most clock rows; 1 = their number never changes. */
  readonly clockRowsMax: number
  /** The share of calls that change that number. */
  readonly rowChanges: number
  readonly #stepMicros: number
  /** Whether commits race with changes of the epoch. */
  readonly races: boolean
  /** Whether writes of other rows take long, too. */
  readonly #slowAppends: boolean
  #waiting: Waiting[] = []
  #sleepers = new Set<() => void>()
  /** How often time has passed. */
  #period = 0
  #isCalm = true

  constructor(
    seed: number,
    switchedOff: GatewaysSwitchedOff,
    rows: MemoryRows,
    onChange: (row: RowKey) => void,
    clockRowsMax: number,
  ) {
    this.clockRowsMax = clockRowsMax
    this.#stepMicros = clockRowsMax > 1 ? (stepsMicros[seed % 4] as number) : 3
    this.races = clockRowsMax > 1 && seed % 4 === 1
    this.#slowAppends = this.races || seed % 8 === 3
    this.random = seededRandom(seed)
    this.#switchedOff = switchedOff
    this.rows = rows
    this.#onChange = onChange
    this.rowChanges = clockRowsMax > 1 ? this.pick([0, 0.05, 0.2]) : 0
    if (this.races) this.rowChanges = 0.2
    this.#faults = (0.03 + this.random.next() * 0.08) / (this.races ? 4 : 1)
    this.#sweeps = this.random.next() < 0.4
    this.#empties = this.#sweeps && seed % 2 === 0
    this.#groupBytesMax = seed % 7 === 2 ? 1_000 : undefined
    this.commitsTwice = seed % 3 === 0
    this.expires = seed % 7 === 0
    this.setsClocks = seed % 5 === 2
    this.#mode = this.random.next() < 0.2 ? 'legacy' : 'firestore'
  }

  get isLegacy(): boolean {
    return this.#mode === 'legacy'
  }

  get sweeps(): boolean {
    return this.#sweeps
  }

  /** Whether much is deleted and hours pass at once, so that heads of empty groups are swept. */
  get empties(): boolean {
    return this.#empties
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random.integer(items.length)] as T
  }

  async open(): Promise<Gateway> {
    const number = this.gateways.length + 1
    // With several clock rows as much as a raised register is ahead.
    const skewMicros = BigInt((this.random.integer(400) - 200) * (this.clockRowsMax > 1 ? 50 : 1))
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
    const store = severalGateways({
      rows: this.rows.through(this.#seamOf(gateway as Gateway)),
      gateway: number,
      groupBytesMax: this.#groupBytesMax,
      switchedOff: this.#switchedOff,
    })
    gateway.changeRows = (rows) => store.changeRows({ projectId: 'p', databaseId: '' }, rows)
    const engine = openEngine({
      store,
      scheduler: this.#schedulerOf(gateway as Gateway),
      seed: number,
      mode: this.#mode,
      switchedOff: this.#switchedOff,
      ttl: this.expires ? [{ kind: 'E', property: 'expires' }] : [],
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
    if (isCalm && this.setsClocks) for (const gateway of this.gateways) gateway.skewMicros = 0n
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

  /** The clock of a gateway is set off, or right. */
  setClock(gateway: Gateway): void {
    gateway.skewMicros = BigInt(this.pick(setSeconds) * 1_000_000)
  }

  /** The time, by the clock of the store. */
  get nowMicros(): bigint {
    // Where clocks are set, wall clocks go as fast as steady ones: else each step would look like a clock that is set.
    const perStep = this.setsClocks ? stepMs * 1000 : this.#stepMicros
    return virtualStartMicros + BigInt(this.steps * perStep) + BigInt(this.#period) * passingMicros
  }

  /** Time passes: what was sent before it did so the last time takes effect, and callers give up. */
  passTime(): void {
    const isOld = ({ land, period = this.#period }: Waiting): boolean => land !== undefined && period < this.#period
    const old = this.#waiting.filter(isOld)
    this.#waiting = this.#waiting.filter((one) => !isOld(one))
    for (const { land } of old) land?.()
    this.#period++
    const sleepers = [...this.#sleepers]
    this.#sleepers.clear()
    for (const wake of sleepers) wake()
  }

  /** Takes steps until the work is done. @throws when it does not end within `stepsMax` steps, with what hangs */
  async run(work: Promise<unknown>, stepsMax: number, each: () => void = () => {}): Promise<void> {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    work.then(over, over)
    const last = this.steps + stepsMax
    for (await turn(); !isOver; await turn()) {
      if (this.steps >= last) throw new Error(`the gateways do not come to an end: ${this.#hanging()}`)
      // Nothing waits, and the work is not over: Node may be loading a module.
      if (!this.#step()) {
        this.steps++
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
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
    throw new Error(`the gateways do not come to rest: ${this.#hanging()}`)
  }

  /** The steps that wait, with how many there are of each. */
  #hanging(): string {
    const counts = new Map<string, number>()
    for (const { gateway, what } of this.#waiting) {
      const name = `${gateway === undefined ? 'late' : `gateway ${gateway.number}`} ${what}`
      counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    return [...counts].map(([name, count]) => `${count} x ${name}`).join(', ') || 'nothing waits'
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
    const waits = ({ isIdle, gateway, slowUntil = 0 }: Waiting): boolean =>
      (skipsIdle && isIdle) || Math.max(slowUntil, gateway?.stalledUntil ?? 0) > this.steps
    for (let tries = 0; tries < waiting.length && waits(waiting[at] as Waiting); tries++) at = (at + 1) % waiting.length
    const [one] = waiting.splice(at, 1)
    this.steps++
    one?.take()
    return true
  }

  #wait(gateway: Gateway, isIdle: boolean, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const take = (): void => {
        signal?.removeEventListener('abort', aborted)
        if (!gateway.isDead) resolve()
      }
      const waiting: Waiting = { gateway, isIdle, what: 'sleeps', take }
      const aborted = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        reject(signal?.reason)
      }
      this.#waiting.push(waiting)
      signal?.addEventListener('abort', aborted)
    })
  }

  /** A sleep that ends when time passes. */
  #longSleep(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        this.#sleepers.delete(wake)
        reject(signal?.reason)
      }
      const wake = (): void => {
        // A signal may outlive many sleeps.
        signal?.removeEventListener('abort', aborted)
        resolve()
      }
      this.#sleepers.add(wake)
      signal?.addEventListener('abort', aborted)
    })
  }

  #schedulerOf(gateway: Gateway): Scheduler {
    return {
      nowMicros: () => this.nowMicros + gateway.skewMicros,
      // A step is long for those who wait: so watches give gateways up that are alive.
      steadyMs: () => this.steps * stepMs + this.#period * Number(passingMicros / 1000n),
      defer: (task) => {
        void this.#wait(gateway, false).then(task)
      },
      sleep: (ms, signal) => {
        if (signal?.aborted) return Promise.reject(signal.reason)
        if (ms <= longMs) return this.#wait(gateway, ms >= idleMs, signal)
        if (ms >= sweepMs && this.#sweeps) return this.#wait(gateway, true, signal)
        return this.#longSleep(signal)
      },
    }
  }

  #seamOf(gateway: Gateway): RowSeam {
    return ({ kind, key }, effect) =>
      new Promise((resolve, reject) => {
        const begun = this.#period
        const what = `${kind} of ${key.slice(0, 1)}`
        const changing = (): ReturnType<typeof effect> => {
          if (kind === 'mutate') this.#onChange(key)
          return effect()
        }
        const send = (): void => {
          const mayBeSlow = kind === 'mutateIf' && (this.#slowAppends || key.includes(clockTopic))
          const { share, steps } = this.races ? slowInRace : slow
          const isSlow = mayBeSlow && this.clockRowsMax > 1 && !this.#isCalm && this.random.next() < share
          const slowUntil = isSlow ? this.steps + this.random.integer(steps) : 0
          this.#waiting.push({ gateway, isIdle: false, what, take, land, period: this.#period, slowUntil })
        }
        const answer = (give: () => void): void => {
          this.#waiting.push({ gateway, isIdle: false, what: `answer to ${what}`, take: give })
        }
        const unknown = (): void => {
          if (kind === 'mutateIf') reject(new OutcomeUnknown('by the wish of this test'))
          else if (this.#period > begun) reject(new DatastoreError('UNAVAILABLE', 'the store did not answer in time'))
          else send()
        }
        const land = (): void => {
          if (this.random.next() < 0.8) changing()
          if (!gateway.isDead) answer(unknown)
        }
        const take = (): void => {
          this.operations++
          if (gateway.isDead) {
            if (this.random.next() < 0.8) changing()
            return
          }
          if (this.#isCalm || this.random.next() >= this.#faults) {
            resolve(changing())
            return
          }
          const fault = this.random.integer(kind === 'mutateIf' ? 5 : 4)
          if (fault === 4) {
            reject(new DatastoreError('RESOURCE_EXHAUSTED', 'by the wish of this test'))
            return
          }
          if (fault === 3) {
            const result = changing()
            answer(() => resolve(result))
            return
          }
          if (fault === 0) changing()
          if (fault === 1) {
            const late = (): void => void changing()
            const period = this.#period
            this.#waiting.push({ gateway: undefined, isIdle: false, what, take: late, land: late, period })
          }
          unknown()
        }
        send()
      })
  }
}

/** Lets promises go on until none can: Node takes a next tick only when no other promise has work. */
function turn(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve))
}
