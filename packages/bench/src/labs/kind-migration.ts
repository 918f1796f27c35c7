/**
 * A new kind or namespace under full traffic, and ways to move the traffic of a kind to a new one.
 *
 *   Entities   …| Old:00 … Old:ff, many tablets |…| New: no tablet of its own |…
 */
import { type Key, KeyPermutation } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { tabletSettingValues } from '../settings.ts'
import { integer, unindexed, upsert } from '../sim/entities.ts'
import { hashOf, nameAt } from '../sim/keys.ts'
import { type Load, offer, operationsOf, type PlainOperation } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import { rampedOpsPerSecond, rampOfSettings, rampSettings } from '../sim/ramp.ts'
import type { Store } from '../sim/store.ts'

const [oldKind, newKind] = ['Old', 'New']
/** Users, each with an entity, and the tablets that the old kind has come to have. */
const users = 512
const oldTablets = 8
/** Full traffic to the old kind alone, before anything changes. */
const beforeSeconds = 180
/** So long after the change, what is refused is counted. */
const afterSeconds = 300
const refusedAfter = 'refused, five minutes after the change'

const userAt = (share: number): string => nameAt(Math.floor(share * users) / users)
/** In the order in which they are moved: by a hash that stays the same, so that a user who is moved stays so. */
const byHash: readonly string[] = Array.from({ length: users }, (_, i) => userAt((i + 0.5) / users)).sort((a, b) =>
  hashOf(a) < hashOf(b) ? -1 : 1,
)
const fields = { visits: unindexed(integer(1)) }

/** The state from which an arm draws its next operation. */
interface Draw {
  key(kind: string, name: string, namespace?: string): Key
  /** Evenly drawn, 0 to 1. */
  readonly share: number
  /** Part of the users that are moved by now, 0 to 1. */
  readonly moved: number
  /** How many operations came before, and how many there are in all. */
  readonly n: number
  readonly all: number
}

interface Way {
  readonly hasOld?: boolean
  readonly isRamped?: boolean
  next(draw: Draw): PlainOperation
}

const writeOf = (key: Key): PlainOperation => ({ put: upsert(key, fields) })

const ways: Ways<Way> = {
  'new-kind': {
    about: 'a new kind, with the full traffic at once',
    next: ({ key, share }) => writeOf(key(newKind, userAt(share))),
  },
  'new-namespace': {
    about: 'a new namespace, with the full traffic at once',
    next: ({ key, share }) => writeOf(key(oldKind, userAt(share), 'new')),
  },
  'new-kind-ramped': {
    about: 'a new kind, ramped up by the rule',
    isRamped: true,
    next: ({ key, share }) => writeOf(key(newKind, userAt(share))),
  },
  'switch-at-once': {
    about: 'every read asks the new kind first, and the old one if it has nothing',
    hasOld: true,
    next: ({ key, share }) => ({ lookup: key(newKind, userAt(share)) }),
  },
  'ramp-by-user': {
    about: 'the old kind is read, and for more and more users both',
    hasOld: true,
    isRamped: true,
    next: ({ key, share, moved }) => ({ lookup: key(newKind, byHash[Math.floor(share * moved * users)] ?? '') }),
  },
  'copy-in-order': {
    about: 'a job copies the old kind in the order of its keys, ramped up',
    isRamped: true,
    next: ({ key, n, all }) => writeOf(key(newKind, nameAt(Math.min(n, all - 1) / all))),
  },
  'copy-shuffled': {
    about: 'the same job, with the keys shuffled',
    isRamped: true,
    next: ({ key, n, all }) => {
      const shuffled = new KeyPermutation({ secret: 'the order of the copy', size: BigInt(all) })
      return writeOf(key(newKind, nameAt(Number(shuffled.idOf(BigInt(Math.min(n, all - 1) + 1)) - 1n) / all)))
    },
  },
}

function keysIn(place: Pick<Store, 'key'>): Draw['key'] {
  return (kind, name, namespaceId = '') => {
    const key = place.key({ kind, name })
    return { ...key, partition: { ...key.partition, namespaceId } }
  }
}

async function run(session: ArmSession, way: Way): Promise<void> {
  const { record, random } = session
  const store = await session.open({ simulate: true })
  if (way.hasOld) await prepareOld(store)
  const begunSeconds = store.nowMs / 1000
  const ramp = rampOfSettings(session)
  const rampSeconds = session.setting('ramp.minutes') * 60
  const full = rampedOpsPerSecond(ramp, rampSeconds)
  const changeAt = way.hasOld ? beforeSeconds : 0
  const newAt = (seconds: number): number => {
    if (seconds < changeAt) return 0
    return way.isRamped ? Math.min(full, rampedOpsPerSecond(ramp, seconds - changeAt)) : full
  }
  const oldAt = way.hasOld ? full : 0
  const seconds = changeAt + (way.isRamped ? rampSeconds : 0) + afterSeconds
  const all = operationsOf({ seconds, opsPerSecondAt: newAt })
  const next: Load['next'] = (n, share) => {
    const at = store.nowMs / 1000 - begunSeconds
    const key = keysIn(store)
    if (random.next() * (oldAt + newAt(at)) < oldAt) return { lookup: key(oldKind, userAt(share)) }
    return way.next({ key, share, moved: newAt(at) / full, n, all })
  }
  const load: Load = { seconds, opsPerSecondAt: (at) => oldAt + newAt(at), next }
  const watch = await offer(session, store, load, ['Entities'])

  const { served, refused, p99Ms } = watch.settled(120)
  record.figure('full traffic', full, '/s')
  record.figure(refusedAfter, watch.refusedShare(changeAt, changeAt + afterSeconds) * 100, '%')
  record.figure('refused, whole run', watch.refusedShare() * 100, '%')
  record.figure('refused at the end', (refused / (served + refused)) * 100, '%')
  record.figure('hottest tablet at the end', watch.tableAt('Entities').busiestShare * 100, '% of the load')
  record.figure('tablets at the end', watch.tableAt('Entities').tablets)
  record.figure('p99 at the end', p99Ms, 'ms')
  record.figure('reads that find no entity', watch.missingShare(changeAt) * 100, '% of what is served')
  watch.draw(record, ['Entities'])
}

/** The old kind as it is after a long time: its entities, and its tablets on servers of their own. */
async function prepareOld(store: Store): Promise<void> {
  const key = keysIn(store)
  const keys = Array.from({ length: users }, (_, i) => key(oldKind, userAt((i + 0.5) / users)))
  const bounds: string[] = []
  await store.alone(async () => {
    await store.put(keys.map((key) => upsert(key, fields)))
    const end = store.engine.tablets.onSample(({ table, rowKey }) => {
      if (table === 'Entities') bounds.push(rowKey)
    })
    for (let i = 1; i < oldTablets; i++) {
      await store.database.lookup(store.context(), { keys: [key(oldKind, userAt((i + 0.01) / oldTablets))] })
    }
    end()
  })
  const { tablets } = store.engine
  for (const bound of bounds) tablets.split('Entities', bound)
  const parts = tablets.report().tablets.filter(({ table }) => table === 'Entities')
  for (const [i, { id, server }] of parts.entries()) if (server !== i + 1) tablets.move(id, i + 1)
  // The tablets are unavailable while they move.
  await store.alone(() => store.sleep(60_000))
}

export const kindMigration: Lab = defineLab({
  name: 'kind-migration',
  idea:
    'Namespace and kind lead the row key, so a new one lies on one tablet, whatever its names. A read of an entity that is not ' +
    'there goes to the tablet where it would be, and counts like any other. Tablets need time to split, so the new kind is given ' +
    'more and more of the traffic, and the copy is spread over all of its keys.',
  settings: {
    ...rampSettings,
    ...tabletSettingValues,
    'ramp.startOpsPerSecond': 2000,
    'ramp.minutes': 25,
    'load.slotMs': 15_000,
    'load.samples': 32,
    'tablet.samplesMin': 16,
  },
  arms: armsOf(ways, run, (wire, way) =>
    openLoop(wire, (n) => {
      const key = keysIn(wire.client)
      const all = Math.ceil(wire.seconds * wire.opsPerSecond)
      const operation = way.next({ key, share: wire.random.next(), moved: Math.min(1, (n + 1) / all), n, all })
      return 'put' in operation ? operation.put : operation.lookup
    }),
  ),
  expectations: [
    ...[
      ['new-kind', 'a new kind begins in one tablet, and full traffic at once is refused in part'],
      ['new-namespace', 'a new namespace does so as well'],
      ['switch-at-once', 'reads of entities that are not there make the new kind hot'],
    ].map(([arm = '', says]) => expected(`${arm}: ${says}`).figure(refusedAfter).above(10)),
    expected('switch-at-once: a large part of all reads finds no entity').figure('reads that find no entity').above(15),
    ...['new-kind-ramped', 'ramp-by-user', 'copy-shuffled'].map((arm) =>
      expected(`${arm}: hardly anything is refused`).figure('refused, whole run').below(2),
    ),
    expected('copy-in-order: one tablet has nearly all of the load, and the copy outgrows its server')
      .of('copy-in-order', 'hottest tablet at the end', 'refused at the end')
      .holds((share, refused) => share > 90 && refused > 20, '{} % on one tablet, {} % refused'),
  ],
})
