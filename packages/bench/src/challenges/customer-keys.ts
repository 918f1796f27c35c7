/** Names that rise, at a rate that one tablet cannot serve. */
import { ramped, rampSettings } from '../sim/ramp.ts'
import { atLeast, atMost, type Challenge, challengeSettings, none } from './challenge.ts'
import { Meter } from './charged-database.ts'
import { offerCalls } from './loads.ts'
import { storedOf, token } from './stored.ts'

const asked = 40
const hashHint =
  'Consecutive numbers must land far apart: put something in front of the name that jumps about from one number to the next, and can be ' +
  'computed again from the number.'

export const customerKeys: Challenge = {
  name: 'customer-keys',
  title: 'names that rise',
  minutes: 20,
  task:
    'New customers get the names Customer1, Customer2, … The rate grows by the book to about 20,000 a second. Change the keys so that ' +
    'the load spreads over tablets, and each customer is still found by its number with one lookup.',
  lab: 'sequential-keys',
  functions: [
    { name: 'addCustomer', takes: { n: 17, customer: { name: '9f86d081884c7d65' } }, answers: null },
    { name: 'findCustomer', takes: { n: 17 }, answers: { name: '9f86d081884c7d65' } },
  ],
  settings: {
    ...rampSettings,
    ...challengeSettings,
    'ramp.minutes': 50,
    'load.slotMs': 20_000,
  },
  async run(stage) {
    const { record, random, session } = stage
    const { store, program } = await stage.open()
    const first = random.integer(1_000_000) + 1
    const added: { readonly number: number; readonly name: string }[] = []
    await offerCalls(stage, ramped(session), {
      tables: ['Entities'],
      call: async (db, n) => {
        const customer = { number: first + n, name: token(random) }
        await program.call('addCustomer', db, customer.number, { name: customer.name })
        added.push(customer)
      },
    })
    const meter = new Meter()
    const db = stage.db({ meter })
    let found = 0
    const stored = await store.alone(async () => {
      await store.sleep(60_000)
      program.restart()
      for (let i = 0; i < asked; i++) {
        const wanted = added[random.integer(added.length)]
        const [calls, keys] = [meter.calls, meter.keysRead]
        const customer = (await program.call('findCustomer', db, wanted?.number)) as { name?: unknown } | undefined
        if (customer?.name === wanted?.name && meter.calls - calls === 1 && meter.keysRead - keys === 1) found++
      }
      const names = added.map(({ name }) => name)
      return storedOf(store, names)
    })
    record.figure('not found by one lookup', asked - found, `of ${asked} customers`)
    record.figure('not in the store', added.length - stored, `of ${added.length} customers`)
  },
  goals: {
    'not in the store': none(
      'every customer is in the store',
      'A customer must be in the store when `addCustomer` returns: `await` the write.',
    ),
    'Entities: busiest tablet': atMost('no tablet has more than three times the mean load', 3, hashHint),
    'Entities: tablets': atLeast('the load is spread over several tablets', 4, hashHint),
    refused: atMost('at most 5 % is refused', 5, hashHint),
    'not found by one lookup': none(
      'one lookup finds a customer by its number',
      'The whole key must follow from the number: `findCustomer` gets nothing else, in a process that has just started.',
    ),
  },
  findings: ['sequential-keys', 'hot-range'],
}
