/** Pages by offset, while new posts arrive. */
import type { Random } from '@sixtables/engine/testing'
import { drawHeat } from '../sim/watch.ts'
import { atLeast, atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { Meter } from './charged-database.ts'
import { expectShape } from './program.ts'
import { token } from './stored.ts'

const postsWhole = 10_000
const pageSize = 20
const pagesWhole = 500
/** A program that has been sent so many times the posts surely reads pages that are too large: it is asked for no more of them. */
const sentMax = 10

interface Post {
  readonly number: number
  readonly text: string
}

const cursorHint =
  'A query answers a cursor, and every post has a number: the next page can start where this one ended.'

export const pageTenThousand: Challenge = {
  name: 'page-ten-thousand',
  title: 'page 500 by offset',
  minutes: 15,
  task:
    'A forum shows 10,000 posts, newest first, 20 a page. Pages are read by offset, so page 500 reads all posts before it, and a post that arrives ' +
    'meanwhile pushes the last post of a page onto the next one. Make page 500 cost what page 1 costs, without repeats.',
  lab: 'offset-cursor',
  functions: [
    { name: 'addPost', takes: { post: { number: 17, text: '9f86d081884c7d65' } }, answers: null },
    {
      name: 'page',
      takes: { next: null },
      answers: { posts: [{ number: 17, text: '9f86d081884c7d65' }], next: 'where the next page begins, in your form' },
    },
  ],
  settings: challengeSettings,
  async run(stage) {
    const { record, random, session } = stage
    const { store, program } = await stage.open({ simulate: false })
    const db = stage.db({ rpcMs: 0, answersEveryMs: 0 })
    const [postsBefore, pagesAsked] = [postsWhole * stage.share, pagesWhole * stage.share]
    const { old, later } = postsOf(random, postsBefore, pagesAsked)
    const meter = new Meter()
    const reader = stage.db({ meter })
    const seen: Post[] = []
    const costs: number[] = []
    const restartAt = new Set([0, ...Array.from({ length: stage.restarts }, () => 1 + random.integer(pagesAsked - 1))])
    await store.alone(async () => {
      // In any order: the newest is the one with the highest number. Many are under way at once.
      for (let i = 0; i < postsBefore; i += 100) {
        await Promise.all(old.slice(i, i + 100).map((post) => program.call('addPost', db, post)))
      }
      let next: unknown
      for (let i = 0; i < pagesAsked && meter.entitiesSent <= sentMax * postsBefore; i++) {
        if (restartAt.has(i)) program.restart()
        const before = meter.rowsRead + meter.keysRead
        const page = pageOf(await program.call('page', reader, next), i, i === pagesAsked - 1)
        seen.push(...page.posts)
        costs.push(meter.rowsRead + meter.keysRead - before)
        session.progress(i / pagesAsked)
        next = page.next
        const one = i % 10 === 0 ? later.pop() : undefined
        if (one !== undefined) await program.call('addPost', db, one)
      }
    })
    const newest = old.toSorted((a, b) => b.number - a.number).slice(0, costs.length * pageSize)
    const textOf = new Map(newest.map(({ number, text }) => [number, text]))
    const right = new Set(seen.filter(({ number, text }) => textOf.get(number) === text).map(({ number }) => number))
    const isSorted = seen.every(({ number }, i) => i === 0 || number < (seen[i - 1]?.number ?? 0))
    drawHeat(record, store, 'EntitiesByPropertyDesc')
    record.figure('page 1 reads', costs[0] ?? 0, 'rows')
    record.figure(`page ${costs.length} reads`, costs.at(-1) ?? 0, 'rows')
    record.figure('last page to first', (costs.at(-1) ?? 0) / Math.max(1, costs[0] ?? 0), 'times the rows')
    record.figure('largest page', Math.max(...costs), 'rows')
    record.figure('repeats', seen.length - new Set(seen.map(({ number }) => number)).size, '')
    record.figure('posts missed', newest.length - right.size, `of ${newest.length.toLocaleString('en-US')}`)
    record.figure('newest first', isSorted ? 1 : 0, 'of 1')
  },
  goals: {
    'last page to first': atMost('page 500 costs what page 1 costs', 1.2, cursorHint),
    'largest page': atMost('a page reads about the rows that it shows', 3 * pageSize, cursorHint),
    repeats: none(
      'no post comes twice',
      'An offset counts from the newest post, and new posts arrive: a place that is counted moves. Start behind the last post that was shown.',
    ),
    'posts missed': none(
      'no post is missed',
      'The next page starts right behind the last post of this one; look at `<` and `<=`, and `await` every write.',
    ),
    'newest first': atLeast('the newest posts come first', 1, 'Order by the number, descending.'),
  },
  findings: ['large-offset'],
}

/** Rising numbers with gaps; those behind the first ten thousand are newer. The older ones in any order. */
function postsOf(
  random: Random,
  postsBefore: number,
  pagesAsked: number,
): { readonly old: readonly Post[]; readonly later: Post[] } {
  let number = random.integer(1_000_000)
  const posts = Array.from({ length: postsBefore + pagesAsked / 10 }, () => {
    number += 1 + random.integer(3)
    return { number, text: token(random), place: random.next() }
  })
  const plain = ({ number, text }: Post): Post => ({ number, text })
  return {
    old: posts
      .slice(0, postsBefore)
      .toSorted((a, b) => a.place - b.place)
      .map(plain),
    later: posts.slice(postsBefore).toReversed().map(plain),
  }
}

/** @throws ProgramFault */
function pageOf(
  answer: unknown,
  place: number,
  isLast: boolean,
): { readonly posts: readonly Post[]; readonly next: unknown } {
  const shape = '{ posts, next }, posts being a list of posts with `number` and `text`'
  const { posts, next } = (answer ?? {}) as { posts?: unknown; next?: unknown }
  const isPost = (one: unknown): boolean => typeof (one as Post | null)?.number === 'number'
  expectShape(Array.isArray(posts) && posts.every(isPost), 'page', shape, answer)
  expectShape(
    isLast || (next !== undefined && next !== null),
    'page',
    `{ posts, next }; \`next\` was missing on page ${place + 1}`,
    answer,
  )
  return { posts: posts as readonly Post[], next }
}
