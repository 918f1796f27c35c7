/** Five hundred likes a second on one entity. */
import { DatastoreError } from '@sixtables/engine'
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { atMost, type Challenge } from './challenge.ts'
import { Meter } from './db.ts'
import { alone, dbOf, drawHeat } from './loads.ts'

const likesASecond = 500
const seconds = 2
/** Further runs of everySecond, so that it counts the last likes. */
const secondsAfter = 8
const post = 'cats'
/** A group's rate is that of its busiest time of this length. */
const windowSeconds = seconds + secondsAfter

export const likeButton: Challenge = {
  name: 'like-button',
  title: 'five hundred likes a second',
  minutes: 45,
  task:
    'A post gets 500 likes a second. The given program adds one to a number in one entity, in a transaction. The log of its entity group takes a few ' +
    'commits a second, so nearly all likes fail. Count every like, keep reads of the number cheap, and let no entity group have more than about one ' +
    'commit a second. `everySecond` runs once a second.',
  hint: 'Store each like as an entity of its own, and let everySecond count the new ones into the number that readers see.',
  lab: 'hot-key',
  functions: ['like', 'likes', 'everySecond'],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(session, program) {
    const { record } = session
    const store = await session.open({ simulate: true })
    const meter = new Meter()
    const db = dbOf(session, store, { meter })
    let failed = 0
    let accepted = 0
    const one = async (i: number): Promise<void> => {
      await store.sleep((i * 1000) / likesASecond)
      try {
        await program.call('like', db, post)
        accepted++
      } catch (error) {
        // A refused like is what is judged; any other error is a mistake of the program.
        if (!(error instanceof DatastoreError)) throw error
        failed++
      }
    }
    const ticks = async (): Promise<void> => {
      for (let second = 0; second < seconds + secondsAfter; second++) {
        await store.sleep(1000)
        await Promise.resolve(program.call('everySecond', db, post))
        session.progress(second / (seconds + secondsAfter))
      }
    }
    await store.together([ticks(), ...Array.from({ length: likesASecond * seconds }, (_, i) => one(i))])
    const reader = new Meter()
    const number = await alone(store, async () => program.call('likes', dbOf(session, store, { meter: reader }), post))
    const busiest = Math.max(0, ...[...meter.commitsOf.values()].map(mostWithinWindow))
    drawHeat(session, store, 'Entities')
    record.figure('likes that failed', failed, `of ${likesASecond * seconds}`)
    record.figure('likes counted wrong', Math.abs(accepted - Number(number)), '')
    record.figure('a read of the number', reader.keysRead + reader.rowsRead + reader.queries, 'keys, rows and queries')
    record.figure('busiest entity group', busiest / windowSeconds, 'commits a second')
  },
  goals: [
    atMost('no like fails', 'likes that failed', 0),
    atMost('every like is counted', 'likes counted wrong', 0),
    atMost('a read of the number is cheap', 'a read of the number', 10),
    atMost('no entity group has more than about one commit a second', 'busiest entity group', 1.5),
  ],
  findings: ['hot-entity-group', 'hot-key'],
}

/** The greatest number of these times, in milliseconds and rising, within a window. */
function mostWithinWindow(times: readonly number[]): number {
  let [from, most] = [0, 0]
  for (const [i, time] of times.entries()) {
    while (time - (times[from] ?? time) >= windowSeconds * 1000) from++
    most = Math.max(most, i - from + 1)
  }
  return most
}
