/**
 * One process at a store that several share: the rows, the gateway's number, and its waiting. Work that must finish, such as applying a commit,
 * is repeated whatever the store answers, until the process closes or the store is gone for ever.
 */
import { setMaxListeners } from 'node:events'
import {
  DatastoreError,
  type Random,
  type RequestContext,
  requestContext,
  type Scheduler,
  type StoreState,
} from '@sixtables/engine'
import type { PortParts } from '@sixtables/engine/store'
import type { RowStore } from '../row-store/row-store.ts'
import type { RowsKv } from '../row-store/rows-kv.ts'
import type { CommitId } from './clock-state.ts'
import { ComparedClock } from './compared-clock.ts'
import { groupBytesMax } from './group-bytes.ts'
import type { GatewayMechanism, GatewaysSwitchedOff } from './switched-off.ts'

/** Longest pause between two attempts of background work. */
const pauseMsMax = 5_000

/** Time for which past moments are readable. */
export const readableMicros: bigint = 3_600_000_000n

export interface SharedStoreOptions extends Omit<PortParts, 'adopt'> {
  readonly kv: RowsKv
  /** The number of this gateway, chosen at its start; no two gateways of a store ever have the same. */
  readonly gateway: bigint
  readonly switchedOff?: GatewaysSwitchedOff | undefined
  /** Limit of a group's row in bytes; default 200 MiB. */
  readonly groupBytesMax?: number | undefined
}

export class SharedStore implements StoreState {
  readonly rows: RowStore
  readonly kv: RowsKv
  readonly gateway: bigint
  readonly scheduler: Scheduler
  /** Decides whether clock readings may become stamps. */
  readonly comparedClock: ComparedClock
  readonly random: Random
  readonly rulesOf: PortParts['rulesOf']
  readonly switchedOff: GatewaysSwitchedOff | undefined
  readonly groupBytesMax: number
  readonly #onFailure: (error: unknown) => void
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #commits = 0
  /** Numbers for the names of transactions that began here, and of the rows with their reads. */
  transactions = 0
  notedReads = 0

  constructor(options: SharedStoreOptions) {
    const { kv, gateway, scheduler, random, rulesOf, onFailure, switchedOff } = options
    this.rows = kv.rows
    this.kv = kv
    this.gateway = gateway
    this.scheduler = scheduler
    this.random = random
    this.rulesOf = rulesOf
    this.switchedOff = switchedOff
    this.groupBytesMax = options.groupBytesMax ?? groupBytesMax
    this.comparedClock = new ComparedClock(kv.rows, scheduler, this.isOff('compared-clock'))
    this.#onFailure = onFailure
    // Every sleep listens to this signal; Node warns of a leak at more than ten listeners.
    setMaxListeners(0, this.closing)
  }

  get location(): string {
    return this.rows.location
  }

  get silenceRemedy(): string | undefined {
    return this.rows.silenceRemedy
  }

  /** When the store last answered a call, in steady milliseconds, if that is known. */
  get answeredMs(): number | undefined {
    return this.rows.answeredMs
  }

  get isGone(): boolean {
    return this.rows.isGone === true
  }

  /** The error while the rows cannot be reached, or while this gateway's clock is wrong. */
  get failure(): DatastoreError | undefined {
    return this.rows.failure ?? this.comparedClock.failure
  }

  onFailure(listener: Parameters<Required<StoreState>['onFailure']>[0]): void {
    // One failure may end while the other lasts.
    const tell: typeof listener = (_, recovery) => listener(this.failure, recovery)
    this.rows.onFailure?.(tell)
    this.comparedClock.onFailure(tell)
  }

  /** Aborts when the process closes. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** Whether no call will be answered any more. */
  get isOver(): boolean {
    return this.closing.aborted || this.isGone
  }

  /** A context for work in slices that no client can cancel. */
  context(): RequestContext {
    return requestContext({ clock: this.scheduler })
  }

  newCommitId(): CommitId {
    return `${this.gateway.toString(36)}.${(++this.#commits).toString(36)}`
  }

  isOff(mechanism: GatewayMechanism): boolean {
    return this.switchedOff?.has(mechanism) === true
  }

  sleep(ms: number): Promise<void> {
    return this.scheduler.sleep(ms, this.closing, true)
  }

  /** The pause before another attempt: longer each time, with jitter. */
  pause(attempt: number): Promise<void> {
    return this.sleep(Math.min(pauseMsMax, 5 * 2 ** Math.min(attempt, 12)) * (0.5 + this.random.next() / 2))
  }

  /** Repeats `step` until it succeeds: the store may be unreachable for a while. */
  async persistently<T>(step: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await step()
      } catch (error) {
        if (this.isGone) throw this.rows.failure ?? error
        if (!(error instanceof DatastoreError) || this.closing.aborted) throw error
        await this.pause(attempt)
      }
    }
  }

  /**
   * Runs work for which no caller waits.
   *
   * @param isEndless - whether it runs until the process closes, which does not wait for it
   */
  inBackground(work: () => Promise<void>, isEndless = false): void {
    const running = work().catch((error) => {
      // The store has reported its end itself.
      if (!this.isOver) this.#onFailure(error)
    })
    if (isEndless) return
    this.#running.add(running)
    void running.finally(() => this.#running.delete(running))
  }

  /** Waits for background work while the store answers; no more work begins afterwards. */
  async close(): Promise<void> {
    const ended = async (): Promise<void> => {
      while (this.#running.size > 0) await Promise.all(this.#running)
    }
    const over = new AbortController()
    await Promise.race([ended(), this.scheduler.sleep(pauseMsMax, over.signal, true).catch(() => {})])
    over.abort()
    this.#closing.abort()
  }
}
