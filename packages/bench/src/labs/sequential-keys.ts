/**
 * New entities under four ways of making keys, ramped up by the book.
 *
 * Known: the best-practice page on keys: avoid monotonically increasing ids and names; allocated ids are scattered.
 */
import type { Key } from '@sixtables/engine'
import { type Arm, figureOf, type Lab } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { tabletSettingValues } from '../settings.ts'
import { idOf } from '../sim/client.ts'
import { text, unindexed } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import { offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampOf, rampSettings } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'
import { Watch } from '../sim/watch.ts'

const kind = 'Customer'

/** Makes the key of the n-th customer. */
type KeyMaker = (
  make: (element: Key['path'][number]) => Key,
  n: number,
  allocate: () => Promise<bigint>,
) => Key | Promise<Key>

const makers: Readonly<Record<string, { readonly about: string; readonly make: KeyMaker }>> = {
  'sequential-ids': { about: 'ids 1, 2, 3, …', make: (key, n) => key({ kind, id: BigInt(n + 1) }) },
  'numbered-names': {
    about: 'names Customer1, Customer2, …',
    make: (key, n) => key({ kind, name: `Customer${n + 1}` }),
  },
  'allocated-ids': {
    about: 'ids from allocateIds',
    make: async (key, _n, allocate) => key({ kind, id: await allocate() }),
  },
  'hashed-names': {
    about: 'names that begin with a hash of the number',
    make: (key, n) => key({ kind, name: `${hashOf(`${n + 1}`)}-Customer${n + 1}` }),
  },
}

async function run(session: ArmSession, make: KeyMaker): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const allocate = allocator(store)
  const load = rampOf(session, async (n) => ({
    put: {
      operation: 'insert',
      key: await make((element) => store.key(element), n, allocate),
      fields: { name: unindexed(text(`customer ${n + 1}`)) },
    },
  }))
  const watch = new Watch(['Entities', 'EntitiesByKind'], 30)
  await offer(session, store, load, watch)

  const settled = watch.settled(120)
  for (const table of ['Entities', 'EntitiesByKind'] as const) {
    const { tablets, busiestShare, busiestToMean } = watch.tableAtEnd(table)
    record.figure(`${table}: tablets`, tablets, '')
    record.figure(`${table}: busiest`, busiestShare * 100, '% of the load')
    record.figure(`${table}: busiest to mean`, busiestToMean, 'times')
  }
  record.figure('offered', load.opsPerSecondAt(load.seconds - 1), 'a second')
  record.figure('served', settled.served, 'a second')
  record.figure('refused', settled.refused, 'a second')
  record.figure('p50', settled.p50Ms, 'ms')
  record.figure('p99', settled.p99Ms, 'ms')
  watch.drawHeat(record, store, 'Entities')
  watch.draw(record)
}

function allocator(store: Store): () => Promise<bigint> {
  const incomplete = store.key({ kind })
  return async () => idOf((await store.database.allocateIds(store.context(), [incomplete]))[0])
}

const arms: readonly Arm[] = Object.entries(makers).map(([name, { about, make }]) => ({
  name,
  about,
  run: (session) => run(session, make),
  drive: (wire) =>
    openLoop(wire, async (n) => ({
      operation: 'upsert',
      key: await make(
        (element) => wire.client.key(element),
        n,
        () => wire.client.allocateId(wire.client.key({ kind })),
      ),
      fields: { name: unindexed(text(`customer ${n + 1}`)) },
    })),
}))

export const sequentialKeys: Lab = {
  name: 'sequential-keys',
  title: 'keys that rise, and keys that scatter',
  question:
    'New customers come in faster and faster, ramped up by the book. Does it matter whether their keys are 1, 2, 3 …, ' +
    'Customer1, Customer2 …, allocated, or begin with a hash?',
  idea:
    'Rows lie in the order of their keys, and a tablet is a range of them. Keys that rise all fall at the end of the last ' +
    'tablet; wherever it is split, the next keys fall into its right half alone. Scattered keys fall everywhere, and every ' +
    'split halves the load.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    'ramp.minutes': 50,
  },
  arms,
  expectations: [
    ...['sequential-ids', 'numbered-names'].flatMap((name) => [
      {
        says: `${name}: the busiest tablet carries over 90 % of the load, however many splits`,
        arms: [name],
        judge: (of: Parameters<Lab['expectations'][number]['judge']>[0]) => {
          const shares = ['Entities', 'EntitiesByKind'].map((table) => figureOf(of(name), `${table}: busiest`))
          return {
            holds: shares.every((share) => share > 90),
            found: `Entities, EntitiesByKind: ${shares.join(' %, ')} %`,
          }
        },
      },
    ]),
    ...['allocated-ids', 'hashed-names'].flatMap((name) => [
      {
        says: `${name}: the busiest tablet carries less than twice the mean, of several`,
        arms: [name],
        judge: (of: Parameters<Lab['expectations'][number]['judge']>[0]) => {
          const times = figureOf(of(name), 'Entities: busiest to mean')
          const tablets = figureOf(of(name), 'Entities: tablets')
          return { holds: times < 2 && tablets >= 4, found: `${times} times the mean of ${tablets} tablets` }
        },
      },
    ]),
  ],
}
