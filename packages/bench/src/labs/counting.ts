/**
 * How many are there? By a keys-only query, by count(), by a statistics entity, and by a count that the newest revision
 * carries, over 1,000 to 100,000 records.
 */
import { decodeProperties, type Query, type QueryBatch, type RequestContext } from '@sixtables/engine'
import { MemoryKv } from '@sixtables/engine/testing'
import { arm, armsOf, defineLab, type Expectation, expected, inWords, type Lab, type Named, type Ways } from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { integerOf, isLate, succeeds } from '../sim/client.ts'
import { descending, insert, integer, type Put, text, unindexed, where } from '../sim/entities.ts'
import { runInFull } from '../sim/query-run.ts'
import { legacyAtOnce, openStore, type Store } from '../sim/store.ts'

interface Answer {
  readonly count: number
  /** Rows of tables that were read. */
  readonly rows: number
  /** Reads that production would bill. */
  readonly billed: number
}

interface Counting {
  /** How often the answer is asked for until a write is counted, ms. */
  everyMs(session: ArmSession): number
  /** Before the last hundredth of the records comes. */
  before?(store: Store): Promise<void>
  count(store: Store): Promise<Answer>
}

/** The answer of a query, and the count that its first result carries. */
async function resultsOf(store: Store, query: Query): Promise<Answer & { readonly first: number }> {
  const { results, rows, billed } = await runInFull(store, query)
  const properties = results[0]?.image?.properties
  const first = properties === undefined ? 0 : integerOf(decodeProperties(properties), 'count')
  return { count: results.length, rows, billed, first }
}

async function carriedBy(store: Store, query: Query): Promise<Answer> {
  const { first, ...answer } = await resultsOf(store, query)
  return { ...answer, count: first }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const often = (session: ArmSession): number => session.setting('probe.everyMs')

const ways: Ways<Counting> = {
  'keys-only': {
    about: 'a keys-only query, whose results the client counts',
    everyMs: often,
    count: (store) => resultsOf(store, store.query('Record', { projection: ['__key__'] })),
  },
  count: {
    about: 'an aggregation query: the server counts',
    everyMs: often,
    async count(store) {
      const aggregations = [{ operator: 'count', alias: 'n', upTo: undefined }] as const
      const request = { query: store.query('Record'), aggregations }
      const explained = await store.database.explainAggregationQuery(store.context(), request, { analyze: true })
      const { stats } = explained.metrics
      if (explained.batch === undefined || stats === undefined) throw new Error('the query was not run')
      const rows = stats.indexEntriesScanned + stats.documentsScanned
      return { count: integerOf(explained.batch.values, 'n'), rows, billed: stats.readOperations }
    },
  },
  statistics: {
    about: 'the statistics entity of the kind, which the service writes once a day',
    everyMs: () => hourMs,
    /** A day passes, and the statistics are taken. */
    async before(store) {
      await store.sleep(dayMs)
      await this.count(store)
    },
    count: (store) =>
      carriedBy(store, store.query('__Stat_Kind__', { filter: where('kind_name', 'equal', text('Record')) })),
  },
  'newest-revision': {
    about: 'each record carries the count so far; the newest one is asked for',
    everyMs: often,
    count: (store) => carriedBy(store, store.query('Record', { order: [descending('number')], limit: 1 })),
  },
}

/** Share of the records of a level that are written before the end of the day. */
const shareBefore = 0.99
const before = (records: number): number => Math.floor(records * shareBefore)
/** Time between two looks at whether the client is done. */
const stepMs = 60_000

function* records(store: Store, from: number, to: number): Generator<Put> {
  for (let i = from; i <= to; i++) {
    const number = integer(i)
    yield insert(store.key({ kind: 'Record', id: BigInt(i) }), { number, count: unindexed(number) })
  }
}

/** Stores the records before the end of the day, once: a fork is a store of its own, and costs nothing. */
async function fill(levels: readonly number[]) {
  const kv = new MemoryKv()
  const store = await openStore({ ...legacyAtOnce, kv })
  const bases: MemoryKv[] = []
  await store.alone(async () => {
    for (const [i, level] of levels.entries()) {
      // In the pause after a commit the log forgets records older than its retention.
      await store.putAll(records(store, before(levels[i - 1] ?? 0) + 1, before(level)), 2000)
      bases.push(kv.fork(kv.snapshot()))
    }
  }, stepMs)
  const tookMs = store.nowMs
  await store.close()
  return {
    /** Duration of the filling on its clock; a store over a fork must be opened at a later time. */
    tookMs,
    fork(records: number): MemoryKv {
      const base = bases[levels.indexOf(records)] as MemoryKv
      return base.fork(base.snapshot())
    },
  }
}

/** The latest filled store: all arms of a run begin with it. */
let filled: { readonly most: number; readonly store: ReturnType<typeof fill> } | undefined

function filledWith(levels: readonly number[]): ReturnType<typeof fill> {
  const most = Math.max(...levels)
  if (filled?.most !== most) filled = { most, store: fill(levels) }
  return filled.store
}

const levelsOf = (most: number): readonly number[] => [most / 100, most / 10, most].map(Math.round)

async function run(session: ArmSession, way: Named<Counting>): Promise<void> {
  const { record } = session
  const most = session.setting('work.records')
  const levels = levelsOf(most)
  const base = await filledWith(levels)
  const { all, first, last } = await session.atEach(levels, async (count) => {
    const kv = base.fork(count)
    const store = await session.open({ ...legacyAtOnce, simulate: true, statisticsEveryMs: dayMs, kv })
    return store.alone(() => store.sleep(base.tookMs).then(() => measure(session, store, way, count)), stepMs)
  })
  record.figure('records', levels.at(-1) ?? 0)
  record.figure('rows read, fewest records', first.answer.rows)
  record.figure('rows read', last.answer.rows)
  record.figure('read operations billed', last.answer.billed)
  record.figure('latency, fewest records', first.ms, 'ms')
  record.figure('latency', last.ms, 'ms')
  record.figure('not counted after a write', last.missing, 'records')
  record.figure('counted after', last.staleMs / 1000, 's')
  const x = { name: 'records', values: levels }
  record.chart('rows read', 'rows', x, { [way.name]: all.map(({ answer }) => answer.rows) }, true)
  record.chart('latency', 'ms', x, { [way.name]: all.map(({ ms }) => ms) }, true)
}

/**
 * Puts the last records, asks until all are counted, and then takes the measures on quiet servers.
 *
 * @returns `missing`: by how much the answer is off right after a write; `staleMs`: until the write is counted
 */
async function measure(session: ArmSession, store: Store, way: Counting, count: number) {
  const { database } = store
  const { tablets } = store.engine
  // The existing entities were written long ago.
  tablets.configure({ simulate: false })
  await way.before?.(store)
  await store.putAll(records(store, before(count) + 1, count - 1))
  tablets.configure({ simulate: true })
  database.configure({ applyPolicy: { type: 'time', delayMs: session.setting('apply.delayMs') } })
  await store.putAll(records(store, count, count))
  const writtenMs = store.nowMs
  const first = (await way.count(store)).count
  for (let seen = first; seen !== count; seen = (await way.count(store)).count) await store.sleep(way.everyMs(session))
  const staleMs = store.nowMs - writtenMs
  await store.sleep(60_000)
  const begun = store.nowMs
  await store.sleep(session.setting('client.rpcMs'))
  const answer = await way.count(store)
  const ms = store.nowMs - begun
  return { answer, ms, missing: count - first, staleMs: first === count ? 0 : staleMs }
}

/**
 * A request that counts two kinds of as many records, key by key, where a call for the next keys takes as long as it did in the years of
 * the articles; the request ends at its limit, done or not.
 */
async function countWithinLimit(session: ArmSession): Promise<void> {
  const { record } = session
  const most = session.setting('work.records')
  const filled = await filledWith(levelsOf(most))
  const store = await session.open({ ...legacyAtOnce, kv: filled.fork(most) })
  const [limitMs, callMs] = [session.setting('request.limitMs'), session.setting('request.callMs')]
  const query = store.query('Record', { projection: ['__key__'] })
  const tookMs: number[] = []
  let counted = 0
  const countKind = async (request: RequestContext): Promise<void> => {
    const begunMs = store.nowMs
    let page: QueryBatch | undefined
    while (page === undefined || page.moreResults === 'notFinished') {
      await store.sleep(callMs)
      page = await store.database.runQuery(request, { query: { ...query, startCursor: page?.endCursor } })
      counted += page.results.length
    }
    tookMs.push(store.nowMs - begunMs)
  }
  await store.alone(async () => {
    const request = store.contextWithin(limitMs)
    for (let kinds = 0; kinds < 2; kinds++) if (!(await succeeds(() => countKind(request), isLate))) break
  })
  record.figure('records of each kind', before(most))
  record.figure('one kind counted in', (tookMs[0] ?? 0) / 1000, 's')
  record.figure('limit of a request', limitMs / 1000, 's')
  record.figure('kinds counted', tookMs.length)
  record.figure('records counted at the limit', counted)
}

const names = Object.keys(ways)
const scanning = ['keys-only', 'count']

function grown(name: string, says: string, holds: (factor: number) => boolean): Expectation {
  return expected(`${name}: ${says}`)
    .of(name, 'rows read, fewest records', 'rows read')
    .holds((few, many) => holds(many / few), '{} rows for the fewest records, {} for all')
}

export const counting: Lab = defineLab({
  name: 'counting',
  idea:
    'An index stores no counts: to count, the client, or the server for it, reads a row for each record. A count that ' +
    'is stored costs one read for any number of records, but must be maintained: by the service once a day, or by each writer with ' +
    'its record.',
  settings: {
    ...serverSettings,
    ...defaultsOf('apply.delayMs', 'client.rpcMs', 'request.limitMs', 'request.callMs'),
    'work.records': 100_000,
    'probe.everyMs': 250,
  },
  arms: [
    ...armsOf(ways, run),
    arm(
      'request-limit',
      'two kinds counted by keys in one request, with calls as slow as in the articles',
      countWithinLimit,
    ),
  ],
  expectations: [
    ...scanning.map((name) => grown(name, 'reads a row for each record', (factor) => factor > 90)),
    ...['statistics', 'newest-revision'].map((name) =>
      grown(name, 'reads the same, however many there are', (factor) => factor <= 2),
    ),
    expected('count: the server counts in less time than the client needs to fetch the keys')
      .across('latency', ...scanning)
      .holds((keys, count) => count < keys, '{} ms by keys, {} ms by count()'),
    expected('request-limit: a kind takes more than half of what a request may, so that two do not end')
      .of('request-limit', 'one kind counted in', 'limit of a request', 'kinds counted', 'records counted at the limit')
      .holds(
        (seconds, limit, kinds) => kinds === 1 && seconds > 0.5 * limit && seconds < limit,
        'one kind in {1} s; {4} records when {2} s were over',
      ),
    expected('the stored counts answer in a small part of the time')
      .across('latency', ...names)
      .holds(
        (keys, count, statistics, revision) => 5 * Math.max(statistics, revision) < Math.min(keys, count),
        '{} and {} ms by scanning, {} and {} ms as stored',
      ),
    expected('statistics: what was written since the last ones is not counted, for hours')
      .of('statistics', 'not counted after a write', 'counted after')
      .holds(
        (missing, seconds) => missing > 1 && seconds > 3600,
        (missing, seconds) => `${inWords(missing)} records not counted, for ${inWords(seconds / 3600)} h`,
      ),
    ...['count', 'newest-revision'].map((name) =>
      expected(`${name}: a write is counted when its index rows are written`)
        .of(name, 'not counted after a write', 'counted after')
        .holds((missing, seconds) => missing === 1 && seconds < 5, '{} record, for {} s'),
    ),
  ],
})
