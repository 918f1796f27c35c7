/**
 * Leases of background work at a shared store. They only save work: two gateways may do any of it at the same time.
 *
 *   M "" "" "lease" <duty> → JSON { gateway, takenAt }
 *
 * A gateway that sees the same lease for longer than its time, by its own clock, may take it: the other gateway has died, or stands still. No
 * clock is compared with another one.
 */
import { type RowKey, topicRowKey, wholeStore } from '@sixtables/engine/store'
import type { SharedStore } from './shared-store.ts'

interface Lease {
  readonly gateway: string
  /** Microseconds of that gateway's clock: each renewal is another value. */
  readonly takenAt: string
}

interface Seen {
  readonly lease: string
  readonly sinceMs: number
}

export class Leases {
  readonly #store: SharedStore
  /** Leases of other gateways, by duty, at the latest look. */
  readonly #seen = new Map<string, Seen>()

  constructor(store: SharedStore) {
    this.#store = store
  }

  /**
   * Takes or renews the lease of a duty, unless another gateway has it.
   *
   * @param forMs - time after which others may take it; the same for all
   */
  async take(duty: string, forMs: number): Promise<boolean> {
    const { kv, scheduler, gateway } = this.#store
    const key = leaseKey(duty)
    const stored = await kv.get(key)
    if (!this.#isFree(duty, stored, forMs)) return false
    const lease: Lease = { gateway: String(gateway), takenAt: String(scheduler.nowMicros()) }
    const isTaken = await kv.mutateIf({ key, value: Buffer.from(JSON.stringify(lease)) }, stored)
    if (isTaken) this.#seen.delete(duty)
    return isTaken
  }

  /** Reads the lease of a duty, to know how long its gateway has not renewed it. */
  async look(duty: string, forMs: number): Promise<void> {
    this.#isFree(duty, await this.#store.kv.get(leaseKey(duty)), forMs)
  }

  /** Gives the lease back when the work is done. */
  async end(duty: string): Promise<void> {
    await this.#store.kv.mutate({ key: leaseKey(duty), value: undefined })
  }

  #isFree(duty: string, stored: Uint8Array | undefined, forMs: number): boolean {
    if (stored === undefined) return true
    const lease = Buffer.from(stored).toString('utf8')
    if ((JSON.parse(lease) as Lease).gateway === String(this.#store.gateway)) return true
    const nowMs = this.#store.scheduler.steadyMs()
    const seen = this.#seen.get(duty)
    if (seen?.lease === lease) return nowMs - seen.sinceMs >= forMs
    this.#seen.set(duty, { lease, sinceMs: nowMs })
    return false
  }
}

function leaseKey(duty: string): RowKey {
  return topicRowKey(wholeStore, 'lease', duty)
}
