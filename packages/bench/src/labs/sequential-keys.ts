/**
 * New entities under four ways of making keys, ramped up by the book.
 *
 * Known: the best-practice page on keys: avoid monotonically increasing ids and names; allocated ids are scattered.
 */
import type { Key } from '@sixtables/engine'
import { type Arm, defineLab, expectFigures, type Lab, ofArm } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { tabletSettingValues } from '../settings.ts'
import { idOf } from '../sim/client.ts'
import { type Fields, insert, text, unindexed, upsert } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import { offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampOf, rampSettings } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'

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

const fieldsOf = (n: number): Fields => ({ name: unindexed(text(`customer ${n + 1}`)) })

async function run(session: ArmSession, make: KeyMaker): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const allocate = allocator(store)
  const load = rampOf(session, async (n) => {
    const key = await make((element) => store.key(element), n, allocate)
    return { put: insert(key, fieldsOf(n)) }
  })
  const watch = await offer(session, store, load, ['Entities', 'EntitiesByKind'])

  const settled = watch.settled(120)
  for (const table of ['Entities', 'EntitiesByKind'] as const) {
    const ofServer = watch.busiest(table, 300) / session.setting('server.opsPerSecond')
    record.figure(`${table}: tablets`, watch.tableAt(table).tablets, '')
    record.figure(`${table}: busiest`, watch.settledTable(table, 300).busiestShare * 100, '% of the load')
    record.figure(`${table}: busiest, 5 minutes`, ofServer * 100, '% of a server')
  }
  record.figure('offered', settled.offered, '/s')
  record.figure('served', settled.served, '/s')
  record.figure('refused', settled.refused, '/s')
  record.figure('p50', settled.p50Ms, 'ms')
  record.figure('p99', settled.p99Ms, 'ms')
  watch.draw(record, ['Entities'])
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
    openLoop(wire, async (n) => {
      const allocate = (): Promise<bigint> => wire.client.allocateId(wire.client.key({ kind }))
      return upsert(await make((element) => wire.client.key(element), n, allocate), fieldsOf(n))
    }),
}))

export const sequentialKeys: Lab = defineLab({
  name: 'sequential-keys',
  idea:
    'Rows lie in the order of their keys, and a tablet is a range of them. Keys that rise all fall at the end of the last ' +
    'tablet; wherever it is split, the next keys fall into its right half alone. Scattered keys fall everywhere, and every ' +
    'split halves the load.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    'ramp.minutes': 50,
    'load.samples': 40,
  },
  arms,
  expectations: [
    ...['sequential-ids', 'numbered-names'].map((name) =>
      expectFigures(
        `${name}: the busiest tablet carries over 90 % of the load, however many splits`,
        ofArm(name, 'Entities: busiest', 'EntitiesByKind: busiest'),
        (...shares) => shares.every((share) => share > 90),
        'Entities, EntitiesByKind: {} %, {} %',
      ),
    ),
    ...['allocated-ids', 'hashed-names'].map((name) =>
      expectFigures(
        `${name}: the load is on several tablets, and none has more than three quarters of what a server can`,
        ofArm(name, 'Entities: busiest, 5 minutes', 'Entities: tablets', 'Entities: busiest'),
        // The hot end of rising keys goes from tablet to tablet within five minutes: at any moment one has all of the load.
        (percent, tablets, busiest) => busiest < 25 && tablets >= 4 && percent < 75,
        '{} % of a server, of {} tablets',
      ),
    ),
  ],
})
