/** New entities under four ways of making keys, ramped up by the book. */
import type { PathElement } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { tabletSettingValues } from '../settings.ts'
import { idOf } from '../sim/client.ts'
import { type Fields, insert, text, unindexed, upsert } from '../sim/entities.ts'
import { hashOf } from '../sim/keys.ts'
import { offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampOf, rampSettings } from '../sim/ramp.ts'

const kind = 'Customer'

interface KeyMaker {
  /** The key of the n-th customer has this one element. */
  element(n: number, allocate: () => Promise<bigint>): PathElement | Promise<PathElement>
}

const makers: Ways<KeyMaker> = {
  'sequential-ids': { about: 'ids 1, 2, 3, …', element: (n) => ({ kind, id: BigInt(n + 1) }) },
  'numbered-names': { about: 'names Customer1, Customer2, …', element: (n) => ({ kind, name: `Customer${n + 1}` }) },
  'allocated-ids': { about: 'ids from allocateIds', element: async (_n, allocate) => ({ kind, id: await allocate() }) },
  'hashed-names': {
    about: 'names that begin with a hash of the number',
    element: (n) => ({ kind, name: `${hashOf(`${n + 1}`)}-Customer${n + 1}` }),
  },
}

const fieldsOf = (n: number): Fields => ({ name: unindexed(text(`customer ${n + 1}`)) })

async function run(session: ArmSession, { element }: KeyMaker): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const allocate = async (): Promise<bigint> => {
    const [key] = await store.database.allocateIds(store.context(), [store.key({ kind })])
    return idOf(key)
  }
  const load = rampOf(session, async (n) => {
    return { put: insert(store.key(await element(n, allocate)), fieldsOf(n)) }
  })
  const watch = await offer(session, store, load, ['Entities', 'EntitiesByKind'])

  const settled = watch.settled(120)
  for (const table of ['Entities', 'EntitiesByKind'] as const) {
    const ofServer = watch.busiest(table, 300) / session.setting('server.opsPerSecond')
    record.figure(`${table}: tablets`, watch.tableAt(table).tablets)
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
  arms: armsOf(makers, run, (wire, { element }) =>
    openLoop(wire, async (n) => {
      const { client } = wire
      const allocate = (): Promise<bigint> => client.allocateId(client.key({ kind }))
      return upsert(client.key(await element(n, allocate)), fieldsOf(n))
    }),
  ),
  expectations: [
    ...['sequential-ids', 'numbered-names'].map((name) =>
      expected(`${name}: the busiest tablet carries over 90 % of the load, however many splits`)
        .of(name, 'Entities: busiest', 'EntitiesByKind: busiest')
        .holds((...shares) => shares.every((share) => share > 90), 'Entities, EntitiesByKind: {} %, {} %'),
    ),
    ...['allocated-ids', 'hashed-names'].map((name) =>
      expected(`${name}: the load is on several tablets, and none has more than three quarters of what a server can`)
        .of(name, 'Entities: busiest, 5 minutes', 'Entities: tablets', 'Entities: busiest')
        .holds(
          // The hot end of rising keys goes from tablet to tablet within five minutes: at any moment one has all of the load.
          (percent, tablets, busiest) => busiest < 25 && tablets >= 4 && percent < 75,
          '{} % of a server, of {} tablets',
        ),
    ),
  ],
})
