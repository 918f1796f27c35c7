/** An indexed timestamp of now, whose index rows all fall into one tablet. */
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { ramped, rampSettings } from '../sim/ramp.ts'
import { atLeast, atMost, type Challenge } from './challenge.ts'
import { Meter } from './db.ts'
import { alone, dbOf, offerCalls } from './loads.ts'

const users = 5000
const eventsOfUser = 30
const dayMs = 86_400_000

export const eventTime: Challenge = {
  name: 'event-time',
  title: 'an index over the time of now',
  minutes: 30,
  task:
    'Events of 5,000 users are stored with an indexed timestamp, and the page of a user shows the events of a day in their order. Every ' +
    'new index row falls behind the last one. Change keys or properties so that index rows spread, and one query still gives the ' +
    'events of a user and day in order.',
  hint: 'Order by something that begins with the user: a name of the form user_time, or a property that joins both.',
  lab: 'monotonic-index',
  functions: ['addEvent', 'eventsOfDay'],
  settings: { ...rampSettings, ...tabletSettingValues, ...defaultsOf('client.rpcMs'), 'ramp.minutes': 45 },
  async run(session, program) {
    const { random } = session
    const store = await session.open({ simulate: true })
    const add = (db: unknown, user: string, at: number, text: string): unknown =>
      program.call('addEvent', db, { user, at: new Date(at), text })
    await offerCalls(session, store, ramped(session), {
      tables: ['EntitiesByPropertyAsc', 'Entities'],
      call: (db, n) => add(db, `user${random.integer(users)}`, db.now(), `event ${n}`),
    })
    const meter = new Meter()
    const db = dbOf(session, store, { meter })
    const right = await alone(store, async () => {
      await store.sleep(60_000)
      // A user of its own, on the day that comes next, in any order of writing; the day before and after have events, too.
      const day = Math.ceil(db.now() / dayMs) + 2
      const times = Array.from(
        { length: eventsOfUser },
        (_, i) => (day - 1) * dayMs + Math.floor((i * 3 * dayMs) / eventsOfUser),
      )
      const shuffled = times.map((at) => ({ at, place: random.next() })).sort((a, b) => a.place - b.place)
      for (const { at } of shuffled) await add(db, 'ada', at, `at ${at}`)
      const queries = meter.queries
      const events = (await program.call('eventsOfDay', db, 'ada', new Date(day * dayMs))) as
        | readonly { text?: unknown }[]
        | undefined
      session.record.figure('queries for a day', meter.queries - queries, '')
      const wanted = times.filter((at) => at >= day * dayMs && at < (day + 1) * dayMs).map((at) => `at ${at}`)
      return JSON.stringify(events?.map(({ text }) => text)) === JSON.stringify(wanted)
    })
    session.record.figure('days read right', right ? 1 : 0, 'of 1')
  },
  goals: [
    atMost(
      'index rows spread: no tablet has more than three times the mean load',
      'EntitiesByPropertyAsc: busiest tablet',
      3,
    ),
    atMost('the entities spread, too', 'Entities: busiest tablet', 3),
    atMost('nearly nothing is refused', 'refused', 1),
    atLeast('the events of a user and day come complete and in order', 'days read right', 1),
    atMost('by one query', 'queries for a day', 1),
  ],
  findings: ['monotonic-index', 'sequential-keys'],
}
