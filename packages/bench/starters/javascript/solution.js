/**
 * A program of a challenge, over @google-cloud/datastore.
 *
 * The judge starts this file, and sends a call as a line of JSON. README.md has the calls and their answers. The last lines read calls and
 * write answers. Print other things by console.error: the standard output is for answers.
 */
import { createInterface } from 'node:readline'
import { Datastore } from '@google-cloud/datastore'

// Host and project are read from the environment.
const datastore = new Datastore()

// ── your program ──

/** Stores customer 1, 2, 3, … */
async function addCustomer({ n, customer }) {
  const key = datastore.key(['Customer', `Customer${n}`])
  await datastore.insert({ key, data: customer, excludeFromIndexes: ['name'] })
}

/** Answers the customer of a number, with one lookup. */
async function findCustomer({ n }) {
  const [customer] = await datastore.get(datastore.key(['Customer', `Customer${n}`]))
  return customer
}

const calls = { addCustomer, findCustomer }

// ── the store ──

/** For a transaction that is to run again after a conflict, or when a tablet moves: `work` gets it, reads with it and saves to it. */
export async function inTransaction(work) {
  for (let attempt = 1; ; attempt++) {
    const transaction = datastore.transaction()
    try {
      await transaction.run()
      const result = await work(transaction)
      await transaction.commit()
      return result
    } catch (error) {
      await transaction.rollback().catch(() => {})
      // ABORTED, UNAVAILABLE
      if (![10, 14].includes(error.code) || attempt === 6) throw error
      await new Promise((done) => setTimeout(done, 50 * 2 ** attempt))
    }
  }
}

// ── calls and answers ──

async function answer({ id, call, ...args }) {
  try {
    write({ id, answer: (await calls[call](args)) ?? null })
  } catch (error) {
    // Errors of the service have a number, such as 10 for ABORTED.
    const refused =
      typeof error.code === 'number' ? { code: error.code, message: error.details ?? error.message } : undefined
    if (refused === undefined) console.error(error)
    write({ id, error: refused ?? `${error.name}: ${error.message}` })
  }
}

function write(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

for await (const line of createInterface({ input: process.stdin })) void answer(JSON.parse(line))
