/** One counter for all invoices. */
import { drawHeat } from '../sim/watch.ts'
import { atLeast, type Challenge, challengeSettings, none } from './challenge.ts'
import { callInTurn } from './loads.ts'
import { expectShape } from './program.ts'
import { storedOf, token } from './stored.ts'

const writers = 64
const secondsWhole = 10
const asked = 40
const blockHint =
  'One entity group takes a few commits a second. Where gaps are allowed, a process can take many numbers with one commit, or AllocateIds ' +
  'gives unique ones without a counter of your own.'

export const invoiceNumbers: Challenge = {
  name: 'invoice-numbers',
  title: 'one counter for all invoices',
  minutes: 30,
  task:
    'Sixty-four clients write invoices. Each invoice gets its number from one counter entity, in a transaction, so all clients queue at the log of ' +
    'one entity group. Numbers must be unique, and may have gaps. Reach 200 invoices a second, and find an invoice by its number with one lookup.',
  lab: 'sequence-numbers',
  functions: [
    { name: 'createInvoice', takes: { invoice: { customer: '9f86d081884c7d65', amount: 4711 } }, answers: 17 },
    { name: 'findInvoice', takes: { number: 17 }, answers: { customer: '9f86d081884c7d65', amount: 4711 } },
  ],
  settings: challengeSettings,
  async run(stage) {
    const { record, random } = stage
    const { store, program } = await stage.open()
    const db = stage.db()
    const seconds = secondsWhole * stage.share
    const written: { readonly number: unknown; readonly customer: string; readonly amount: number }[] = []
    const { done, failed, latency } = await callInTurn(stage, { clients: writers, seconds }, async () => {
      const [customer, amount] = [token(random), random.integer(1_000_000)]
      const number = await program.call('createInvoice', db, { customer, amount })
      expectShape(
        typeof number === 'bigint' || Number.isSafeInteger(number),
        'createInvoice',
        'the number of the invoice, a whole number',
        number,
      )
      written.push({ number, customer, amount })
    })
    let lost = 0
    const stored = await store.alone(async () => {
      program.restart()
      for (let i = 0; i < asked && written.length > 0; i++) {
        const invoice = written[random.integer(written.length)]
        const lookups = db.meter.calls
        const found = (await program.call('findInvoice', db, invoice?.number)) as Record<string, unknown> | undefined
        const isRight = found?.['customer'] === invoice?.customer && found?.['amount'] === invoice?.amount
        if (!isRight || db.meter.calls - lookups !== 1) lost++
      }
      const customers = written.map(({ customer }) => customer)
      return storedOf(store, customers)
    })
    drawHeat(record, store, 'Entities')
    record.figure('invoices', done / seconds, '/s')
    record.figure('p99', latency.quantile(0.99), 'ms')
    record.figure('calls that failed', failed, '')
    record.figure('duplicates', written.length - new Set(written.map(({ number }) => String(number))).size, '')
    record.figure('not found by one lookup', lost, `of ${asked} invoices`)
    record.figure('not in the store', written.length - stored, `of ${written.length} invoices`)
  },
  goals: {
    'not in the store': none(
      'every invoice is in the store',
      'Wait for the store before you answer a number. An `insert` fails where a `put` overwrites another invoice.',
    ),
    invoices: atLeast('64 clients write at least 200 invoices a second', 200, blockHint),
    duplicates: none(
      'no number is given twice',
      'Two processes, or one that was started anew, must never give the same number: what is given must be in the store first.',
    ),
    'calls that failed': none('no call fails', blockHint),
    'not found by one lookup': none(
      'one lookup finds an invoice by its number',
      'Make the number the last part of the key, and keep the invoice under no other.',
    ),
  },
  findings: ['hot-entity-group', 'hot-key'],
}
