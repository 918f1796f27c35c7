/** Pages by offset, while new posts arrive. */
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { atLeast, atMost, type Challenge } from './challenge.ts'
import { Meter } from './db.ts'
import { alone, dbOf, drawHeat } from './loads.ts'

const posts = 10_000
const pageSize = 20
const pagesAsked = 500

interface PageOf {
  readonly posts: readonly { readonly number?: unknown }[]
  readonly next?: unknown
}

export const pageTenThousand: Challenge = {
  name: 'page-ten-thousand',
  title: 'page 500 by offset',
  minutes: 15,
  task:
    'A forum shows 10,000 posts, newest first, 20 a page. Pages are read by offset, so page 500 reads all posts before it, and a post that arrives ' +
    'meanwhile pushes the last post of a page onto the next one. Make page 500 cost what page 1 costs, without repeats.',
  hint: 'A query answers a cursor: the next page starts there.',
  lab: 'offset-cursor',
  functions: ['addPost', 'page'],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(session, program) {
    const { record } = session
    const store = await session.open()
    const db = dbOf(session, store, { rpcMs: 0 })
    const add = (number: number): unknown => program.call('addPost', db, { number, text: `post ${number}` })
    const meter = new Meter()
    const reader = dbOf(session, store, { meter })
    const seen: number[] = []
    const costs: number[] = []
    await alone(store, async () => {
      for (let number = 1; number <= posts; number++) await add(number)
      let token: unknown
      for (let i = 0; i < pagesAsked; i++) {
        const before = meter.rowsRead
        const page = (await program.call('page', reader, token)) as PageOf | undefined
        seen.push(...(page?.posts ?? []).map(({ number }) => Number(number)))
        costs.push(meter.rowsRead - before)
        token = page?.next
        session.progress(i / pagesAsked)
        if (i % 10 === 0) await add(posts + 1 + i)
        if (token === undefined) break
      }
    })
    const old = new Set(seen.filter((number) => number <= posts))
    const isSorted = seen.every((number, i) => i === 0 || number <= (seen[i - 1] ?? 0))
    drawHeat(session, store, 'EntitiesByPropertyDesc')
    record.figure('page 1 reads', costs[0] ?? 0, 'rows')
    record.figure(`page ${costs.length} reads`, costs.at(-1) ?? 0, 'rows')
    record.figure('last page to first', (costs.at(-1) ?? 0) / Math.max(1, costs[0] ?? 0), 'times the rows')
    record.figure('repeats', seen.length - new Set(seen).size, '')
    record.figure('posts missed', posts - old.size, '')
    record.figure('newest first', isSorted ? 1 : 0, '')
    record.figure('largest page', Math.max(...costs), 'rows')
  },
  goals: [
    atMost('page 500 costs what page 1 costs', 'last page to first', 1.2),
    atMost('no post comes twice', 'repeats', 0),
    atMost('no post is missed', 'posts missed', 0),
    atLeast('the newest posts come first', 'newest first', 1),
    atMost('a page reads about the rows that it shows', 'largest page', 3 * pageSize),
  ],
  findings: ['large-offset'],
}
