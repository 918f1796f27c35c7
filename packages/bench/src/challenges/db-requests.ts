/** Requests of a learner's process, done by the {@link Db} of the call. */
import type { Db } from './db.ts'

/** Transactions that a process has begun, by number; `undefined` for those that have ended. */
export type Transactions = (Uint8Array | undefined)[]

type Verb = (db: Db, args: readonly [never, never, never, ...never[]], transactions: Transactions) => unknown

/** Arguments are the program's: {@link Db} checks them. */
const verbs: Readonly<Record<string, Verb>> = {
  sleep: (db, [ms]) => db.sleep(duration(ms)),
  get: (db, [key]) => db.get(key),
  getAll: (db, [keys]) => db.getAll(keys),
  put: (db, [key, properties, options]) => db.commit([['put', key, properties, options]]),
  insert: (db, [key, properties, options]) => db.commit([['insert', key, properties, options]]),
  remove: (db, keys) => db.commit([['remove', ...keys]]),
  query: (db, [options]) => db.query(options),
  count: (db, [options]) => db.count(options),
  allocateId: (db, [kind]) => db.allocateId(kind),
  begin: async (db, _, transactions) => transactions.push(await db.begin()) - 1,
  within: (db, [number, verb, argument], transactions) => {
    const transaction = openOf(transactions, number)
    if (verb === 'get') return db.get(argument, transaction)
    return verb === 'getAll' ? db.getAll(argument, transaction) : db.query(argument, transaction)
  },
  commit: async (db, [number, changes], transactions) => {
    await db.commit(changes, openOf(transactions, number))
    transactions[Number(number)] = undefined
  },
  rollback: async (db, [number], transactions) => {
    const transaction = transactions[Number(number)]
    transactions[Number(number)] = undefined
    if (transaction !== undefined) await db.rollback(transaction)
  },
}

/** @throws DatastoreError of the service; TypeError and RangeError for arguments that make no sense */
export async function perform(
  db: Db,
  transactions: Transactions,
  verb: string,
  args: readonly unknown[],
): Promise<unknown> {
  const own = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (own === undefined) throw new TypeError(`there is no call ${verb}`)
  return await own(db, args as unknown as readonly [never, never, never], transactions)
}

/** @throws TypeError */
function openOf(transactions: Transactions, number: unknown): Uint8Array {
  const found = transactions[Number(number)]
  if (found === undefined) throw new TypeError('this transaction has ended')
  return found
}

function duration(ms: unknown): number {
  if (typeof ms !== 'number' || !(ms >= 0)) throw new TypeError(`sleep takes milliseconds, not ${String(ms)}`)
  return Math.min(ms, 3_600_000)
}
