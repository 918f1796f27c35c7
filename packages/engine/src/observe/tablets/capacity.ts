/**
 * A tablet server as a fluid queue: work above its capacity waits; work that would wait too long is refused.
 *
 *   backlog' = inflow − capacity, never below 0        wait = backlog ÷ capacity
 *
 * At 1,000 operations a second, an inflow of 1,500 makes the backlog grow by 500 a second; after 2 s the wait is 1 s. Single
 * operations enter at once. A flow, an operation that stands for many, changes the inflow. Between two changes the backlog is a
 * straight line, so no timer is needed.
 *
 * CP1  Admitted work is served or waits, and is never dropped: in any time a server serves at most capacity × time.
 * CP2  Work is admitted while the backlog stays below capacity × queueMsMax at all later times, counting running flows up to
 *      their ends. So the backlog is at most that and the last admitted work.       CP1, CP2: test/property/capacity.test.ts
 *
 * Ours: the model. The delay also grows as the server gets busy, as service ÷ (1 − utilisation), before there is a queue.
 */
import { StepRing } from './step-ring.ts'

/** Time constant of the moving average of utilisation. */
const memoryMs = 1_000
const setBackMs = 60_000
/** Relative error that sums of fractions may have. */
const tolerance = 1e-9

export interface WorkFlow {
  /** Row operations a second. */
  readonly costPerSecond: number
  readonly endsMs: number
}

export class TabletServer {
  readonly id: number
  capacity: number
  queueMsMax: number
  /** Sum of the running flows, row operations a second. */
  flow = 0
  /** Row operations a second of the running flows, by the instants at which flows end. */
  readonly #ending = new Map<number, number>()
  #backlog = 0
  #load = 0
  #atMs: number
  /** Operations refused in the last seconds. Made at the first: an engine has a thousand servers, and most refuse nothing. */
  #refused: StepRing | undefined

  constructor(id: number, nowMs: number, capacity: number, queueMsMax: number) {
    this.id = id
    this.#atMs = nowMs
    this.capacity = capacity
    this.queueMsMax = queueMsMax
  }

  settle(nowMs: number): void {
    const ms = nowMs - this.#atMs
    // A clock that was set back: continue from its time.
    if (ms < -setBackMs) this.#atMs = nowMs
    if (ms <= 0) return
    this.#atMs = nowMs
    const kept = Math.exp(-ms / memoryMs)
    this.#load = this.#load * kept + this.flow * (1 - kept)
    this.#backlog = Math.max(0, this.#backlog + ((this.flow - this.capacity) * ms) / 1000)
  }

  /** Whether work is admitted now (CP2). */
  hasRoom(nowMs: number): boolean {
    const backlog = this.#highestBacklog(nowMs)
    return backlog === 0 || backlog < ((this.capacity * this.queueMsMax) / 1000) * (1 - tolerance)
  }

  /** The highest future backlog without further work. */
  #highestBacklog(nowMs: number): number {
    this.settle(nowMs)
    let backlog = this.#backlog
    let inflow = this.flow
    if (inflow <= this.capacity) return backlog
    // From now on flows only end: the backlog is highest when the inflow falls below the capacity.
    let atMs = nowMs
    for (const [endMs, ending] of [...this.#ending].sort(([a], [b]) => a - b)) {
      backlog += ((inflow - this.capacity) * (endMs - atMs)) / 1000
      inflow -= ending
      if (inflow <= this.capacity) break
      atMs = endMs
    }
    return backlog
  }

  take(nowMs: number, cost: number): void {
    this.settle(nowMs)
    this.#backlog += cost
    this.#load += (cost * 1000) / memoryMs
  }

  addFlow(nowMs: number, { costPerSecond, endsMs }: WorkFlow): void {
    this.settle(nowMs)
    this.flow += costPerSecond
    this.#ending.set(endsMs, (this.#ending.get(endsMs) ?? 0) + costPerSecond)
  }

  /** Removes a flow at its end, or when its tablet moves to another server. */
  removeFlow(nowMs: number, { costPerSecond, endsMs }: WorkFlow): void {
    this.settle(nowMs)
    const rest = (this.#ending.get(endsMs) ?? 0) - costPerSecond
    if (rest > costPerSecond * tolerance) this.#ending.set(endsMs, rest)
    else this.#ending.delete(endsMs)
    // Sums of fractions do not return to exactly 0.
    this.flow = this.#ending.size === 0 ? 0 : Math.max(0, this.flow - costPerSecond)
  }

  refuse(nowMs: number, cost: number): void {
    this.#refused ??= new StepRing(1_000, 15, 1)
    this.#refused.add(this.#refused.at(nowMs), cost)
  }

  refusedPerSecond(nowMs: number, spanMs: number): number {
    if (this.#refused === undefined) return 0
    const [refused = 0] = this.#refused.totals(nowMs, spanMs)
    return refused / this.#refused.slotsOf(spanMs)
  }

  queueMs(nowMs: number): number {
    this.settle(nowMs)
    return (this.#backlog / this.capacity) * 1000
  }

  /** Time until a new operation of `cost` row operations is done. */
  delayMs(nowMs: number, cost: number, serviceMs: number): number {
    const queueMs = this.queueMs(nowMs)
    const utilisation = Math.min(0.95, this.#load / this.capacity)
    return queueMs + (cost / this.capacity) * 1000 + serviceMs / (1 - utilisation)
  }
}
