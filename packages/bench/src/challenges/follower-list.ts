/** A list in one entity that is read, changed and put back. */
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { atLeast, atMost, type Challenge } from './challenge.ts'
import { alone, callInTurn, dbOf, drawHeat } from './loads.ts'

const writers = 64
const seconds = 30
const ownFollowers = 20
const user = 'ada'

class Crash extends Error {}

export const followerList: Challenge = {
  name: 'follower-list',
  title: 'a list that is read, changed and put back',
  minutes: 45,
  task:
    'The followers of a user are a list in one entity. To follow and unfollow, a client reads the list, changes it and puts it back; sixty-four do ' +
    'so at once, and overwrite each other. Lose no change, keep no client waiting for long, and let a crash at any call of `compact` do no ' +
    'harm. (compact may do nothing if your design needs none.)',
  hint: 'An entity for each follower never conflicts with another one; or append +id and -id records, and fold them when you read.',
  lab: 'list-removal',
  functions: ['follow', 'unfollow', 'followers', 'compact'],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(session, program) {
    const { record, random } = session
    const store = await session.open({ simulate: true })
    const db = dbOf(session, store)
    const following = new Set<string>()
    const readAll = async (): Promise<string> =>
      JSON.stringify([...((await program.call('followers', db, user)) as readonly string[])].sort())
    const { done, failed, latency, fewest } = await callInTurn(
      session,
      store,
      { clients: writers, seconds },
      async (client) => {
        const follower = `f${client}-${random.integer(ownFollowers)}`
        const verb = following.has(follower) ? 'unfollow' : 'follow'
        await program.call(verb, db, user, follower)
        if (verb === 'follow') following.add(follower)
        else following.delete(follower)
      },
    )
    const wrong = await alone(store, async () => {
      const wanted = [...following].sort()
      const found = JSON.parse(await readAll()) as string[]
      return difference(found, wanted)
    })
    let harmed = 0
    for (let at = 1; at <= 8; at++) {
      harmed += await alone(store, async () => {
        let calls = 0
        const doomed = dbOf(session, store, {
          before: () => {
            if (++calls === at) throw new Crash()
          },
        })
        const before = await readAll()
        try {
          await program.call('compact', doomed, user)
        } catch (error) {
          if (!(error instanceof Crash)) throw error
        }
        return (await readAll()) === before ? 0 : 1
      })
    }
    drawHeat(session, store, 'Entities')
    record.figure('changes', done / seconds, 'a second')
    record.figure('p99', latency.quantile(0.99), 'ms')
    record.figure('calls that failed', failed, '')
    record.figure('changes of the slowest client', fewest, '')
    record.figure('followers lost or left over', wrong, '')
    record.figure('lists harmed by a crash', harmed, 'of 8')
  },
  goals: [
    atMost('no change is lost', 'followers lost or left over', 0),
    atMost('no call fails', 'calls that failed', 0),
    atLeast('no client starves', 'changes of the slowest client', 20),
    atMost('a change takes at most two seconds', 'p99', 2000),
    atMost('a crash in the middle of compact harms no list', 'lists harmed by a crash', 0),
  ],
  findings: ['hot-entity-group', 'hot-key'],
}

/** Members of one list alone, and repeats. */
function difference(found: readonly string[], wanted: readonly string[]): number {
  const [a, b] = [new Set(found), new Set(wanted)]
  return [...a].filter((one) => !b.has(one)).length + wanted.filter((one) => !a.has(one)).length + found.length - a.size
}
