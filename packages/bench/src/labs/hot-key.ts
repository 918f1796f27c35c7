/** One entity that everybody reads, and one that everybody writes. */
import type { Key } from '@sixtables/engine'
import { armsOf, defineLab, type Expectation, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, tabletSettingValues } from '../settings.ts'
import type { Client } from '../sim/client.ts'
import { integer, text, unindexed, upsert } from '../sim/entities.ts'
import { type Load, offer } from '../sim/load.ts'
import { openLoop } from '../sim/open-loop.ts'
import type { Store } from '../sim/store.ts'
import type { WireSession } from '../sim/wire.ts'
import { type Job, retrying, write as runWriters, writeOverWire } from '../sim/writers.ts'

/** Instances of the application that start while everybody reads, and the time within which they do. */
const instances = 500
const startsWithinMs = 30_000

/** Starts instances in the last minute of the load: each needs the entity, and gives up when all attempts at it failed. */
async function startInstances(session: ArmSession, store: Store, copies: number, seconds: number): Promise<number> {
  const client = session.client(store)
  let failed = 0
  const start = async (): Promise<void> => {
    await store.sleep(seconds * 1000 - 60_000 + session.random.next() * startsWithinMs)
    const patience = { retries: session.setting('client.retries'), backoffMs: session.setting('client.backoffMs') }
    const attempt = { client, writer: 0, random: session.random, retried: () => {} }
    const need: Job = () => client.lookup(copyKey(store, copies, session.random.next())).then(() => {})
    if (!(await retrying(attempt, patience, need, () => {}))) failed++
  }
  await Promise.all(Array.from({ length: instances }, start))
  return failed
}

/** The copy of an entity that a reader or writer takes: by chance, as applications do. */
function copyKey(at: Pick<Client, 'key'>, copies: number, draw: number): Key {
  return at.key({ kind: 'Config', name: copies === 1 ? 'shown-everywhere' : `copy-${Math.floor(draw * copies)}` })
}

const page = { page: unindexed(text('what every visitor is shown')) }

async function read(session: ArmSession, copies: number): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  await store.alone(async () => {
    for (let copy = 0; copy < copies; copy++) {
      await store.put([upsert(copyKey(store, copies, (copy + 0.5) / copies), page)])
    }
  })
  const load: Load = {
    seconds: session.setting('load.minutes') * 60,
    opsPerSecondAt: () => session.setting('load.opsPerSecond'),
    next: (_n, share) => ({ lookup: copyKey(store, copies, share) }),
  }
  const [failed, watch] = await Promise.all([
    startInstances(session, store, copies, load.seconds),
    offer(session, store, load, ['Entities'], 15),
  ])
  const { offered, served, refused, p99Ms } = watch.settled(load.seconds / 4)
  const { tablets, servers, busiestShare } = watch.tableAt('Entities')
  record.figure('copies', copies)
  record.figure('offered', offered, '/s')
  record.figure('served', served, '/s')
  record.figure('refused', refused, '/s')
  record.figure('p99', p99Ms, 'ms')
  record.figure('tablets', tablets)
  record.figure('servers', servers)
  record.figure('busiest tablet', busiestShare * 100, '% of the load')
  record.figure('instances that fail to start', (failed / instances) * 100, '%')
  const refusals = store.engine.tablets.events().flatMap(({ kind, words }) => (kind === 'split-refused' ? [words] : []))
  record.text('splits that were refused', refusals.length === 0 ? ['none'] : refusals.slice(-3))
  watch.draw(record, ['Entities'])
}

const writeJob =
  (copies: number): Job =>
  ({ client, random }) =>
    client.commit([upsert(copyKey(client, copies, random.next()), { visits: unindexed(integer(1)) })])

async function write(session: ArmSession, copies: number): Promise<void> {
  const { record } = session
  const levels = [1, 2, 5, 10, 20, 50, 100].filter((writers) => writers <= session.setting('load.writersMax'))
  const { all, last } = await session.atEach(levels, async (writers) => {
    const store = await session.open({ simulate: true })
    const seconds = session.setting('load.seconds')
    const { done, latency } = await runWriters(session, store, { writers, seconds, job: writeJob(copies) })
    return { rate: done / seconds, p99: latency.quantile(0.99) }
  })
  const rates = all.map(({ rate }) => rate)
  record.figure('copies', copies)
  record.figure('served', Math.max(...rates), '/s')
  record.figure('p99', last.p99, 'ms')
  const x = { name: 'writers', values: levels }
  record.chart('throughput', 'writes/s', x, { served: rates })
  record.chart('latency', 'ms', x, { p99: all.map(({ p99 }) => p99) })
}

interface Way {
  readonly does: 'reads' | 'writes'
  /** Whether there are copies of the entity; else there is one. */
  readonly isCopied: boolean
}

const ways: Ways<Way> = {
  'read-one': { about: 'one entity, read by everybody', does: 'reads', isCopied: false },
  'read-replicas': { about: 'copies of it, each reader takes any', does: 'reads', isCopied: true },
  'write-one': { about: 'one counter, written by everybody', does: 'writes', isCopied: false },
  'write-shards': { about: 'shards of it, each writer takes any', does: 'writes', isCopied: true },
}

function run(session: ArmSession, { does, isCopied }: Way): Promise<void> {
  const copies = isCopied ? session.setting('copies.count') : 1
  return does === 'reads' ? read(session, copies) : write(session, copies)
}

function drive(wire: WireSession, { does, isCopied }: Way): Promise<void> {
  const copies = isCopied ? 8 : 1
  if (does === 'writes') return writeOverWire(wire, 20, writeJob(copies))
  return openLoop(wire, () => copyKey(wire.client, copies, wire.random.next()))
}

/** Nearly as many times the throughput of one as there are copies, and there are several. */
function asManyTimes(says: string, one: string, many: string): Expectation {
  return expected(says)
    .across('served', one, many)
    .of(many, 'copies')
    .holds(
      (alone, together, copies) => copies > 1 && together > 0.85 * copies * alone && together < 1.15 * copies * alone,
      '{}/s of one, {}/s with {} copies',
    )
}

export const hotKey: Lab = defineLab({
  name: 'hot-key',
  idea:
    'A tablet is never split inside a row, so all that is wanted of one key meets one server, however many there are. ' +
    'N replicas are N rows, which can lie on N servers; N shards are N entity groups as well, with N logs.',
  settings: {
    ...tabletSettingValues,
    ...clientSettings,
    ...defaultsOf('load.slotMs', 'load.samples', 'copies.count', 'load.seconds', 'load.writersMax'),
    // More than eight servers serve, for as long as three splits with their rests take, and then a quarter more.
    'load.opsPerSecond': 100_000,
    'load.minutes': 24,
  },
  arms: armsOf(ways, run, drive),
  expectations: [
    expected('read-one: a tablet is not split inside a row')
      .of('read-one', 'busiest tablet')
      .holds((busiest) => busiest > 99, '{} % of the load on one tablet'),
    expected('read-one: most of what is asked for is refused')
      .of('read-one', 'served', 'refused')
      .holds((served, refused) => refused > served, '{}/s served, {} refused'),
    asManyTimes('replicas multiply the reads by their number', 'read-one', 'read-replicas'),
    expected('write-one: a few writes a second, whatever the number of writers')
      .of('write-one', 'served')
      .holds((served) => served > 1 && served < 10, '{}/s'),
    asManyTimes('shards multiply the writes by their number', 'write-one', 'write-shards'),
    expected('of as many keys reads scale far above writes, but reads of one key stop at one server')
      .across('served', 'read-one', 'read-replicas', 'write-shards')
      .across('copies', 'read-replicas', 'write-shards')
      .holds(
        (one, reads, writes, copies, shards) => copies === shards && reads > 500 * writes && one < 0.25 * reads,
        '{4} keys: {2}/s read, {3}/s written; one key: {1}/s read',
      ),
    expected('read-one: instances that need the hot key at their start fail to start')
      .figure('instances that fail to start')
      .above(20),
    expected('read-replicas: with copies of it instances start').figure('instances that fail to start').below(2),
  ],
})
