/** A list in one entity that is read, changed and put back. */
import { drawHeat } from '../sim/watch.ts'
import { atLeast, atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { Killed } from './fault.ts'
import { callInTurn } from './loads.ts'
import { expectShape } from './program.ts'
import { storedOf, token } from './stored.ts'

const writers = 64
const secondsWhole = 10
const ownFollowers = 20
const crashes = 8

const groupHint =
  'Sixty-four clients that read, change and put back one entity wait for each other, or overwrite each other. An entity for each follower never ' +
  'meets another one; or append records of +id and -id, and fold them when you read.'

export const followerList: Challenge = {
  name: 'follower-list',
  title: 'a list that is read, changed and put back',
  minutes: 45,
  task:
    'The followers of a user are a list in one entity. To follow and unfollow, a client reads the list, changes it and puts it back; sixty-four do ' +
    'so at once, and overwrite each other. Lose no change, keep no client waiting for long, and let a crash at any call of `compact` do no ' +
    'harm. (compact may do nothing if your design needs none.)',
  lab: 'list-removal',
  functions: [
    { name: 'follow', takes: { user: '9f86d081884c7d65', follower: '2c26b46b68ffc68f' }, answers: null },
    { name: 'unfollow', takes: { user: '9f86d081884c7d65', follower: '2c26b46b68ffc68f' }, answers: null },
    { name: 'followers', takes: { user: '9f86d081884c7d65' }, answers: ['2c26b46b68ffc68f'] },
    { name: 'compact', takes: { user: '9f86d081884c7d65' }, answers: null },
  ],
  settings: challengeSettings,
  async run(stage) {
    const { record, random } = stage
    const { store, program } = await stage.open()
    const db = stage.db()
    // Calls of a command take real time: it gets a shorter load.
    const seconds = Math.max(4, secondsWhole * stage.share)
    const user = token(random)
    const names = Array.from({ length: writers * ownFollowers }, () => token(random))
    const following = new Set<string>()
    const readAll = async (): Promise<string> => {
      const list = await program.call('followers', db, user)
      expectShape(Array.isArray(list), 'followers', 'a list of followers', list)
      return JSON.stringify((list as string[]).toSorted())
    }
    const load = { clients: writers, seconds }
    const { done, failed, latency, fewest } = await callInTurn(stage, load, async (client) => {
      const follower = names[client * ownFollowers + random.integer(ownFollowers)] ?? ''
      const verb = following.has(follower) ? 'unfollow' : 'follow'
      await program.call(verb, db, user, follower)
      if (verb === 'follow') following.add(follower)
      else following.delete(follower)
    })
    const [wrong, stored] = await store.alone(async () => {
      program.restart()
      const found = JSON.parse(await readAll()) as string[]
      return [difference(found, [...following]), await storedOf(store, [...following])] as const
    })
    let harmed = 0
    for (let at = 1; at <= crashes; at++) {
      harmed += await store.alone(async () => {
        let calls = 0
        const doomed = stage.db({
          before: () => {
            if (++calls !== at) return
            program.crash()
            throw new Killed()
          },
        })
        const before = await readAll()
        try {
          await program.call('compact', doomed, user)
        } catch (error) {
          if (!(error instanceof Killed)) throw error
        }
        return (await readAll()) === before ? 0 : 1
      })
    }
    drawHeat(record, store, 'Entities')
    record.figure('changes', done / seconds, '/s')
    record.figure('p99', latency.quantile(0.99), 'ms')
    record.figure('calls that failed', failed, '')
    record.figure('changes of the slowest client', (fewest * secondsWhole) / seconds, `in ${secondsWhole} s`)
    record.figure('followers lost or left over', wrong, '')
    record.figure('not in the store', following.size - stored, `of ${following.size} followers`)
    record.figure('lists harmed by a crash', harmed, `of ${crashes}`)
  },
  goals: {
    'followers lost or left over': none(
      'no change is lost',
      'A list that is read and put back loses what another client wrote in between; a list in memory is lost with its process.',
    ),
    'not in the store': none(
      'every follower is in the store',
      'Wait for the store before you return: `await` every write.',
    ),
    'calls that failed': none('no call fails', groupHint),
    'changes of the slowest client': atLeast('no client starves', 10, groupHint),
    p99: atMost('a change takes at most two seconds', 2000, groupHint),
    'lists harmed by a crash': none(
      'a crash in the middle of compact harms no list',
      'Between two calls of compact the list must be whole: write the new state before you delete the old one, or do both in one transaction.',
    ),
  },
  findings: ['hot-entity-group', 'hot-key'],
}

/** Members of one list alone, and repeats. */
function difference(found: readonly string[], wanted: readonly string[]): number {
  const [a, b] = [new Set(found), new Set(wanted)]
  return [...a].filter((one) => !b.has(one)).length + wanted.filter((one) => !a.has(one)).length + found.length - a.size
}
