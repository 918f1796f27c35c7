/**
 * Leases of background work at a shared store: only to save work, since two gateways may do any of it at once.
 *
 *   M "" "" "lease" <duty> → JSON { gateway, takenAt }
 *
 * LE1  A lease that has not been renewed for its time, by the clock of the gateway that watches it, is free: its gateway has died, or stands
 *      still. No clock is compared with another one.                                        shared-index-work.test.ts
 */
import { metadataRowKey, type RowKey } from '@sixtables/engine/store'
import type { SharedStore } from './shared-store.ts'

interface Lease {
  readonly gateway: string
  /** Microseconds by that gateway's clock: each renewal is another value. */
  readonly takenAt: string
}

interface Seen {
  readonly lease: string
  readonly sinceMs: number
}

export class Leases {
  readonly #store: SharedStore
  /** Leases of other gateways, by duty, as they were seen last. */
  readonly #seen = new Map<string, Seen>()

  constructor(store: SharedStore) {
    this.#store = store
  }

  /**
   * Takes the lease of a duty, or renews it, if no other gateway has it.
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

  /** Looks at the lease of a duty, so that it is known for how long its gateway has not renewed it. */
  async look(duty: string, forMs: number): Promise<void> {
    this.#isFree(duty, await this.#store.kv.get(leaseKey(duty)), forMs)
  }

  /** Lets the duty go: it is done. */
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
  return metadataRowKey({ projectId: '', databaseId: '', topic: 'lease', parts: [duty] })
}
