/** An indexed timestamp of now, whose index rows all fall into one tablet. */
import type { Random } from '@sixtables/engine/testing'
import { ramped, rampSettings } from '../sim/ramp.ts'
import { atLeast, atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { Meter } from './charged-database.ts'
import { offerCalls } from './loads.ts'
import { expectShape } from './program.ts'
import { storedOf, token } from './stored.ts'

const users = 5000
const eventsOfUser = 30
const dayMs = 86_400_000

interface Event {
  readonly user: string
  readonly at: number
  readonly text: string
}

const indexHint =
  'An index over the time alone always grows at its end. Let something stand in front of the time, in the name or in a joint property: the ' +
  'user, since the page asks for one.'

export const eventTime: Challenge = {
  name: 'event-time',
  title: 'an index over the time of now',
  minutes: 30,
  task:
    'Events of 5,000 users are stored with an indexed timestamp, and the page of a user shows the events of a day in their order. Every ' +
    'new index row falls behind the last one. Change keys or properties so that index rows spread, and one query still gives the ' +
    'events of a user and day in order.',
  lab: 'monotonic-index',
  functions: [
    {
      name: 'addEvent',
      takes: { event: { user: 'user17', at: '2026-01-01T00:00:00.000Z', text: '9f86d081884c7d65' } },
      answers: null,
    },
    {
      name: 'eventsOfDay',
      takes: { user: 'user17', day: '2026-01-01T00:00:00.000Z' },
      answers: [{ text: '9f86d081884c7d65' }],
    },
  ],
  settings: {
    ...rampSettings,
    ...challengeSettings,
    'ramp.minutes': 45,
    'load.slotMs': 10_000,
  },
  async run(stage) {
    const { record, random, session } = stage
    const { store, program } = await stage.open()
    const added: Event[] = []
    const add = async (db: Parameters<typeof program.call>[1], event: Event): Promise<void> => {
      const { user, at, text } = event
      await program.call('addEvent', db, { user, at: new Date(at), text })
      added.push(event)
    }
    await offerCalls(stage, ramped(session), {
      tables: ['EntitiesByPropertyAsc', 'Entities'],
      call: (db) => add(db, { user: `user${random.integer(users)}`, at: db.now(), text: token(random) }),
    })
    const meter = new Meter()
    const db = stage.db({ meter })
    const [isRight, rows, stored] = await store.alone(async () => {
      await store.sleep(60_000)
      const day = Math.ceil(db.now() / dayMs) + 1 + random.integer(5)
      const own = threeDays(random, day)
      for (const event of own) await add(db, event)
      program.restart()
      const { user } = own[0] ?? { user: '' }
      const before = meter.rowsRead + meter.keysRead
      const queries = meter.queries
      const answer = await program.call('eventsOfDay', db, user, new Date(day * dayMs))
      expectShape(Array.isArray(answer), 'eventsOfDay', 'a list of events, each with its text', answer)
      record.figure('queries for a day', meter.queries - queries, '')
      const wanted = own
        .filter((event) => event.user === user && event.at >= day * dayMs && event.at < (day + 1) * dayMs)
        .toSorted((a, b) => a.at - b.at)
        .map(({ text }) => text)
      const found = (answer as readonly { text?: unknown }[]).map((event) => event?.text)
      const texts = added.map(({ text }) => text)
      const rowsOfEvent = (meter.rowsRead + meter.keysRead - before) / wanted.length
      return [JSON.stringify(found) === JSON.stringify(wanted), rowsOfEvent, await storedOf(store, texts)] as const
    })
    record.figure('days read right', isRight ? 1 : 0, 'of 1')
    record.figure('rows read', rows, 'per event of the day')
    record.figure('not in the store', added.length - stored, `of ${added.length} events`)
  },
  goals: {
    'not in the store': none(
      'every event is in the store',
      'An event must be in the store when `addEvent` returns: `await` the write. Two events must not have the same key.',
    ),
    'EntitiesByPropertyAsc: busiest tablet': atMost(
      'index rows spread: no tablet has more than three times the mean load',
      3,
      indexHint,
    ),
    'Entities: busiest tablet': atMost(
      'the entities spread, too',
      3,
      'Names that begin with the time are as hot as an index over it: begin them with something that spreads.',
    ),
    // Right programs write two tables, each of which splits: up to 1 % while they do.
    refused: atMost('at most 2 % are refused', 2, indexHint),
    'days read right': atLeast(
      'the events of a user and day come complete and in order',
      1,
      'Order by time within the user, and mind the first and the last moment of the day. Events may be written in any order.',
    ),
    'queries for a day': atMost(
      'by one query',
      1,
      'Rows of a user that lie one behind the other are one range, and so one query.',
    ),
    'rows read': atMost(
      'which reads little more than it shows',
      4,
      'Let the query select the user and the day; do not filter in the program.',
    ),
  },
  findings: ['monotonic-index', 'sequential-keys'],
}

/** Events of a user and of another one over three days, in any order of writing. The day asked for is the middle one. */
function threeDays(random: Random, day: number): readonly Event[] {
  const [own, other] = [`user-${token(random)}`, `user-${token(random)}`]
  const events = Array.from({ length: eventsOfUser }, (_, i) => {
    const at = (day - 1) * dayMs + Math.floor(((i + random.next() / 2) * 3 * dayMs) / eventsOfUser)
    return { user: own, at, text: token(random) }
  })
  // The first moment of the day and of the next one, and those of another user.
  events.push(
    { user: own, at: day * dayMs, text: token(random) },
    { user: own, at: (day + 1) * dayMs, text: token(random) },
  )
  for (let i = 0; i < 5; i++) events.push({ user: other, at: day * dayMs + i * 60_000, text: token(random) })
  const first = events.shift()
  const shuffled = events
    .map((event) => ({ event, place: random.next() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ event }) => event)
  return first === undefined ? shuffled : [first, ...shuffled]
}
