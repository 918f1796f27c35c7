/**
 * How many are there? By a keys-only query, by count(), by a statistics entity, and by a count that the newest revision
 * carries, over 1,000 to 100,000 records.
 *
 * Known: best practices, queries: keys-only; the statistics kinds, which production takes about once a day; an article on
 * sequence numbers without a counter for the count in the newest revision.
 */
import type { Query } from '@sixtables/engine'
import { decodeProperties } from '@sixtables/engine'
import { MemoryKv } from '@sixtables/engine/testing'
import {
  type Arm,
  armsOf,
  defineLab,
  type Expectation,
  expectFigures,
  inWords,
  type Lab,
  ofArm,
  ofArms,
} from '../lab.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { hasCode, integerOf } from '../sim/client.ts'
import { descending, insert, integer, text, unindexed, where } from '../sim/entities.ts'
import { runInFull } from '../sim/query-run.ts'
import { openStore, type Store } from '../sim/store.ts'

interface Answer {
  readonly count: number
  /** Rows of tables that were read. */
  readonly rows: number
  /** Reads that production would bill. */
  readonly billed: number
}

interface Counting {
  readonly name: string
  readonly about: string
  /** How often the answer is asked for until a write is counted, ms. */
  everyMs(session: ArmSession): number
  /** Before the last hundredth of the records comes. */
  before?(store: Store): Promise<void>
  count(store: Store): Promise<Answer>
}

interface Answered extends Answer {
  /** The count that the first result carries. */
  readonly first: number
}

async function resultsOf(store: Store, query: Query): Promise<Answered> {
  const { results, rows, billed } = await runInFull(store, query)
  const properties = results[0]?.image?.properties
  const first = properties === undefined ? 0 : integerOf(decodeProperties(properties), 'count')
  return { count: results.length, rows, billed, first }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const often = (session: ArmSession): number => session.setting('probe.everyMs')

const ways: readonly Counting[] = [
  {
    name: 'keys-only',
    about: 'a keys-only query, whose results the client counts',
    everyMs: often,
    count: (store) => resultsOf(store, store.query('Record', { projection: ['__key__'] })),
  },
  {
    name: 'count',
    about: 'an aggregation query: the server counts',
    everyMs: often,
    async count(store) {
      const request = {
        query: store.query('Record', {}),
        aggregations: [{ operator: 'count', alias: 'n', upTo: undefined }],
      } as const
      const { batch, metrics } = await store.database.explainAggregationQuery(store.context(), request, {
        analyze: true,
      })
      if (batch === undefined || metrics.stats === undefined) throw new Error('the query was not run')
      const { indexEntriesScanned, documentsScanned, readOperations } = metrics.stats
      return {
        count: integerOf(batch.values, 'n'),
        rows: indexEntriesScanned + documentsScanned,
        billed: readOperations,
      }
    },
  },
  {
    name: 'statistics',
    about: 'the statistics entity of the kind, which the service writes once a day',
    everyMs: () => hourMs,
    /** A day passes, and the statistics are taken. */
    async before(store) {
      await store.sleep(dayMs)
      await this.count(store)
    },
    async count(store) {
      const query = store.query('Record', {
        kind: '__Stat_Kind__',
        filter: where('kind_name', 'equal', text('Record')),
      })
      const { first, rows, billed } = await resultsOf(store, query)
      return { count: first, rows, billed }
    },
  },
  {
    name: 'newest-revision',
    about: 'each record carries the count so far; the newest one is asked for',
    everyMs: often,
    async count(store) {
      const query = store.query('Record', { order: [descending('number')], limit: 1 })
      const { first, rows, billed } = await resultsOf(store, query)
      return { count: first, rows, billed }
    },
  },
]

/** Share of the records of a level that are written before the end of the day. */
const shareBefore = 0.99
const before = (records: number): number => Math.floor(records * shareBefore)
/** Time between two looks at whether the client is done. */
const stepMs = 60_000

/** @param pauseMs - time after each commit, in which the log forgets records older than its retention */
async function put(store: Store, from: number, to: number, pauseMs?: number): Promise<void> {
  const mutations = Array.from({ length: to - from + 1 }, (_, i) => {
    const number = integer(from + i)
    return insert(store.key({ kind: 'Record', id: BigInt(from + i) }), { number, count: unindexed(number) })
  })
  await store.putAll(mutations, pauseMs)
}

/** The records before the end of the day, which are filled once: a fork is a store of its own, and costs nothing. */
interface Filled {
  fork(records: number): MemoryKv
  /** Duration of the filling on its clock; a store over a fork must be opened at a later time. */
  readonly tookMs: number
}

async function fill(levels: readonly number[]): Promise<Filled> {
  const kv = new MemoryKv()
  const store = await openStore({ mode: 'legacy', apply: { type: 'immediate' }, kv })
  const bases: MemoryKv[] = []
  const client = async (): Promise<void> => {
    for (const [i, records] of levels.entries()) {
      await put(store, before(levels[i - 1] ?? 0) + 1, before(records), 2000)
      bases.push(kv.fork(kv.snapshot()))
    }
  }
  await store.together([client()], undefined, stepMs)
  const tookMs = store.nowMs
  await store.close()
  return {
    tookMs,
    fork(records) {
      const base = bases[levels.indexOf(records)] as MemoryKv
      return base.fork(base.snapshot())
    },
  }
}

/** The latest filled store: all arms of a run begin with it. */
let filled: { readonly most: number; readonly store: Promise<Filled> } | undefined

function filledWith(levels: readonly number[]): Promise<Filled> {
  const most = Math.max(...levels)
  if (filled?.most !== most) filled = { most, store: fill(levels) }
  return filled.store
}

const levelsOf = (most: number): readonly number[] => [most / 100, most / 10, most].map(Math.round)

interface Level {
  readonly records: number
  readonly answer: Answer
  readonly ms: number
  /** By how much the answer is off right after a write. */
  readonly missing: number
  /** Until the write is counted. */
  readonly staleMs: number
}

async function run(session: ArmSession, way: Counting): Promise<void> {
  const { record } = session
  const most = session.setting('work.records')
  const levels = levelsOf(most)
  const base = await filledWith(levels)
  const { all, first, last } = await session.atEach(levels, async (records) => {
    const store = await session.open({
      mode: 'legacy',
      apply: { type: 'immediate' },
      simulate: true,
      statisticsEveryMs: dayMs,
      kv: base.fork(records),
    })
    const level = store.sleep(base.tookMs).then(() => measure(session, store, way, records))
    await store.together([level.then(() => {})], undefined, stepMs)
    return level
  })
  record.figure('records', last.records, '')
  record.figure('rows read, fewest records', first.answer.rows, '')
  record.figure('rows read', last.answer.rows, '')
  record.figure('read operations billed', last.answer.billed, '')
  record.figure('latency, fewest records', first.ms, 'ms')
  record.figure('latency', last.ms, 'ms')
  record.figure('not counted after a write', last.missing, 'records')
  record.figure('counted after', last.staleMs / 1000, 's')
  const x = { name: 'records', values: levels }
  record.chart('rows read', 'rows', x, { [way.name]: all.map(({ answer }) => answer.rows) }, true)
  record.chart('latency', 'ms', x, { [way.name]: all.map(({ ms }) => ms) }, true)
}

/** Puts the last records, asks until all are counted, and then takes the measures on quiet servers. */
async function measure(session: ArmSession, store: Store, way: Counting, records: number): Promise<Level> {
  const { database } = store
  const { tablets } = store.engine
  // The existing entities were written long ago.
  tablets.configure({ simulate: false })
  await way.before?.(store)
  await put(store, before(records) + 1, records - 1)
  tablets.configure({ simulate: true })
  database.configure({ applyPolicy: { type: 'time', delayMs: session.setting('apply.delayMs') } })
  await put(store, records, records)
  const writtenMs = store.nowMs
  const { count } = await way.count(store)
  const everyMs = way.everyMs(session)
  let seen = count
  while (seen !== records) {
    await store.sleep(everyMs)
    seen = (await way.count(store)).count
  }
  const staleMs = store.nowMs - writtenMs
  await store.sleep(60_000)
  const begun = store.nowMs
  await store.sleep(session.setting('client.rpcMs'))
  const answer = await way.count(store)
  const ms = store.nowMs - begun
  return { records, answer, ms, missing: records - count, staleMs: count === records ? 0 : staleMs }
}

/**
 * A request that counts two kinds of as many records, key by key, where a call for the next keys takes as long as it did in the years of
 * the articles; the request ends at its limit, done or not.
 */
async function countWithinLimit(session: ArmSession): Promise<void> {
  const { record } = session
  const most = session.setting('work.records')
  const store = await session.open({
    mode: 'legacy',
    apply: { type: 'immediate' },
    kv: (await filledWith(levelsOf(most))).fork(most),
  })
  const [limitMs, callMs] = [session.setting('request.limitMs'), session.setting('request.callMs')]
  const query = store.query('Record', { projection: ['__key__'] })
  const tookMs: number[] = []
  let [counted, timedOut] = [0, false]
  await store.alone(async () => {
    const request = store.contextWithin(limitMs)
    for (let kinds = 0; kinds < 2 && !timedOut; kinds++) {
      const begunMs = store.nowMs
      let startCursor: Uint8Array | undefined
      for (;;) {
        await store.sleep(callMs)
        try {
          const page = await store.database.runQuery(request, { query: { ...query, startCursor } })
          counted += page.results.length
          startCursor = page.endCursor
          if (page.moreResults !== 'notFinished') break
        } catch (error) {
          if (!hasCode(error, 'DEADLINE_EXCEEDED')) throw error
          timedOut = true
          break
        }
      }
      if (!timedOut) tookMs.push(store.nowMs - begunMs)
    }
  })
  record.figure('records of each kind', before(most), '')
  record.figure('one kind counted in', (tookMs[0] ?? 0) / 1000, 's')
  record.figure('limit of a request', limitMs / 1000, 's')
  record.figure('kinds counted', tookMs.length, '')
  record.figure('records counted at the limit', counted, '')
}

const arms: readonly Arm[] = [
  ...armsOf(ways, run),
  {
    name: 'request-limit',
    about: 'two kinds counted by keys in one request, with calls as slow as in the articles',
    run: countWithinLimit,
  },
]

const names = ways.map(({ name }) => name)
const scanning = ['keys-only', 'count']

function grown(name: string, says: string, holds: (factor: number) => boolean): Expectation {
  return expectFigures(
    `${name}: ${says}`,
    ofArm(name, 'rows read, fewest records', 'rows read'),
    (few, many) => holds(many / few),
    '{} rows for the fewest records, {} for all',
  )
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
  arms,
  expectations: [
    ...scanning.map((name) => grown(name, 'reads a row for each record', (factor) => factor > 90)),
    ...['statistics', 'newest-revision'].map((name) =>
      grown(name, 'reads the same, however many there are', (factor) => factor <= 2),
    ),
    expectFigures(
      'count: the server counts in less time than the client needs to fetch the keys',
      ofArms('latency', ...scanning),
      (keys, count) => count < keys,
      '{} ms by keys, {} ms by count()',
    ),
    expectFigures(
      'request-limit: a kind takes more than half of what a request may, so that two do not end',
      ofArm(
        'request-limit',
        'one kind counted in',
        'limit of a request',
        'kinds counted',
        'records counted at the limit',
      ),
      (seconds, limit, kinds) => kinds === 1 && seconds > 0.5 * limit && seconds < limit,
      'one kind in {1} s; {4} records when {2} s were over',
    ),
    expectFigures(
      'the stored counts answer in a small part of the time',
      ofArms('latency', ...names),
      (keys, count, statistics, revision) => 5 * Math.max(statistics, revision) < Math.min(keys, count),
      '{} and {} ms by scanning, {} and {} ms as stored',
    ),
    expectFigures(
      'statistics: what was written since the last ones is not counted, for hours',
      ofArm('statistics', 'not counted after a write', 'counted after'),
      (missing, seconds) => missing > 1 && seconds > 3600,
      (missing, seconds) => `${inWords(missing)} records not counted, for ${inWords(seconds / 3600)} h`,
    ),
    ...['count', 'newest-revision'].map((name) =>
      expectFigures(
        `${name}: a write is counted when its index rows are written`,
        ofArm(name, 'not counted after a write', 'counted after'),
        (missing, seconds) => missing === 1 && seconds < 5,
        '{} record, for {} s',
      ),
    ),
  ],
})
