/** One counter for all invoices. */
import { defaultsOf, tabletSettingValues } from '../settings.ts'
import { atLeast, atMost, type Challenge } from './challenge.ts'
import { alone, callInTurn, dbOf, drawHeat } from './loads.ts'

const writers = 64
const seconds = 20
const asked = 40

export const invoiceNumbers: Challenge = {
  name: 'invoice-numbers',
  title: 'one counter for all invoices',
  minutes: 30,
  task:
    'Sixty-four clients write invoices. Each invoice gets its number from one counter entity, in a transaction, so all clients queue at the log of ' +
    'one entity group. Numbers must be unique, and may have gaps. Reach 200 invoices a second, and find an invoice by its number with one lookup.',
  hint: 'Where gaps are allowed, AllocateIds gives unique numbers without a counter of your own; or spread the counter over shards.',
  lab: 'sequence-numbers',
  functions: ['createInvoice', 'findInvoice'],
  settings: { ...tabletSettingValues, ...defaultsOf('client.rpcMs') },
  async run(session, program) {
    const { record } = session
    const store = await session.open({ simulate: true })
    const db = dbOf(session, store)
    const written: { readonly number: unknown; readonly customer: string; readonly amount: number }[] = []
    const { done, failed, latency } = await callInTurn(
      session,
      store,
      { clients: writers, seconds },
      async (client, amount) => {
        const customer = `c${client}`
        written.push({ number: await program.call('createInvoice', db, { customer, amount }), customer, amount })
      },
    )
    let lost = 0
    await alone(store, async () => {
      for (let i = 0; i < asked && written.length > 0; i++) {
        const invoice = written[session.random.integer(written.length)]
        const lookups = db.meter.calls
        const found = (await program.call('findInvoice', db, invoice?.number)) as Record<string, unknown> | undefined
        const isRight = found?.['customer'] === invoice?.customer && found?.['amount'] === invoice?.amount
        if (!isRight || db.meter.calls - lookups !== 1) lost++
      }
    })
    drawHeat(session, store, 'Entities')
    record.figure('invoices', done / seconds, 'a second')
    record.figure('p99', latency.quantile(0.99), 'ms')
    record.figure('calls that failed', failed, '')
    record.figure('duplicates', written.length - new Set(written.map(({ number }) => String(number))).size, '')
    record.figure('not found by one lookup', lost, `of ${asked} invoices`)
  },
  goals: [
    atLeast('64 clients write at least 200 invoices a second', 'invoices', 200),
    atMost('no number is given twice', 'duplicates', 0),
    atMost('no call fails', 'calls that failed', 0),
    atMost('one lookup finds an invoice by its number', 'not found by one lookup', 0),
  ],
  findings: ['hot-entity-group', 'hot-key'],
}
