/**
 * Closed-loop load: clients that do one job after the other, and try again after a conflict.
 *
 * The latency of a job runs from its first attempt to its end, with all pauses, also if the job is given up. A job that failed at its
 * last attempt is given up, and not counted as done. A job with retries of its own calls `retried()` after each failed
 * try, which throws when the time of the writers is over.
 */
import type { Key } from '@sixtables/engine'
import type { Random } from '@sixtables/engine/testing'
import { Histogram } from '../measure/histogram.ts'
import type { ArmSession } from '../session.ts'
import { Client, hasCode, integerOf, isTransient } from './client.ts'
import { integer, type Put, upsert } from './entities.ts'
import { timed } from './open-loop.ts'
import type { Store } from './store.ts'
import type { WireSession } from './wire.ts'

export interface Attempt {
  readonly client: Client
  readonly writer: number
  readonly random: Random
  /** Counts a failed try within the job. @throws when the time of the writers is over */
  retried(): void
}

/** One attempt of a job; it runs again if it throws an error that a retry may cure. */
export type Job = (attempt: Attempt) => Promise<unknown>

export interface Tally {
  done: number
  /** Attempts after the first. */
  retries: number
  givenUp: number
  readonly latency: Histogram
}

const timeIsOver = new Error('the time of the writers is over')

interface Patience {
  readonly retries: number
  readonly backoffMs: number
}

/** Runs writers for a duration of virtual time. */
export async function write(
  session: ArmSession,
  store: Store,
  options: { readonly writers: number; readonly seconds: number; readonly job: Job },
): Promise<Tally> {
  const { writers, seconds, job } = options
  const tally: Tally = { done: 0, retries: 0, givenUp: 0, latency: new Histogram() }
  const patience = { retries: session.setting('client.retries'), backoffMs: session.setting('client.backoffMs') }
  const client = new Client(store, session.setting('client.rpcMs'))
  const endMs = store.nowMs + seconds * 1000
  const { random } = session
  const loop = async (writer: number): Promise<void> => {
    // A random start keeps the writers out of step.
    await store.sleep(random.next() * 100)
    while (store.nowMs < endMs) {
      const begun = store.nowMs
      const retried = (): void => {
        if (store.nowMs > endMs) throw timeIsOver
        tally.retries++
      }
      const attempt = { client, writer, random, retried }
      const isDone = await retrying(attempt, patience, job, () => void tally.retries++).catch(unlessOver)
      if (store.nowMs > endMs) return
      if (isDone) tally.done++
      else tally.givenUp++
      tally.latency.add(store.nowMs - begun)
    }
  }
  await store.together(Array.from({ length: writers }, (_, writer) => loop(writer)))
  return tally
}

/** Runs the same writers against a server, in real time. */
export async function writeOverWire(wire: WireSession, writers: number, job: Job): Promise<void> {
  const { client, random, seconds } = wire
  const endMs = client.nowMs() + seconds * 1000
  const loop = async (writer: number): Promise<void> => {
    while (client.nowMs() < endMs) {
      await timed(wire, async () => {
        const attempt = { client, writer, random, retried: () => {} }
        if (!(await retrying(attempt, { retries: 5, backoffMs: 50 }, job, () => {}))) throw new Error('given up')
      })
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, writer) => loop(writer)))
}

function unlessOver(error: unknown): false {
  if (error === timeIsOver) return false
  throw error
}

/**
 * @param again - called before each attempt after the first
 * @returns whether an attempt succeeded
 */
export async function retrying(
  attempt: Attempt,
  { retries, backoffMs }: Patience,
  job: Job,
  again: () => void,
): Promise<boolean> {
  for (let i = 0; ; i++) {
    try {
      await job(attempt)
      return true
    } catch (error) {
      if (!isTransient(error)) throw error
      if (i >= retries) return false
      again()
      await attempt.client.sleep(backoffMs * 2 ** i * (0.5 + attempt.random.next() / 2))
    }
  }
}

/**
 * Adds 1 to the count of an entity, in a transaction.
 *
 * @param others - puts of the same transaction, by the new count
 * @returns the new count
 */
export async function countUp(
  client: Client,
  counter: Key,
  others: (count: number) => readonly Put[] = () => [],
): Promise<number> {
  let count = 0
  await inTransaction(client, async (transaction) => {
    count = integerOf(await client.lookup(counter, transaction), 'count') + 1
    return [upsert(counter, { count: integer(count) }), ...others(count)]
  })
  return count
}

/** Runs `work` in a transaction and commits the puts that it returns. */
export async function inTransaction(
  client: Client,
  work: (transaction: Uint8Array) => Promise<Parameters<Client['commit']>[0]>,
): Promise<void> {
  const transaction = await client.begin()
  try {
    await client.commit(await work(transaction), transaction)
  } catch (error) {
    // A conflict has ended the transaction; after other errors it must be rolled back.
    if (!hasCode(error, 'ABORTED')) await client.rollback(transaction).catch(() => {})
    throw error
  }
}
