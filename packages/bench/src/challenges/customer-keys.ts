/** Names that rise, at a rate that one tablet cannot serve. */

import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { ramped, rampSettings } from '../sim/ramp.ts'
import { atMost, type Challenge } from './challenge.ts'
import { Meter } from './db.ts'
import { alone, dbOf, offerCalls } from './loads.ts'

const asked = 40

export const customerKeys: Challenge = {
  name: 'customer-keys',
  title: 'names that rise',
  minutes: 20,
  task:
    'New customers get the names Customer1, Customer2, … The rate grows by the book to about 20,000 a second. Change the keys so that ' +
    'the load spreads over tablets, and each customer is still found by its number with one lookup.',
  hint: 'Put a hash of the number in front of the name: it can be computed again from the number.',
  lab: 'sequential-keys',
  functions: ['addCustomer', 'findCustomer'],
  settings: { ...rampSettings, ...tabletSettingValues, ...defaultsOf('client.rpcMs'), 'ramp.minutes': 50 },
  async run(session, program) {
    const store = await session.open({ simulate: true })
    let last = 0
    await offerCalls(session, store, ramped(session), {
      tables: ['Entities'],
      call: (db, n) => {
        last = n
        return program.call('addCustomer', db, n + 1, { name: `customer ${n + 1}` })
      },
    })
    const meter = new Meter()
    const db = dbOf(session, store, { meter })
    let found = 0
    await alone(store, async () => {
      await store.sleep(60_000)
      // Numbers that the load did not draw: between two of its calls lie many.
      for (let i = 0; i < asked; i++) {
        const number = last + 1000 + Math.floor(session.random.next() * 1e9)
        const name = `customer ${number}`
        await program.call('addCustomer', db, number, { name })
        const [calls, keys] = [meter.calls, meter.keysRead]
        const customer = (await program.call('findCustomer', db, number)) as { name?: unknown } | undefined
        if (customer?.name === name && meter.calls - calls === 1 && meter.keysRead - keys === 1) found++
      }
    })
    session.record.figure('not found by one lookup', asked - found, `of ${asked} customers`)
  },
  goals: [
    atMost('no tablet has more than twice the mean load', 'Entities: busiest tablet', 2),
    { says: 'the load is spread over several tablets', figure: 'Entities: tablets', holds: (tablets) => tablets >= 4 },
    atMost('nearly nothing is refused', 'refused', 1),
    atMost('one lookup finds a customer by its number', 'not found by one lookup', 0),
  ],
  findings: ['sequential-keys', 'hot-range'],
}
