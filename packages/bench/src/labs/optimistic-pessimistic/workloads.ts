/**
 * Four ways in which transactions meet, each with what its result must be if no update was lost.
 *
 *   counter     all read and write one entity
 *   siblings    all in one entity group, each with an entity of its own
 *   transfers   each reads two accounts, in any order, and moves money from one to the other
 *   report      one long transaction reads entities one by one, while others write them
 */
import type { DatabaseSettings, Key } from '@sixtables/engine'
import { Histogram } from '../../measure/histogram.ts'
import { type Client, hasCode, integerOf } from '../../sim/client.ts'
import { integer, upsert } from '../../sim/entities.ts'
import { countUp, inTransaction, type Job } from '../../sim/writers.ts'

export type Concurrency = DatabaseSettings['concurrency']

/** Conflicts and errors of the writers of a run, by their own count. */
export interface Met {
  /** Jobs of each writer that were committed. */
  readonly committed: Map<number, number>
  aborts: number
  /** Those that name a deadlock in their message: one of two transactions that wait for each other, or a wait that took too long. */
  deadlocks: number
  lockTimeouts: number
  /** Attempts that were committed, of all writers but the {@link reporter}. */
  readonly shortJobs: Histogram
}

export function nothingMet(): Met {
  return { committed: new Map(), aborts: 0, deadlocks: 0, lockTimeouts: 0, shortJobs: new Histogram() }
}

export interface Workload {
  readonly name: string
  /** Entities that are there before it begins. */
  prepare?(client: Client): Promise<void>
  job(options: { readonly reads: number; readonly thinkMs: number }): Job
  /** How far the stored entities are from what was committed: 0 if no update was lost. */
  lost?(client: Client, committed: number): Promise<number>
}

export function counted(job: Job, met: Met): Job {
  return async (attempt) => {
    const begun = attempt.client.nowMs()
    try {
      await job(attempt)
      if (attempt.writer !== reporter) met.shortJobs.add(attempt.client.nowMs() - begun)
      met.committed.set(attempt.writer, (met.committed.get(attempt.writer) ?? 0) + 1)
    } catch (error) {
      if (hasCode(error, 'ABORTED')) {
        met.aborts++
        const words = error instanceof Error ? error.message : ''
        if (words.includes('deadlock over')) met.deadlocks++
        else if (words.includes('is locked by')) met.lockTimeouts++
      }
      throw error
    }
  }
}

const counterName = { kind: 'Counter', name: 'visits' }

const counter: Workload = {
  name: 'counter',
  job:
    () =>
    ({ client }) =>
      countUp(client, client.key(counterName)),
  async lost(client, committed) {
    return committed - integerOf(await client.lookup(client.key(counterName)), 'count')
  },
}

const siblings: Workload = {
  name: 'siblings',
  job:
    () =>
    ({ client, writer }) =>
      countUp(client, client.key({ kind: 'Forum', name: 'general' }, { kind: 'Post', name: `writer-${writer}` })),
}

const accounts = 4
const startBalance = 1000

const account = (client: Client, i: number): Key => client.key({ kind: 'Account', name: `${i}` })

export const transfers: Workload = {
  name: 'transfers',
  async prepare(client) {
    for (let i = 0; i < accounts; i++) {
      await client.commit([upsert(account(client, i), { balance: integer(startBalance) })])
    }
  },
  job:
    () =>
    ({ client, random }) => {
      const from = random.integer(accounts)
      const to = (from + 1 + random.integer(accounts - 1)) % accounts
      return inTransaction(client, async (transaction) => {
        const [source, target] = [account(client, from), account(client, to)]
        const had = integerOf(await client.lookup(source, transaction), 'balance')
        const has = integerOf(await client.lookup(target, transaction), 'balance')
        return [upsert(source, { balance: integer(had - 1) }), upsert(target, { balance: integer(has + 1) })]
      })
    },
  async lost(client) {
    let sum = 0
    for (let i = 0; i < accounts; i++) sum += integerOf(await client.lookup(account(client, i)), 'balance')
    return Math.abs(sum - accounts * startBalance)
  },
}

/** Writer 0 is the long transaction; the others change what it reads, without transactions. */
export const reporter = 0

const report: Workload = {
  name: 'report',
  job:
    ({ reads, thinkMs }) =>
    async ({ client, writer, random }) => {
      const order = (i: number): Key => client.key({ kind: 'Order', name: `${i}` })
      if (writer !== reporter) {
        const fields = { amount: integer(1 + random.integer(100)) }
        await client.commit([upsert(order(random.integer(reads)), fields)])
        return
      }
      await inTransaction(client, async (transaction) => {
        let sum = 0
        for (let i = 0; i < reads; i++) {
          sum += integerOf(await client.lookup(order(i), transaction), 'amount')
          await client.sleep(thinkMs)
        }
        return [upsert(client.key({ kind: 'Report', name: 'orders' }), { sum: integer(sum) })]
      })
    },
}

export const workloads: readonly Workload[] = [counter, siblings, transfers, report]
