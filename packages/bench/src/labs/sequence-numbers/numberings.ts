/**
 * Ways to number records, each as one job of a writer, and what came of them: how fast, how often in vain, and whether the
 * numbers are in a row.
 *
 * A job tells the numbers that its client was given; those are compared, not what the keys could not have held anyway.
 */
import type { Key } from '@sixtables/engine'
import type { Ways } from '../../lab.ts'
import { Unmeasured } from '../../measure/recorder.ts'
import { sum } from '../../measure/sums.ts'
import type { ArmSession } from '../../session.ts'
import { type Client, hasCode, integerOf, refusalOf, succeeds } from '../../sim/client.ts'
import { descending, type Fields, insert, integer, type Put, text, upsert } from '../../sim/entities.ts'
import type { WireSession } from '../../sim/wire.ts'
import { type Attempt, countUp, inTransaction, type Job, write, writeOverWire } from '../../sim/writers.ts'

export interface NumberingOptions {
  readonly shards: number
  readonly crashShare: number
}

/** A run of a numbering: its job, and what the jobs were given so far. */
export interface Numbering {
  /** Writes one record. @returns its number; `undefined` if the client has crashed before there was a record */
  next(attempt: Attempt): Promise<number | undefined>
  /** Numbers that need not be in a row. */
  readonly isSparse?: boolean
  keyOf(client: Client, n: number): Key
  /** Tries in vain: numbers that a get found taken, and commits that lost against another one. */
  readonly lost?: { readonly gets: number; readonly commits: number }
  /** How far the count that the writers keep is off, when all is done. */
  miscounts?(client: Client, given: readonly number[]): Promise<number>
}

/** The job of a numbering, and the numbers of records that are there, by the word of the clients that wrote them. */
function jobOf({ next }: Numbering): { readonly job: Job; readonly given: readonly number[] } {
  const given: number[] = []
  const job: Job = async (attempt) => {
    const number = await next(attempt)
    if (number !== undefined) given.push(number)
  }
  return { job, given }
}

export interface NumberingKind {
  /** Writers do not see that a number is taken. */
  readonly isUnchecked?: true
  /** A client that crashes leaves a number without a record. */
  readonly hasGaps?: true
  start(options: NumberingOptions): Numbering
}

const fieldsOf = (n: number): Fields => ({ number: integer(n), for: text('a customer') })
const record = (client: Client, n: number): Put => insert(invoice(client, n), fieldsOf(n))

/**
 * Puts the first record from `n` on whose number is free: a get and a put of the derived key in one transaction.
 *
 * @param taken - told of a number that is taken, and whether the get found it or the commit lost; answers the number to try next
 * @returns the record's number
 */
async function putUnique(
  client: Client,
  n: number,
  keyOf: Numbering['keyOf'],
  put: (n: number) => Put,
  taken: (n: number, by: 'gets' | 'commits') => number | Promise<number>,
): Promise<number> {
  for (;;) {
    const wanted = put(n)
    const key = keyOf(client, n)
    let takenBy: 'gets' | 'commits' | undefined
    const work = () =>
      inTransaction(client, async (transaction) => {
        if ((await client.lookup(key, transaction)) !== undefined) takenBy = 'gets'
        return takenBy === undefined ? [wanted] : []
      })
    if (!(await succeeds(work, (error) => hasCode(error, 'ABORTED')))) takenBy = 'commits'
    if (takenBy === undefined) return n
    n = await taken(n, takenBy)
  }
}

const invoice: Numbering['keyOf'] = (client, n) => client.key({ kind: 'Invoice', name: `${n}` })

function counterInGroup(): Numbering {
  const series = { kind: 'Series', name: 'invoices' }
  const keyOf: Numbering['keyOf'] = (client, n) => client.key(series, { kind: 'Invoice', id: BigInt(n) })
  const next: Numbering['next'] = ({ client }) =>
    countUp(client, client.key(series), (n) => [insert(keyOf(client, n), fieldsOf(n))])
  return { next, keyOf }
}

function counterOutside({ crashShare }: NumberingOptions): Numbering {
  const next: Numbering['next'] = async ({ client, random }) => {
    const n = await countUp(client, client.key({ kind: 'Counter', name: 'invoices' }))
    // The counter has moved; a client that crashes now leaves a number without a record.
    if (random.next() < crashShare) return undefined
    await client.commit([record(client, n)])
    return n
  }
  return { next, keyOf: invoice }
}

/** An unchecked number: the one after the greatest number that a query finds. */
function queryThenPut(): Numbering {
  const next: Numbering['next'] = async ({ client }) => {
    const n = integerOf(await client.greatest('Invoice', 'number'), 'number') + 1
    await client.commit([upsert(invoice(client, n), fieldsOf(n))])
    return n
  }
  return { next, keyOf: invoice, isSparse: true }
}

/** @param spread - whether a loser tries further ahead, or the very next number */
function putUniqueNumbers(spread: boolean): Numbering {
  const lost = { gets: 0, commits: 0 }
  const next: Numbering['next'] = async ({ client, random, retried }) => {
    const greatest = integerOf(await client.greatest('Invoice', 'number'), 'number')
    let reach = 1
    const taken = (n: number, by: keyof typeof lost): number => {
      lost[by]++
      retried()
      if (!spread) return n + 1
      reach *= 2
      return n + 1 + random.integer(reach)
    }
    return await putUnique(client, greatest + 1, invoice, (n) => record(client, n), taken)
  }
  return { next, lost, keyOf: invoice, isSparse: spread }
}

function shardedCounter({ shards }: NumberingOptions): Numbering {
  const rootOf = (shard: number) => ({ kind: 'Shard', name: `${shard}` })
  const keyOf: Numbering['keyOf'] = (client, n) =>
    client.key(rootOf((n - 1) % shards), { kind: 'Invoice', id: BigInt(n) })
  const next: Numbering['next'] = async ({ client, random }) => {
    const shard = random.integer(shards)
    const numberOf = (count: number): number => (count - 1) * shards + shard + 1
    const count = await countUp(client, client.key(rootOf(shard)), (count) => {
      const n = numberOf(count)
      return [insert(keyOf(client, n), fieldsOf(n))]
    })
    return numberOf(count)
  }
  return { next, keyOf, isSparse: true }
}

function allocatedIds(): Numbering {
  const keyOf: Numbering['keyOf'] = (client, n) => client.key({ kind: 'Invoice', id: BigInt(n) })
  const next: Numbering['next'] = async ({ client }) => {
    const id = await client.allocateId(client.key({ kind: 'Invoice' }))
    await client.commit([insert(client.key({ kind: 'Invoice', id }), fieldsOf(Number(id)))])
    return Number(id)
  }
  return { next, keyOf, isSparse: true }
}

/** Append-only revisions: each adds a document or deletes one, and carries the count of those that live. */
function newestRevision(): Numbering {
  const keyOf: Numbering['keyOf'] = (client, n) => client.key({ kind: 'Revision', id: BigInt(n) })
  let added = 0
  let deleted = 0
  const next: Numbering['next'] = async ({ client, random, retried }) => {
    const newest = await client.greatest('Revision', 'number')
    let count = integerOf(newest, 'count')
    let change = 0
    const n = await putUnique(
      client,
      integerOf(newest, 'number') + 1,
      keyOf,
      (number): Put => {
        change = count > 0 && random.next() < 0.3 ? -1 : 1
        const fields = { number: integer(number), count: integer(count + change), added: integer(change) }
        return upsert(keyOf(client, number), fields)
      },
      async (number) => {
        retried()
        // A revision that the query did not know yet: by key it can be read, and its count goes on from there.
        count = integerOf(await client.lookup(keyOf(client, number)), 'count')
        return number + 1
      },
    )
    if (change > 0) added++
    else deleted++
    return n
  }
  return {
    next,
    keyOf,
    async miscounts(client, given) {
      if (given.length === 0) throw new Unmeasured('no record was given a number')
      const newest = await client.lookup(keyOf(client, Math.max(...given)))
      return Math.abs(integerOf(newest, 'count') - (added - deleted))
    },
  }
}

export const numberings: Ways<NumberingKind> = {
  'counter-in-group': { about: 'counter and record in one group and one transaction', start: counterInGroup },
  'counter-outside': { about: 'the counter in a transaction of its own', hasGaps: true, start: counterOutside },
  'query-then-put': { about: 'the greatest number by query, then a plain put', isUnchecked: true, start: queryThenPut },
  'put-unique': {
    about: 'the greatest number by query, then put-unique; who loses takes the next',
    start: () => putUniqueNumbers(false),
  },
  'put-unique-ahead': {
    about: 'the same; who loses tries further ahead each time',
    start: () => putUniqueNumbers(true),
  },
  'sharded-counter': { about: 'counters of several groups, each with numbers of its own', start: shardedCounter },
  'allocate-ids': { about: 'the number is an allocated id', start: allocatedIds },
  'newest-revision': { about: 'append-only revisions, each with number and count', start: newestRevision },
}

/** Writers that seldom have a record to number: about one a second in all. */
const quiet = { writers: 8, pauseMs: 16_000, seconds: 480 }

/** Put-unique at a low rate: who finds that a number is taken, the get or the commit? */
export async function runQuiet(session: ArmSession): Promise<void> {
  const { record: recorder } = session
  const store = await session.openLate()
  const numbering = putUniqueNumbers(false)
  const { lost = { gets: 0, commits: 0 } } = numbering
  const { job, given } = jobOf(numbering)
  const now: Job = async (attempt) => {
    await attempt.client.sleep(attempt.random.next() * quiet.pauseMs)
    await job(attempt)
  }
  await write(session, store, { ...quiet, job: now })
  recorder.figure('records', given.length)
  recorder.figure('rate, all writers', given.length / quiet.seconds, '/s')
  recorder.figure('numbers found taken by a get, all writers', lost.gets / given.length, 'per record')
  recorder.figure('commits that lost, all writers', lost.commits / given.length, 'per record')
  recorder.figure('duplicates', given.length - new Set(given).size)
}

/** A query without an ancestor within a transaction, in the mode of the articles and in today's. */
export async function queryInTransaction(session: ArmSession): Promise<void> {
  const { record: recorder } = session
  for (const mode of ['legacy', 'firestore'] as const) {
    const store = await session.open({ mode })
    const context = store.context()
    const transaction = await store.database.beginTransaction(context, { mode: 'readWrite' })
    const query = store.query('Invoice', { order: [descending('number')], limit: 1 })
    const refusal = await refusalOf(() => store.database.runQuery(context, { query, read: { transaction } }))
    if (refusal !== undefined && refusal.code !== 'INVALID_ARGUMENT') throw refusal
    recorder.figure(`refused, ${mode}`, refusal !== undefined, 'queries')
    recorder.text(mode, [refusal?.message ?? 'the query was answered'])
  }
}

export async function runNumbering(session: ArmSession, kind: NumberingKind): Promise<void> {
  const { record: recorder } = session
  const seconds = session.setting('load.seconds')
  const options = { shards: session.setting('copies.count'), crashShare: session.setting('client.crashShare') }
  const writersMax = session.setting('load.writersMax')
  const levels = [1, Math.round(Math.sqrt(writersMax)), writersMax]
  const { all, first, last } = await session.atEach(levels, async (writers) => {
    const store = await session.openLate()
    const numbering = kind.start(options)
    const { job, given } = jobOf(numbering)
    const tally = await write(session, store, { writers, seconds, job })
    const { isSparse, lost, miscounts } = numbering
    const distinct = new Set(given)
    const records = Math.max(1, tally.done)
    return {
      rate: tally.done / seconds,
      vain: tally.retries / records,
      p99: tally.latency.quantile(0.99),
      lost: lost && { gets: lost.gets / records, commits: lost.commits / records },
      duplicates: given.length - distinct.size,
      gaps: isSparse ? undefined : Math.max(0, ...distinct) - distinct.size,
      miscounts: miscounts && (await store.alone(() => miscounts(session.client(store), given))),
    }
  })
  const rates = all.map(({ rate }) => rate)
  recorder.figure('best rate', Math.max(...rates), '/s')
  recorder.ends('rate', [first.rate, last.rate], '/s')
  recorder.ends('tries in vain', [first.vain, last.vain], 'per record')
  for (const [i, { lost }] of all.entries()) {
    if (lost === undefined) break
    const writers = ['1 writer', 'some writers', 'all writers'][i]
    recorder.figure(`numbers found taken by a get, ${writers}`, lost.gets, 'per record')
    recorder.figure(`commits that lost, ${writers}`, lost.commits, 'per record')
  }
  recorder.figure('p99, all writers', last.p99, 'ms')
  for (const name of ['duplicates', 'gaps', 'miscounts'] as const) {
    const counts = all.flatMap((level) => level[name] ?? [])
    if (counts.length > 0) recorder.figure(name, sum(counts))
  }
  const x = { name: 'writers', values: levels }
  recorder.chart('records numbered', '/s', x, { numbered: rates }, true)
  recorder.chart('tries in vain', 'per record', x, { 'in vain': all.map(({ vain }) => vain) })
}

/** Numbers that clients were given by a running server, judged by what it has stored in the end. */
export async function numberOverWire(wire: WireSession, kind: NumberingKind): Promise<void> {
  const { client, judged } = wire
  const numbering = kind.start({ shards: 8, crashShare: 0.2 })
  const { keyOf, isSparse } = numbering
  const { job, given } = jobOf(numbering)
  await writeOverWire(wire, 16, job)
  const distinct = [...new Set(given)].sort((a, b) => a - b)
  const twice = given.length - distinct.length
  const isUnchecked = kind.isUnchecked === true
  judged({
    says: isUnchecked ? 'numbers are given twice' : 'no number is given twice',
    holds: isUnchecked ? twice > 0 : twice === 0,
    found: `${twice} of ${given.length} numbers`,
  })
  const missing = await client.missing(distinct.map((n) => keyOf(client, n)))
  judged({
    says: 'each number has its record',
    holds: missing === 0,
    found: `${missing} of ${distinct.length} are missing`,
  })
  if (isSparse === true || kind.hasGaps === true) return
  const gaps = distinct.length === 0 ? 0 : (distinct.at(-1) ?? 0) - (distinct[0] ?? 0) + 1 - distinct.length
  judged({ says: 'the numbers are in a row', holds: gaps === 0, found: `${gaps} numbers left out` })
}
