/**
 * Open-loop load with weights: so many operations a second are offered whatever comes of them, and each operation that goes
 * through the engine stands for many.
 *
 *   slot of load.slotMs ── load.samples operations, evenly over the slot ── each a flow of rate × slot ÷ samples
 *
 * LD1  The weights of a slot add up to its rate times its length, whatever the number of samples.
 * LD2  An operation is sent once; a client of such a load does not try again.
 */
import type { CommitRequest, Key, LookupRequest } from '@sixtables/engine'
import { Histogram } from '../measure/histogram.ts'
import type { ArmSession } from '../session.ts'
import { hasCode, type Put } from './client.ts'
import { entityBytes } from './entities.ts'
import type { Store } from './store.ts'
import type { Watch } from './watch.ts'

export type LoadOperation = { readonly put: Put } | { readonly lookup: Key }

export interface Load {
  readonly seconds: number
  opsPerSecondAt(seconds: number): number
  /**
   * The next operation.
   *
   * @param number - how many operations a second came before it: the sum of all weights, rounded down
   * @param share - where in the slot's samples it stands, 0 to 1: for keys drawn evenly
   */
  next(number: number, share: number): LoadOperation | Promise<LoadOperation>
}

/** What became of the operations of an interval; weights counted. */
export class Outcomes {
  readonly latency: Histogram = new Histogram()
  served = 0
  refused = 0

  clear(): void {
    this.latency.clear()
    this.served = 0
    this.refused = 0
  }
}

/** Operations of a slot go in so many groups, a step of time between two. */
const groupsPerSlot = 8

/** Offers the load, and lets `watch` look at the tablets now and then. */
export async function offer(session: ArmSession, store: Store, load: Load, watch: Watch): Promise<void> {
  const slotMs = session.setting('load.slotMs')
  const samples = session.setting('load.samples')
  const outcomes = new Outcomes()
  const running = new Set<Promise<void>>()
  let offered = 0
  const client = async (): Promise<void> => {
    const slots = Math.round((load.seconds * 1000) / slotMs)
    for (let slot = 0; slot < slots; slot++) {
      const seconds = (slot * slotMs) / 1000
      const weight = (load.opsPerSecondAt(seconds) * slotMs) / 1000 / samples
      let sent = 0
      for (let group = 1; group <= groupsPerSlot; group++) {
        for (; sent < Math.round((samples * group) / groupsPerSlot); sent++) {
          const operation = await load.next(Math.floor(offered), (sent + session.random.next()) / samples)
          offered += weight
          const done = send(store, operation, weight, slotMs, outcomes).finally(() => running.delete(done))
          running.add(done)
        }
        await store.sleep(slotMs / groupsPerSlot)
      }
      session.progress((slot + 1) / slots)
      watch.look(store, (slot + 1) * (slotMs / 1000), outcomes)
    }
    await Promise.all(running)
  }
  await store.together([client()])
}

async function send(
  store: Store,
  operation: LoadOperation,
  weight: number,
  spreadMs: number,
  outcomes: Outcomes,
): Promise<void> {
  const context = store.engine.context({ weight, spreadMs })
  const begun = store.nowMs
  try {
    if ('lookup' in operation) {
      const request: LookupRequest = { keys: [operation.lookup] }
      await store.database.lookup(context, request)
    } else {
      const { operation: verb, key, fields } = operation.put
      const mutations = [{ operation: verb, entity: entityBytes(key, fields) }]
      const request: CommitRequest = { mode: 'nonTransactional', mutations }
      await store.database.commit(context, request)
    }
    outcomes.served += weight
    outcomes.latency.add(store.nowMs - begun, weight)
  } catch (error) {
    if (!isBusy(error)) throw error
    outcomes.refused += weight
  }
}

function isBusy(error: unknown): boolean {
  return hasCode(error, 'RESOURCE_EXHAUSTED') || hasCode(error, 'UNAVAILABLE') || hasCode(error, 'ABORTED')
}
