/** A list page by page: by an offset, and by the cursor of the page before. */
import type { Mutation, QueryResult } from '@sixtables/engine'
import { armsOf, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { defaultsOf, serverSettings } from '../settings.ts'
import { descending, integer, upsert } from '../sim/entities.ts'
import { recordFindings } from '../sim/findings.ts'
import { hashOf } from '../sim/keys.ts'
import { type QueryRun, runInFull } from '../sim/query-run.ts'
import type { Store } from '../sim/store.ts'

const post = (store: Store, rank: number): Mutation =>
  upsert(store.key({ kind: 'Post', name: `${hashOf(String(rank))}-${rank}` }), { rank: integer(rank) })

const rankOf = ({ key }: QueryResult): number => Number(key.path[0]?.name?.slice(9))

interface Way {
  readonly by: 'offset' | 'cursor'
  /** A new post comes to the head of the list before each page. */
  readonly isLive?: boolean
}

async function turnPages(session: ArmSession, { by, isLive = false }: Way): Promise<void> {
  const { record } = session
  const store = await session.open({ simulate: true })
  const [count, limit] = [session.setting('work.records'), session.setting('batch.size')]
  const pages: QueryRun[] = []
  await store.alone(async () => {
    await store.putAll(Array.from({ length: count }, (_, rank) => post(store, rank)))
    // The writes have gone through the queues.
    await store.sleep(60_000)
    for (let i = 0; i * limit < count; i++) {
      if (isLive && i > 0) await store.put([post(store, count + i)])
      const before = pages.at(-1)?.cursor
      const start = by === 'offset' || before === undefined ? { offset: i * limit } : { offset: 0, startCursor: before }
      const query = store.query('Post', { order: [descending('rank')], limit, ...start })
      pages.push(await runInFull(store, query, session.setting('client.rpcMs')))
      session.progress((i * limit) / count)
    }
  })

  const ranks = pages.flatMap(({ results }) => results.map(rankOf))
  const [first, last] = [pages[0], pages.at(-1)]
  record.figure('pages', pages.length)
  record.figure('results', ranks.length)
  record.figure('of these, given a second time', ranks.length - new Set(ranks).size)
  record.figure('missed', count - new Set(ranks.filter((rank) => rank < count)).size)
  record.figure('rows read for the first page', first?.rows ?? 0)
  record.figure('rows read for the last page', last?.rows ?? 0)
  record.figure('rows read', sum(pages.map(({ rows }) => rows)))
  record.figure('read operations billed', sum(pages.map(({ billed }) => billed)))
  record.figure('the last page takes', last?.ms ?? 0, 'ms')
  const x = { name: 'page', values: pages.map((_, i) => i + 1) }
  record.chart('rows read', 'rows per page', x, { [by]: pages.map((page) => page.rows) })
  record.chart('billed', 'read operations per page', x, { [by]: pages.map((page) => page.billed) })
  record.chart('latency', 'ms per page', x, { [by]: pages.map((page) => page.ms) })
  recordFindings(record, store, 'large-offset')
}

const ways: Ways<Way> = {
  offset: { about: 'each page skips those before it', by: 'offset' },
  cursor: { about: 'each page begins at the cursor of the one before', by: 'cursor' },
  'offset-live': { about: 'by offset, while new posts come to the head', by: 'offset', isLive: true },
  'cursor-live': { about: 'by cursor, while new posts come to the head', by: 'cursor', isLive: true },
}

export const offsetCursor: Lab = defineLab({
  name: 'offset-cursor',
  idea:
    'An index has no numbers in it: to skip a thousand results the store reads a thousand. A cursor is a place in the index, ' +
    'so the scan goes on there, however far down and whatever has come before it since.',
  settings: {
    ...serverSettings,
    ...defaultsOf('client.rpcMs'),
    'work.records': 2000,
    'batch.size': 50,
  },
  arms: armsOf(ways, turnPages),
  expectations: [
    expected('a page by offset reads what it skips')
      .of('offset', 'results', 'rows read for the last page')
      .holds((all, last) => last >= all, '{2} rows for the last page of {1} results'),
    expected('a page by cursor reads the same, first or last')
      .of('cursor', 'rows read for the first page', 'rows read for the last page')
      .holds((first, last) => last <= first, '{} rows for the first page, {} for the last'),
    expected('what is skipped is billed, page after page')
      .across('read operations billed', 'offset', 'cursor')
      .holds((offset, cursor) => offset > cursor * 10, '{} read operations by offset, {} by cursor'),
    expected('the last page takes longer by offset')
      .across('the last page takes', 'offset', 'cursor')
      .holds((offset, cursor) => offset > cursor, '{} ms by offset, {} ms by cursor'),
    expected('both give every result once while nothing changes')
      .across('missed', 'offset', 'cursor')
      .across('of these, given a second time', 'offset', 'cursor')
      .holds((...figures) => figures.every((n) => n === 0), 'missed {}, {}; again {}, {}'),
    expected('offset-live: what comes to the head pushes results onto the next page, where they are given again')
      .figure('of these, given a second time')
      .above(0),
    expected('cursor-live: nothing is given again').figure('of these, given a second time').is(0),
    expected('cursor-live: nothing is missed').figure('missed').is(0),
    expected('offset: the engine warns of it').figure('findings of the engine').above(0),
    expected('cursor: the engine has nothing to say').figure('findings of the engine').is(0),
  ],
})
