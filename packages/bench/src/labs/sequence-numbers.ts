/** Numbers for records: 1, 2, 3, … without two records having the same one. */
import type { Key, Query } from '@sixtables/engine'
import { arm, armsOf, defineLab, type Expectation, expected, type Lab } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import { idOf } from '../sim/client.ts'
import { allOf, ascending, descending, integer, text, unindexed, upsert, where, whereKey } from '../sim/entities.ts'
import { countOf, runInFull, scanned } from '../sim/query-run.ts'
import { legacyAtOnce, type Store } from '../sim/store.ts'
import {
  numberings,
  numberOverWire,
  queryInTransaction,
  runNumbering,
  runQuiet,
} from './sequence-numbers/numberings.ts'

const invoices = 'Invoice'
const perPage = 20
/** Where there are gaps, one record in ten was deleted. */
const gapEvery = 10

interface Paging {
  total(store: Store): Promise<number>
  /** How many records page `page` shows; the first is 1. */
  page(store: Store, page: number): Promise<number>
}

const byNumber: Paging = {
  async total(store) {
    const query = store.query(invoices, { order: [descending('number')], limit: 1 })
    const { results } = await store.database.runQuery(store.context(), { query })
    return Number(results[0]?.key.path[0]?.id ?? 0n)
  },
  async page(store, page) {
    const filter = allOf(
      where('number', 'greaterThan', integer((page - 1) * perPage)),
      where('number', 'lessThanOrEqual', integer(page * perPage)),
    )
    return shown(store, store.query(invoices, { filter }))
  },
}

const byOffset: Paging = {
  total: (store) => countOf(store, store.query(invoices)),
  page: (store, page) =>
    shown(store, store.query(invoices, { order: [ascending('number')], offset: (page - 1) * perPage, limit: perPage })),
}

interface PageTurning {
  readonly by: 'number' | 'offset'
  readonly hasGaps?: boolean
}

async function turnPages(session: ArmSession, { by, hasGaps = false }: PageTurning): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  store.engine.tablets.configure({ exactPerSecond: Number.MAX_SAFE_INTEGER })
  const count = session.setting('work.records') / 10
  const numbers = Array.from({ length: count }, (_, i) => i + 1).filter((n) => !hasGaps || n % gapEvery !== 0)
  await store.putAll(numbers.map((n) => upsert(store.key({ kind: invoices, id: BigInt(n) }), { number: integer(n) })))
  const paging = by === 'number' ? byNumber : byOffset
  let total = 0
  const forTotal = await scanned(store, async () => {
    total = await paging.total(store)
  })
  const rows: number[] = []
  const counts: number[] = []
  const pages = Math.ceil(total / perPage)
  for (let page = 1; page <= pages; page++) {
    const read = await scanned(store, async () => void counts.push(await paging.page(store, page)))
    rows.push(read.rows)
  }
  record.figure('records', numbers.length)
  record.figure('total as told', total, 'records')
  record.figure('read for the total', forTotal.rows, 'rows')
  record.figure('read for page 1', rows[0] ?? 0, 'rows')
  record.figure('read for the last page', rows.at(-1) ?? 0, 'rows')
  record.figure('shortest page but the last', Math.min(...counts.slice(0, -1)), 'records')
  record.figure('never shown', numbers.length - sum(counts), 'records')
  const x = { name: 'page', values: rows.map((_, i) => i + 1) }
  record.chart('read for a page', 'rows', x, { rows })
}

async function shown(store: Store, query: Query): Promise<number> {
  return (await runInFull(store, query)).results.length
}

const orders = 'Order'
/** Sampled keys for each worker: more make the parts more even. */
const samplesPerWorker = 32

interface WorkSplit {
  readonly by: 'number' | 'scatter' | 'keys'
  /** Numbers have no gaps. */
  readonly isDense?: boolean
}

async function splitWork(session: ArmSession, { by, isDense = false }: WorkSplit): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  store.engine.tablets.configure({ exactPerSecond: Number.MAX_SAFE_INTEGER })
  const ids = await putOrders(session, store, isDense)
  const workers = session.setting('work.workers')
  let bounds: readonly bigint[] = []
  const divided = await scanned(store, async () => {
    bounds = await boundsBy[by](store, workers, ids)
  })
  const counts: number[] = []
  for (let worker = 0; worker < workers; worker++) {
    counts.push(await countBetween(store, bounds[worker - 1], bounds[worker]))
  }
  const all = sum(counts)
  record.figure('records', all)
  record.figure('records lost', ids.length - all)
  record.figure('read to divide', divided.rows, 'rows')
  record.figure('busiest worker', (Math.max(...counts) * workers) / all, 'times the mean')
  const x = { name: 'worker', values: counts.map((_, i) => i + 1) }
  record.chart('records of each worker', 'records', x, { records: counts })
}

/**
 * Numbers as they grow in life: old ranges were thinned out, the newest is dense. Or 1, 2, 3, … without a gap.
 *
 * @returns ids, ascending
 */
async function putOrders(session: ArmSession, store: Store, isDense: boolean): Promise<bigint[]> {
  const { random } = session
  const wanted = session.setting('work.records')
  const ids = new Set<bigint>()
  const draw = (): number => (isDense ? ids.size : Math.floor(wanted * 100 * (1 - random.next() ** 4)))
  while (ids.size < wanted) ids.add(BigInt(1 + draw()))
  const sorted = [...ids].sort((a, b) => (a < b ? -1 : 1))
  await store.putAll(sorted.map((id) => upsert(store.key({ kind: orders, id }), { state: unindexed(text('open')) })))
  return sorted
}

/** First ids of all parts but the first. */
type Bounds = (store: Store, workers: number, ids: readonly bigint[]) => bigint[] | Promise<bigint[]>

const boundsBy: Readonly<Record<WorkSplit['by'], Bounds>> = {
  number: (_store, workers, ids) => equalSteps(ids, workers),
  scatter: async (store, workers) => {
    const sample = { order: [ascending('__scatter__')], limit: workers * samplesPerWorker }
    return partsOf(await keysOf(store, sample), workers)
  },
  keys: async (store, workers) => partsOf(await keysOf(store), workers),
}

/** Equal steps: the least and the greatest number suffice. */
function equalSteps(ids: readonly bigint[], workers: number): bigint[] {
  const [first, last] = [ids[0] ?? 0n, ids.at(-1) ?? 0n]
  const step = (last - first + 1n) / BigInt(workers)
  return Array.from({ length: workers - 1 }, (_, i) => first + step * BigInt(i + 1))
}

function partsOf(keys: readonly Key[], workers: number): bigint[] {
  const ids = keys.map(idOf).sort((a, b) => (a < b ? -1 : 1))
  return Array.from({ length: workers - 1 }, (_, i) => ids[Math.floor(((i + 1) * ids.length) / workers)] ?? 0n)
}

async function keysOf(store: Store, more?: Partial<Query>): Promise<Key[]> {
  const { results } = await runInFull(store, store.query(orders, { projection: ['__key__'], ...more }))
  return results.map(({ key }) => key)
}

/** How many records a worker finds from one bound to before the next. */
async function countBetween(store: Store, from: bigint | undefined, to: bigint | undefined): Promise<number> {
  const filters = [
    ...(from === undefined ? [] : [whereKey('greaterThanOrEqual', store.key({ kind: orders, id: from }))]),
    ...(to === undefined ? [] : [whereKey('lessThan', store.key({ kind: orders, id: to }))]),
  ]
  return countOf(store, store.query(orders, { filter: allOf(...filters) }))
}

const workArms = armsOf<WorkSplit>(
  {
    'split-by-number': { about: 'work divided into equal ranges of numbers, old ones thinned out', by: 'number' },
    'split-by-scatter': { about: 'the same work divided at keys of __scatter__', by: 'scatter' },
    'split-by-keys': { about: 'the same work divided at every n-th of the keys that occur', by: 'keys' },
    'dense-by-number': { about: 'equal ranges of numbers without a gap', by: 'number', isDense: true },
    'dense-by-scatter': {
      about: 'numbers without a gap, divided at keys of __scatter__',
      by: 'scatter',
      isDense: true,
    },
  },
  splitWork,
)

const pageArms = armsOf<PageTurning>(
  {
    'pages-by-number': { about: 'the total is the greatest number, a page is a range of numbers', by: 'number' },
    'pages-by-offset': { about: 'the total is counted, a page is an offset', by: 'offset' },
    'gaps-by-number': {
      about: 'total and pages by number, after one record in ten was deleted',
      by: 'number',
      hasGaps: true,
    },
  },
  turnPages,
)

/** An expectation on a count: there are none, or some. */
const counted =
  (holds: (count: number) => boolean) =>
  (arm: string, figure: string, says: string): Expectation =>
    expected(`${arm}: ${says}`).of(arm, figure).holds(holds, `{} ${figure}`)
const none = counted((count) => count === 0)
const some = counted((count) => count > 0)

function times(says: string, arms: readonly [string, string], figure: string, least: number): Expectation {
  return expected(says)
    .across(figure, ...arms)
    .holds((first, second) => second > least * first, `${figure}: ${arms[0]} {}, ${arms[1]} {}`)
}

export const sequenceNumbers: Lab = defineLab({
  name: 'sequence-numbers',
  idea:
    'A counter is one entity in one group: every number waits for its log. A number can also be taken by inserting an entity ' +
    'whose key is made of it: the first one wins, the others try the next number, and no group is shared. Allocated ids are ' +
    'unique and quick, and not in a row. The source of put-unique calls it faster than a counter; for numbers in a row it is not: ' +
    'each waits for the one before.',
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf('log.waitMsMax', 'apply.delayMs', 'copies.count', 'work.workers'),
    'load.writersMax': 256,
    'load.seconds': 3,
    'client.crashShare': 0.2,
    'work.records': 10_000,
  },
  arms: [
    ...armsOf(numberings, runNumbering, numberOverWire),
    arm('put-unique-quiet', 'put-unique at about one record a second', runQuiet),
    arm(
      'query-in-transaction',
      'the query for the greatest number, within the transaction that puts the next one',
      queryInTransaction,
    ),
    ...workArms,
    ...pageArms,
  ],
  expectations: [
    expected('counter-in-group: saturates at a few writes a second')
      .of('counter-in-group', 'best rate')
      .holds((best) => best >= 1 && best <= 8, '{}/s at best'),
    some('query-then-put', 'duplicates', 'numbers are given twice'),
    ...Object.keys(numberings)
      .filter((name) => name !== 'query-then-put')
      .map((name) => none(name, 'duplicates', 'no number is given twice')),
    none('counter-in-group', 'gaps', 'no number is left out'),
    none('put-unique', 'gaps', 'no number is left out'),
    none('newest-revision', 'gaps', 'no revision is left out'),
    none('newest-revision', 'miscounts', 'the count in the newest revision agrees with a full count'),
    some('counter-outside', 'gaps', 'a counter outside the transaction leaves gaps'),
    expected('put-unique: in a row, and so one at a time: with many writers most tries are for taken numbers')
      .of('put-unique', 'tries in vain, 1 writer', 'tries in vain, all writers')
      .holds((few, many) => few <= 2 && many > 20, '{} tries in vain a record with one writer, {} with all'),
    expected('put-unique is no faster than a counter in the group, contrary to its source')
      .across('best rate', 'counter-in-group', 'put-unique')
      .holds((counter, unique) => unique <= 1.2 * counter, '{2}/s, {1} with the counter'),
    expected('put-unique: a commit seldom loses while there are few writes, and most often when there are many')
      .across('commits that lost, all writers', 'put-unique-quiet', 'put-unique')
      .of('put-unique-quiet', 'numbers found taken by a get, all writers')
      .holds(
        (quietly, loaded, gets) => quietly < 0.5 && quietly < gets && loaded > 5,
        'per record: {1} commits lost and {3} numbers found taken by a get at one a second, {2} commits lost under load',
      ),
    expected(
      'query-in-transaction: a query without an ancestor cannot join a transaction in the legacy mode, and can today',
    )
      .of('query-in-transaction', 'refused, legacy', 'refused, firestore')
      .holds((legacy, today) => legacy === 1 && today === 0, 'refused: legacy {}, firestore {}'),
    times('put-unique-ahead scales, at the price of gaps', ['counter-in-group', 'put-unique-ahead'], 'best rate', 3),
    times('shards multiply the counter', ['counter-in-group', 'sharded-counter'], 'best rate', 3),
    times('allocated ids scale with the writers', ['counter-in-group', 'allocate-ids'], 'best rate', 20),
    expected('over thinned numbers __scatter__ divides the work evenly, and equal ranges do not')
      .across('busiest worker', 'split-by-number', 'split-by-scatter')
      .holds((bad, good) => good < 2 && bad > 2 * good, 'busiest to mean: {} against {}'),
    expected('over numbers without a gap it is the other way round: equal ranges are exactly even')
      .across('busiest worker', 'dense-by-number', 'dense-by-scatter')
      .holds((ranges, scatter) => ranges < 1.01 && scatter > ranges, 'busiest to mean: {} against {}'),
    expected('ranges between keys that occur are exactly even whatever the numbers are, once every key was read')
      .of('split-by-keys', 'busiest worker', 'read to divide', 'records')
      .of('split-by-scatter', 'read to divide')
      .holds(
        (busiest, read, records, sampled) => busiest < 1.01 && read >= records && 10 * sampled < read,
        'busiest to mean: {1}; {2} rows read to divide, {4} with __scatter__',
      ),
    expected(
      'over numbers without a gap the total and every page by number cost the same, however many records there are',
    )
      .of('pages-by-number', 'read for the total', 'read for page 1', 'read for the last page', 'never shown')
      .holds(
        (total, first, last, unseen) => total <= 4 && first === last && unseen === 0,
        '{} rows for the total, {} for page 1, {} for the last; {} records never shown',
      ),
    expected('by offset the total and the last page read a row for each record')
      .of('pages-by-offset', 'records', 'read for the total', 'read for the last page')
      .holds(
        (records, total, last) => total >= records && last >= records,
        '{} records: {} rows for the total, {} for the last page',
      ),
    expected('with gaps the greatest number is more than the total, and pages by number are short')
      .of('gaps-by-number', 'records', 'total as told', 'shortest page but the last')
      .holds(
        (records, told, shortest) => told > 1.05 * records && shortest < 20,
        '{2} told for {1} records; the shortest page has {3} of 20',
      ),
  ],
})
