/**
 * A tablet server as a fluid queue: what flows in above its capacity waits; what waits longer than a bound is refused.
 *
 *   backlog' = inflow − capacity, between 0 and capacity × queueMsMax        wait = backlog ÷ capacity
 *
 * CP1  Operations of weight 1 enter at once; flows (operations that stand for many) change the inflow, and the backlog grows
 *      or shrinks in a straight line between two changes: no timer is needed.
 * CP2  What flows in while the queue is full counts as refused.
 *
 * Ours: the model. A wait also grows as the server gets busy, as service ÷ (1 − utilisation), before any queue stands.
 */

/** Utilisation is forgotten with this time constant. */
const memoryMs = 1_000
const setBackMs = 60_000

export class TabletServer {
  readonly id: number
  capacity: number
  queueMsMax: number
  /** Cost of flows, row operations a second. */
  flow = 0
  #backlog = 0
  #load = 0
  #atMs: number
  /** Operations refused since the start. */
  refused = 0
  /** Made at the first refusal: an engine has a thousand servers, and most refuse nothing. */
  #refusedBySecond: Float64Array | undefined
  #refusedSecond = 0

  constructor(id: number, nowMs: number, capacity: number, queueMsMax: number) {
    this.id = id
    this.#atMs = nowMs
    this.capacity = capacity
    this.queueMsMax = queueMsMax
  }

  /** Brings backlog and utilisation up to now (CP1). */
  settle(nowMs: number): void {
    const ms = nowMs - this.#atMs
    // A clock that was set back: from there it goes on.
    if (ms < -setBackMs) this.#atMs = nowMs
    if (ms <= 0) return
    this.#atMs = nowMs
    const kept = Math.exp(-ms / memoryMs)
    this.#load = this.#load * kept + this.flow * (1 - kept)
    const backlog = this.#backlog + ((this.flow - this.capacity) * ms) / 1000
    const most = (this.capacity * this.queueMsMax) / 1000
    if (backlog > most) this.refuse(nowMs, backlog - most)
    this.#backlog = Math.min(most, Math.max(0, backlog))
  }

  /** An operation of so many row operations comes in at once. */
  take(nowMs: number, cost: number): void {
    this.settle(nowMs)
    this.#backlog += cost
    this.#load += (cost * 1000) / memoryMs
  }

  changeFlow(nowMs: number, by: number): void {
    this.settle(nowMs)
    this.flow = Math.max(0, this.flow + by)
  }

  refuse(nowMs: number, cost: number): void {
    this.refused += cost
    this.#refusedBySecond ??= new Float64Array(16)
    const bySecond = this.#refusedBySecond
    const second = Math.floor(nowMs / 1000)
    for (let gone = Math.max(this.#refusedSecond + 1, second - 15); gone <= second; gone++) bySecond[gone % 16] = 0
    this.#refusedSecond = second
    bySecond[second % 16] = (bySecond[second % 16] as number) + cost
  }

  refusedPerSecond(nowMs: number, spanMs: number): number {
    if (this.#refusedBySecond === undefined) return 0
    const now = Math.floor(nowMs / 1000)
    const count = Math.min(15, Math.ceil(spanMs / 1000))
    let sum = 0
    for (let s = Math.max(now - count + 1, this.#refusedSecond - 15); s <= this.#refusedSecond; s++) {
      if (s >= 0) sum += this.#refusedBySecond[s % 16] as number
    }
    return sum / count
  }

  /** How long what comes now stands in the queue. */
  queueMs(nowMs: number): number {
    this.settle(nowMs)
    return (this.#backlog / this.capacity) * 1000
  }

  /** Whether what comes now is refused. */
  isFull(nowMs: number): boolean {
    return this.queueMs(nowMs) >= this.queueMsMax * 0.999
  }

  /** Time until an operation of `cost` row operations that comes now is done. */
  delayMs(nowMs: number, cost: number, serviceMs: number): number {
    const queueMs = this.queueMs(nowMs)
    const utilisation = Math.min(0.95, this.#load / this.capacity)
    return queueMs + (cost / this.capacity) * 1000 + serviceMs / (1 - utilisation)
  }
}
