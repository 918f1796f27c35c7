/** Five hundred likes a second on one entity. */
import { sum } from '../measure/sums.ts'
import type { Store } from '../sim/store.ts'
import { drawHeat } from '../sim/watch.ts'
import { atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { Meter } from './charged-database.ts'
import { Killed, RefusedCall } from './fault.ts'
import { restartDuring } from './loads.ts'
import { expectShape } from './program.ts'
import type { Stage } from './stage.ts'
import { token } from './stored.ts'

const likesASecond = 500
/**
 * Seconds of likes, and the commits above two a second that a group may get in them by chance. In six seconds each of 1,000 random counters
 * gets 3 on average, and one gets more than 15 with one seed in 10,000; in four seconds one gets more than 12 with one seed in 6,000.
 */
const wholeLoad = { seconds: 6, byChance: 3 }
const shortLoad = { seconds: 4, byChance: 4 }
/** Likes come so many milliseconds apart, several at once. */
const stepMs = 10
/**
 * Likes under way that the site can hold; more are turned away. Where likes are gathered, each of four processes may hold some, and they are
 * told of a second one after the other.
 */
const underWayMax = 2500
/** A user waits for so many milliseconds; a like without an answer has failed then. */
const patienceMs = 10_000
/** After so many likes that failed the site is down: its process ends, and the load with it. */
const failedMax = 100
/** Likes of another post, one of so many. */
const otherShare = 50

const groupHint =
  'A group takes about one commit a second. Give likes keys of their own, or enough counters: at 500 likes a second that is several hundred. ' +
  'Let everySecond add them up into the number that readers see.'

export const likeButton: Challenge = {
  name: 'like-button',
  title: 'five hundred likes a second',
  minutes: 45,
  task:
    'A post gets 500 likes a second. The given program adds one to a number in one entity, in a transaction. The log of its entity group takes a few ' +
    'commits a second, so nearly all likes fail: a user waits for ten seconds. Count every like, keep reads of the number cheap, and let no entity group have more than two ' +
    'commits a second. `everySecond` runs once a second.',
  lab: 'hot-key',
  functions: [
    { name: 'like', takes: { post: '9f86d081884c7d65' }, answers: null },
    { name: 'likes', takes: { post: '9f86d081884c7d65' }, answers: 1790 },
    { name: 'everySecond', takes: { post: '9f86d081884c7d65' }, answers: null },
  ],
  settings: challengeSettings,
  async run(stage) {
    const { record, random, session } = stage
    const load = stage.share === 1 ? wholeLoad : shortLoad
    const { seconds } = load
    // Further runs of everySecond, so that it counts the last likes.
    const secondsAfter = 2 * seconds
    const { store, program } = await stage.open()
    const meter = new Meter()
    const db = stage.db({ meter })
    const posts = [token(random), token(random)] as const
    const accepted = new Map<string, number>(posts.map((post) => [post, 0]))
    let [failed, offered, underWay] = [0, 0, 0]
    const fail = (): void => {
      failed++
      if (failed === failedMax) program.crash()
    }
    const one = async (i: number): Promise<void> => {
      // Every tenth does not come, so that the number cannot be known before.
      if (random.integer(10) === 0) return
      const post = random.integer(otherShare) === 0 ? posts[1] : posts[0]
      await store.sleep(Math.floor((i * 900) / likesASecond / stepMs) * stepMs)
      if (failed >= failedMax) return
      offered++
      if (underWay === underWayMax) {
        fail()
        return
      }
      underWay++
      const like = program.call('like', db, post).then(() => accepted.set(post, (accepted.get(post) ?? 0) + 1))
      if (!(await isInTime(store, like))) fail()
      await like.catch(ignoreRefusal).finally(() => underWay--)
    }
    const ticks = async (): Promise<void> => {
      for (let second = 0; second < seconds + secondsAfter; second++) {
        await store.sleep(1000)
        if (second >= seconds && second % seconds === 0) program.restart()
        for (const post of posts) await program.tick('everySecond', db, post).catch(ignoreRefusal)
        session.progress(second / (seconds + secondsAfter))
      }
    }
    const calls = Math.round((likesASecond * seconds) / 0.9)
    await store.together([
      ticks(),
      restartDuring(stage, seconds, 2),
      ...Array.from({ length: calls }, (_, i) => one(i)),
    ])
    const { wrong, rows } = await store.alone(() => readNumbers(stage, accepted))
    drawHeat(record, store, 'Entities')
    record.figure('likes that failed', failed, `of ${offered}`)
    record.figure('likes counted wrong', wrong, `of ${offered - failed}`)
    record.figure('a read of the number', rows, 'rows')
    record.figure('busiest entity group', busiestGroup(meter, load), 'commits/s')
  },
  goals: {
    'likes that failed': none('no like fails', groupHint),
    'likes counted wrong': none(
      'every like is counted',
      'A like that was answered must be in the store: the process may be replaced at any time, and its memory with it. Nor may a like be counted twice.',
    ),
    'a read of the number': atMost(
      'a read of the number is cheap',
      10,
      'Readers should get one entity that everySecond writes; counting likes, or adding up all counters, is work for everySecond.',
    ),
    'busiest entity group': atMost('no entity group has more than two commits a second', 2, groupHint),
  },
  findings: ['hot-entity-group', 'hot-key'],
}

/** Asks a process that has just started for the numbers. @returns how far they are off, and the rows that a read takes */
async function readNumbers(
  stage: Stage,
  accepted: ReadonlyMap<string, number>,
): Promise<{ readonly wrong: number; readonly rows: number }> {
  const { store, program } = stage.opened
  const { charged } = store.engine.tablets
  let wrong = 0
  program.restart()
  for (const [post, wanted] of accepted) {
    const number = await program.call('likes', stage.db(), post)
    expectShape(typeof number === 'number' || typeof number === 'bigint', 'likes', 'a number', number)
    wrong += Math.abs(wanted - Number(number))
  }
  return { wrong, rows: (store.engine.tablets.charged - charged) / accepted.size }
}

/** Whether a like is answered while its user waits. A refused one is what is judged; any other error is a mistake of the program. */
function isInTime(store: Store, like: Promise<unknown>): Promise<boolean> {
  const isAnswered = like.then(
    () => true,
    (error) => ignoreRefusal(error) ?? false,
  )
  return Promise.race([isAnswered, store.sleep(patienceMs).then(() => false)])
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof RefusedCall || error instanceof Killed)) throw error
}

/**
 * Commits a second of a busy group, over as many seconds as the load has, from the first commit on: of the one that a like meets on average, or
 * of the busiest without what chance may have brought it.
 *
 *   200 random counters, 500 likes a second     2.5 on average, which four seconds tell from 2 for certain
 *   1,000 of them                               0.5 on average
 */
function busiestGroup({ commitsOf }: Meter, { seconds, byChance }: typeof wholeLoad): number {
  const groups = [...commitsOf.values()]
  const firstMs = groups.reduce((least, [first = 0]) => Math.min(least, first), Number.POSITIVE_INFINITY)
  const counts = groups.map((times) => times.filter((at) => at < firstMs + seconds * 1000).length)
  const all = sum(counts)
  const others = sum(counts.map((one) => one * (one - 1))) / Math.max(1, all - 1)
  const most = counts.reduce((max, one) => Math.max(max, one - byChance), 0)
  return Math.max(others, most) / seconds
}
