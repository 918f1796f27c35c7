/**
 * A gateway is killed under load. Its clients connect to another one; strong reads meet the commits that it had under way.
 *
 * A put counts as lost if its client heard that it succeeded, and no gateway finds it at the end.
 */
import { Histogram } from '../../measure/histogram.ts'
import type { Recorder } from '../../measure/recorder.ts'
import type { ArmSession } from '../../session.ts'
import { succeeds } from '../../sim/client.ts'
import type { Gateway } from '../../sim/gateways.ts'
import { openFilled, put, type TaskKey } from './scaling.ts'

/** Time between two points of the pictures. */
const slotMs = 20
/** Before and after the end of a gateway; twice as long as what it holds up. */
const lengths = { beforeMs: 300, afterMs: 700 }

type Sort = 'query' | 'lookup' | 'put'
/** Those of the clients, in turn; a lookup takes a small part of the time of the others. */
const sorts: readonly Sort[] = ['query', 'put', 'lookup', 'put']

/** Waits of calls by the time at which they ended. */
class Waits {
  readonly #before = new Histogram()
  readonly #after = new Histogram()
  readonly #slots: number[] = []

  /** @param endMs, killedMs - since the load began */
  add(waitMs: number, endMs: number, killedMs: number): void {
    const slot = Math.floor(endMs / slotMs)
    this.#slots[slot] = Math.max(this.#slots[slot] ?? 0, waitMs)
    if (endMs < killedMs) this.#before.add(waitMs)
    else this.#after.add(waitMs)
  }

  record(record: Recorder, name: string): void {
    record.figure(`${name}, p50 before`, this.#before.quantile(0.5), 'ms')
    record.figure(`${name}, longest after`, this.#after.max, 'ms')
  }

  /** The longest in each slot of the picture. */
  slots(count: number): readonly (number | null)[] {
    return Array.from({ length: count }, (_, slot) => this.#slots[slot] ?? null)
  }
}

export async function kill(session: ArmSession): Promise<void> {
  const { record, random } = session
  const { gateways, first, tasks } = await openFilled(session, session.setting('gateways.killedOf'))
  const { store } = first
  const beginMs = store.nowMs
  const killedMs = beginMs + lengths.beforeMs
  const endMs = killedMs + lengths.afterMs
  const waits = { query: new Waits(), lookup: new Waits(), put: new Waits() }
  const acknowledged: TaskKey[] = []
  const doomed = gateways.all.at(-1) as Gateway
  let failed = 0
  const calls: Readonly<Record<Sort, (gateway: Gateway) => Promise<unknown>>> = {
    query: ({ client }) => client.greatest('Task', 'priority'),
    lookup: ({ client }) => client.lookup(tasks[random.integer(tasks.length)] as TaskKey),
    put: async ({ client }) => {
      const key = client.key({ kind: 'Note', name: `note-${random.integer(2 ** 31)}` })
      await client.commit([put(key, 1)])
      acknowledged.push(key)
    },
  }
  const client = async (place: number): Promise<void> => {
    const sort = sorts[place % sorts.length] as Sort
    await store.sleep(random.next() * 10)
    while (store.nowMs < endMs) {
      // A load balancer gives the next connection to a gateway that is alive.
      const alive = gateways.all.filter(({ isDead }) => !isDead)
      const gateway = alive[Math.floor(place / sorts.length) % alive.length] as Gateway
      const begunMs = store.nowMs
      if (!(await succeeds(() => calls[sort](gateway)))) failed++
      else waits[sort].add(store.nowMs - begunMs, store.nowMs - beginMs, lengths.beforeMs)
    }
  }
  const killer = store.sleep(lengths.beforeMs).then(() => doomed.kill())
  const clients = session.setting('gateways.clients') * gateways.all.length
  await store.together([...Array.from({ length: clients }, (_, place) => client(place)), killer])
  session.progress(0.9)
  waits.query.record(record, 'queries')
  waits.lookup.record(record, 'lookups')
  waits.put.record(record, 'puts')
  record.figure('calls that failed', failed)
  record.figure('acknowledged puts lost', await store.alone(() => first.client.missing(acknowledged)))
  const slots = (lengths.beforeMs + lengths.afterMs) / slotMs
  const title = `longest wait of calls that ended then; a gateway is killed at ${lengths.beforeMs} ms`
  const x = { name: 'ms since the load began', values: Array.from({ length: slots }, (_, slot) => slot * slotMs) }
  const lines = Object.entries(waits).map(([sort, own]) => [sort, own.slots(slots)] as const)
  record.chart(title, 'ms', x, Object.fromEntries(lines))
}
