/**
 * Leases of background work at a shared store: only to save work, since two gateways may do any of it at once.
 *
 *   M "" "" "lease" <duty> → JSON { gateway, until }         until: microseconds, by the clock of the gateway that took it
 */
import type { RowKey } from '../storage/kv.ts'
import { metadataRowKey } from '../tables/metadata-rows.ts'
import type { SharedStore } from './shared-store.ts'

interface Lease {
  readonly gateway: string
  readonly until: number
}

/** Takes the lease of a duty for some time, if no other gateway has it. */
export async function takeLease(store: SharedStore, duty: string, forMs: number): Promise<boolean> {
  const key: RowKey = metadataRowKey({ projectId: '', databaseId: '', topic: 'lease', parts: [duty] })
  const stored = await store.kv.get(key)
  const now = Number(store.scheduler.nowMicros())
  const gateway = String(store.gateway)
  if (stored !== undefined) {
    const lease = JSON.parse(Buffer.from(stored).toString('utf8')) as Lease
    if (lease.until > now && lease.gateway !== gateway) return false
  }
  const taken: Lease = { gateway, until: now + forMs * 1000 }
  return await store.kv.mutateIf({ key, value: Buffer.from(JSON.stringify(taken)) }, stored)
}
