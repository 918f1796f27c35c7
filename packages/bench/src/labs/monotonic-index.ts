/** Entities with scattered keys and a creation time: the keys are well spread, and what of their index rows? */
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { tabletSettingValues } from '../settings.ts'
import { allOf, ascending, type Fields, insert, text, timestamp, unindexed, upsert, where } from '../sim/entities.ts'
import { hashOf, nameAt } from '../sim/keys.ts'
import { offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampOf, rampSettings } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'

const kind = 'Event'

interface Variant {
  /** The indexed part of the n-th event; `micros` is when it happened. */
  created(n: number, micros: bigint): Fields
}

const moment = (micros: bigint): string => new Date(Number(micros / 1000n)).toISOString()

/** Events are of a thousand users, one after the other in no order. */
const userOf = (n: number): string => `user${hashOf(`${n}`).slice(0, 3)}`

const variants: Ways<Variant> = {
  indexed: { about: 'created is an indexed timestamp', created: (_n, micros) => ({ created: timestamp(micros) }) },
  excluded: {
    about: 'created is excluded from indexes',
    created: (_n, micros) => ({ created: unindexed(timestamp(micros)) }),
  },
  'hash-prefixed': {
    about: 'created is text: a hash, then the time',
    created: (n, micros) => ({ created: text(`${hashOf(`${n}`).slice(0, 2)}|${moment(micros)}`) }),
  },
  'user-prefixed': {
    about: 'created is text: the user, then the time',
    created: (n, micros) => ({ created: text(`${userOf(n)}|${moment(micros)}`) }),
  },
}

const body = unindexed(text('it happened'))

const indexTables = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc'] as const

async function run(session: ArmSession, { created }: Variant): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const users = new Map<string, number>()
  const load = rampOf(session, (n, share) => {
    users.set(userOf(n), (users.get(userOf(n)) ?? 0) + 1)
    // Names drawn evenly over all names: whatever gets hot, it is not the entities.
    const key = store.key({ kind, name: `${nameAt(share)}-${n}` })
    return { put: insert(key, { ...created(n, store.clock.nowMicros()), body }) }
  })
  const watch = await offer(session, store, load, ['Entities', ...indexTables])
  const settled = watch.settled(120)
  for (const table of ['Entities', ...indexTables] as const) {
    const { tablets, total, busiestShare } = watch.tableAt(table)
    const ofServer = watch.busiest(table, 300) / session.setting('server.opsPerSecond')
    record.figure(`${table}: tablets`, tablets)
    record.figure(`${table}: busiest`, busiestShare * 100, '% of the load')
    record.figure(`${table}: busiest, 5 minutes`, ofServer * 100, '% of a server')
    record.figure(`${table}: load`, total, 'row operations/s')
  }
  record.figure('a tablet is split above', session.setting('tablet.splitOpsPerSecond'), 'row operations/s')
  record.figure('served', settled.served, '/s')
  record.figure('refused', settled.refused, '/s')
  record.figure('p99', settled.p99Ms, 'ms')
  const [busiest] = [...users].reduce((one, other) => (other[1] > one[1] ? other : one))
  const { events, wrong } = await outOfOrder(store, busiest)
  record.figure('events of a user found by its prefix', events)
  record.figure('of these, out of order', wrong)
  watch.draw(record, ['EntitiesByPropertyAsc'])
}

/** Events out of order in a query for one user's events by time; only where the value begins with the user. */
async function outOfOrder(store: Store, user: string): Promise<{ readonly events: number; readonly wrong: number }> {
  const query = store.query(kind, {
    projection: ['created'],
    filter: allOf(
      where('created', 'greaterThanOrEqual', text(`${user}|`)),
      where('created', 'lessThan', text(`${user}}`)),
    ),
    order: [ascending('created')],
  })
  const { results } = await store.alone(async () => await store.database.runQuery(store.context(), { query }))
  // The name of an event ends with its number, and numbers rise with time.
  const numbers = results.map(({ key }) => Number(key.path[0]?.name?.split('-')[1]))
  const wrong = numbers.filter((n, i) => userOf(n) !== user || n < (numbers[i - 1] ?? 0))
  return { events: numbers.length, wrong: wrong.length }
}

const eachIndexTable = (figure: string): string[] => indexTables.map((table) => `${table}: ${figure}`)

export const monotonicIndex: Lab = defineLab({
  name: 'monotonic-index',
  idea:
    'An index row lies where its value lies. A timestamp is always the newest value there is: each row goes to the end of ' +
    'EntitiesByPropertyAsc and to the head of EntitiesByPropertyDesc, however the keys are made. A prefix spreads the rows, ' +
    "and with the user as prefix one user's events can still be read in order.",
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    'ramp.minutes': 50,
    'load.slotMs': 10_000,
    'load.samples': 48,
    'tablet.samplesMin': 20,
  },
  arms: armsOf(variants, run, (wire, { created }) =>
    openLoop(wire, (n) => {
      const key = wire.client.key({ kind, name: `${hashOf(`event ${n}`)}-${n}` })
      const micros = BigInt(Math.round(wire.client.nowMs() * 1000))
      return upsert(key, { ...created(n, micros), body })
    }),
  ),
  expectations: [
    ...Object.keys(variants).map((name) =>
      expected(`${name}: the entity rows are spread, the busiest tablet below three quarters of what a server can`)
        .of(name, 'Entities: busiest, 5 minutes', 'Entities: tablets', 'Entities: busiest')
        .holds(
          (percent, tablets, busiest) => busiest < 25 && tablets >= 4 && percent < 75,
          '{} % of a server, of {} tablets',
        ),
    ),
    expected('indexed: one tablet carries over 90 % of each property table, and more than it would be split at')
      .of('indexed', 'a tablet is split above', ...eachIndexTable('load'), ...eachIndexTable('busiest'))
      .holds(
        // A table that is hardly written has one tablet, too, and that one carries all of nothing.
        (splitAt, load, load2, share, share2) =>
          Math.min(share, share2) > 90 && Math.min(share * load, share2 * load2) > 100 * splitAt,
        'ascending, descending: {4} %, {5} % of {2}, {3} row operations/s',
      ),
    expected('excluded: hardly anything is written to the property tables (only what __scatter__ has)')
      .of('excluded', 'Entities: load', 'EntitiesByPropertyAsc: load')
      .holds((entities, ascending) => ascending < 0.03 * entities, '{2} against {1} row operations/s'),
    ...['hash-prefixed', 'user-prefixed'].map((name) =>
      expected(`${name}: the index rows are spread as well`)
        .of(name, ...['busiest, 5 minutes', 'tablets', 'busiest'].flatMap(eachIndexTable))
        .holds(
          (part, part2, tablets, tablets2, share, share2) =>
            Math.max(part, part2) < 75 && Math.max(share, share2) < 40 && Math.min(tablets, tablets2) >= 3,
          'the busiest of {3}, {4} tablets: {1}, {2} % of a server',
        ),
    ),
    expected('the indexed timestamp is refused where the prefixed one is served')
      .across('served', 'indexed', 'user-prefixed')
      .holds((bad, good) => good > 1.3 * bad, '{} against {}/s'),
    expected("user-prefixed: one user's events come in order")
      .of('user-prefixed', 'events of a user found by its prefix', 'of these, out of order')
      .holds((events, wrong) => events > 1 && wrong === 0, '{2} of {1} out of order'),
  ],
})
