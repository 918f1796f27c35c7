/**
 * A query over what was deleted: before and after a major compaction.
 *
 *   keys      0 ─────────────────────────────────────────────────── work.records
 *   narrow    ██████ deleted ██████ · · · · · · · · · · · · · · · ·      the query begins at the first key
 *   spread    █ · · █ · · █ · · █ · · █ · · █ · · █ · · █ · · █ · ·      as many
 */
import type { Key, Mutation, Query } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { isLate, succeeds } from '../sim/client.ts'
import { ascending, type Fields, integer, unindexed, upsert, whereKey } from '../sim/entities.ts'
import { recordFindings } from '../sim/findings.ts'
import { scanned } from '../sim/query-run.ts'
import type { Store } from '../sim/store.ts'

interface Way {
  /** Which entities go: those first in key order, or as many all over. */
  readonly deletes: 'first' | 'all over'
  readonly startsBehind?: boolean
  /** Whether the arm waits for a compaction, and does not request one. */
  readonly isLeftAlone?: boolean
  readonly hasDeadline?: boolean
}

/** After each commit of a job in the background. */
const pauseMs = 1000
/** Until the servers have forgotten the load of the writes. */
const settleMs = 30_000

function firstPage(store: Store, limit: number, behind: Key | undefined): Query {
  return store.query('Event', {
    projection: ['__key__'],
    filter: behind === undefined ? undefined : whereKey('greaterThan', behind),
    order: [ascending('__key__')],
    limit,
  })
}

function tombstonesOf(store: Store): number {
  const { tables } = store.engine.tablets.report()
  return tables.find(({ table }) => table === 'EntitiesByKind')?.tombstones ?? 0
}

/** One look at the first page of what is left. */
async function look(store: Store, at: string, query: Query, deadlineMs?: number) {
  let [results, isInTime] = [0, true]
  const { tombstones, ms } = await scanned(store, async () => {
    const context = deadlineMs === undefined ? store.context() : store.contextWithin(deadlineMs)
    const work = async () => {
      results = (await store.database.runQuery(context, { query })).results.length
    }
    isInTime = await succeeds(work, isLate)
  })
  return { at, results, tombstones, ms, timedOut: !isInTime }
}

async function deleteMany(
  session: ArmSession,
  { deletes, startsBehind = false, isLeftAlone = false, hasDeadline = false }: Way,
): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const count = session.setting('work.records')
  const share = session.setting('delete.share')
  const deadlineMs = hasDeadline ? session.setting('query.deadlineMs') : undefined
  const keyOf = (i: number): Key => store.key({ kind: 'Event', id: BigInt(i + 1) })
  const all = Array.from({ length: count }, (_, i) => i)
  const isDeleted = (i: number): boolean =>
    deletes === 'first' ? i < count * share : Math.floor((i + 1) * share) > Math.floor(i * share)
  const gone = all.filter(isDeleted)
  const query = firstPage(store, session.setting('batch.size'), startsBehind ? keyOf(gone.at(-1) ?? 0) : undefined)
  const looks: Awaited<ReturnType<typeof look>>[] = []
  const minutes: number[] = []
  const whileLeft: typeof looks = []
  await store.alone(async () => {
    const payload = (): Fields => ({ payload: unindexed(integer(session.random.integer(1_000_000))) })
    const entities = all.map((i) => upsert(keyOf(i), payload()))
    await store.putAll(entities, pauseMs)
    await store.sleep(settleMs)
    looks.push(await look(store, 'before', query, deadlineMs))
    session.progress(0.5)
    const deletedAtMs = store.nowMs
    const deletions = gone.map((i): Mutation => ({ operation: 'delete', key: keyOf(i) }))
    await store.putAll(deletions, pauseMs)
    await store.sleep(settleMs)
    looks.push(await look(store, 'deleted', query, deadlineMs))
    recordFindings(record, store, 'scan-over-tombstones')
    if (!isLeftAlone) store.engine.tablets.compact()
    while (isLeftAlone && tombstonesOf(store) > 0) {
      minutes.push((store.nowMs - deletedAtMs) / 60_000)
      whileLeft.push(await look(store, 'left', query))
      await store.sleep(60_000)
    }
    minutes.push((store.nowMs - deletedAtMs) / 60_000)
    looks.push(await look(store, 'compacted', query, deadlineMs))
    whileLeft.push(...looks.slice(-1))
  })
  record.figure('entities', count)
  record.figure('deleted', gone.length)
  for (const { at, tombstones, ms, results, timedOut } of looks) {
    if (hasDeadline) record.figure(`${at}: timed out`, timedOut, 'queries')
    record.figure(`${at}: results`, results)
    record.figure(`${at}: deleted rows on the way`, tombstones)
    record.figure(`${at}: the query takes`, ms, 'ms')
  }
  if (isLeftAlone) {
    record.figure('compacted by itself after', minutes.at(-1) ?? 0, 'minutes')
    record.figure('tombstones rest for', session.setting('tablet.compactRestMs') / 60_000, 'minutes')
    const x = { name: 'minutes', values: minutes }
    record.chart('latency since the delete', 'ms', x, { query: whileLeft.map(({ ms }) => ms) })
  }
  const compactions = store.engine.tablets.events().flatMap(({ kind, words }) => (kind === 'compaction' ? [words] : []))
  record.text('compactions', compactions.length === 0 ? ['none'] : compactions)
}

const ways: Ways<Way> = {
  narrow: { about: 'the first keys are deleted, the query begins at the first key', deletes: 'first' },
  'left-alone': { about: 'the same, without a requested compaction', deletes: 'first', isLeftAlone: true },
  'start-behind': {
    about: 'the same delete, the query begins behind the last deleted key',
    deletes: 'first',
    startsBehind: true,
  },
  deadline: { about: 'as narrow; the query has a deadline', deletes: 'first', hasDeadline: true },
  'deadline-spread': { about: 'as spread; the query has the same deadline', deletes: 'all over', hasDeadline: true },
  spread: { about: 'as many are deleted all over the keys', deletes: 'all over' },
}

const each = (figure: string): string[] => ['before', 'deleted', 'compacted'].map((at) => `${at}: ${figure}`)

const compared = (at: string): string[] => [
  `${at}: deleted rows on the way`,
  'before: the query takes',
  `${at}: the query takes`,
]

const timesAsLong = (on: number, beforeMs: number, ms: number): string =>
  `${on} deleted rows on the way, ${(ms / beforeMs).toFixed(1)} times as long`

export const massDelete: Lab = defineLab({
  name: 'mass-delete',
  idea:
    'A deleted row is a tombstone until a major compaction drops it. A scan gives none of them out, but goes over each: as ' +
    'many as lie between where it begins and the last row that it gives.',
  settings: {
    ...serverSettings,
    ...defaultsOf('delete.share', 'tablet.compactRestMs', 'query.deadlineMs'),
    'work.records': 4000,
    'batch.size': 20,
  },
  arms: armsOf(ways, deleteMany),
  expectations: [
    expected('narrow: the query goes over every deleted row, and is slow')
      .of('narrow', ...compared('deleted'), 'deleted')
      .holds((on, beforeMs, ms, deleted) => on >= deleted && ms / beforeMs > 5, timesAsLong),
    ...['narrow', 'left-alone'].map((arm) =>
      expected(`${arm}: compacted, it is as quick as before`)
        .of(arm, ...compared('compacted'))
        .holds((on, beforeMs, ms) => on === 0 && ms / beforeMs < 1.2, timesAsLong),
    ),
    expected(
      'left-alone: it is slow until the engine compacts, which it does when the deletes are tablet.compactRestMs old',
    )
      .of('left-alone', 'compacted by itself after', 'tombstones rest for')
      .holds(
        (minutes, restMinutes) => minutes >= restMinutes && minutes < restMinutes + 2,
        'compacted after {} minutes, set to {}',
      ),
    expected('start-behind: a query that starts behind the deleted keys reads past none')
      .figure('deleted: deleted rows on the way')
      .is(0),
    expected('spread: the query meets few of as many deleted rows')
      .across('deleted: deleted rows on the way', 'narrow', 'spread')
      .across('deleted', 'narrow', 'spread')
      .holds(
        (narrow, spread, deleted, deletedSpread) => deleted === deletedSpread && spread * 10 < narrow,
        '{2} on the way, {1} when narrow',
      ),
    expected(
      'deadline: over deleted rows the query times out, and is answered before the delete and after the compaction',
    )
      .of('deadline', ...each('timed out'))
      .holds(
        (before, deleted, compacted) => before === 0 && deleted === 1 && compacted === 0,
        'timed out: before {}, deleted {}, compacted {}',
      ),
    expected('deadline-spread: with as many deletes all over the keys it is answered at any time')
      .of('deadline-spread', ...each('timed out'))
      .holds((...late) => late.every((n) => n === 0), 'timed out: {}, {}, {}'),
    ...Object.keys(ways)
      .filter((name) => name !== 'deadline')
      .map((name) =>
        expected(`${name}: the page is full all the time`)
          .of(name, ...each('results'))
          .holds((...results) => results.every((n) => n > 0 && n === results[0]), '{}, {}, {} results'),
      ),
    expected('narrow: the engine warns of the one table that is read').figure('findings of the engine').is(1),
    expected('start-behind: there is nothing to warn of').figure('findings of the engine').is(0),
  ],
})
