/** The two kinds of load of challenges: calls at a rate, each standing for many, and clients that wait for each answer. */
import { DatastoreError } from '@sixtables/engine'
import { Histogram } from '../measure/histogram.ts'
import type { ArmSession } from '../session.ts'
import { isTransient } from '../sim/client.ts'
import { type Load, offer } from '../sim/load.ts'
import type { Store } from '../sim/store.ts'
import { Watch } from '../sim/watch.ts'
import { Db, type DbParts, Meter } from './db.ts'

export type TableName = ConstructorParameters<typeof Watch>[0][number]

export function dbOf(session: ArmSession, store: Store, parts: Partial<DbParts> = {}): Db {
  return new Db({ store, random: session.random, rpcMs: session.setting('client.rpcMs'), ...parts })
}

/**
 * Offers calls of a program at a rate; each stands for many. Records what was served, and the tablets and heat of tables.
 *
 * @param call - one call of the program with the number of calls a second before it
 */
export async function offerCalls(
  session: ArmSession,
  store: Store,
  load: Pick<Load, 'seconds' | 'opsPerSecondAt'>,
  options: { readonly tables: readonly TableName[]; readonly call: (db: Db, n: number) => unknown },
): Promise<Watch> {
  const { record } = session
  const meter = new Meter()
  const watch = new Watch(options.tables, 30)
  await offer(
    session,
    store,
    {
      ...load,
      next: (n) => ({
        work: async (context) => {
          // The way to the service is no part of what is measured here: the program waits for it, the load does not.
          await options.call(dbOf(session, store, { rpcMs: 0, meter, context }), n)
        },
      }),
    },
    watch,
  )
  const settled = watch.settled(load.seconds / 4)
  record.figure('offered', load.opsPerSecondAt(load.seconds - 1), 'calls a second')
  record.figure('refused', watch.refusedShare() * 100, '% of the calls')
  record.figure('p99', settled.p99Ms, 'ms')
  for (const table of options.tables) {
    const { tablets, busiestToMean } = watch.tableAtEnd(table)
    record.figure(`${table}: tablets`, tablets, '')
    record.figure(`${table}: busiest tablet`, busiestToMean, 'times the mean')
    watch.drawHeat(record, store, table)
  }
  return watch
}

/** The heat of a table over the whole run. */
export function drawHeat({ record }: ArmSession, store: Store, table: TableName): void {
  new Watch([table], 30).drawHeat(record, store, table)
}

export interface Clients {
  readonly clients: number
  /** Simulated; a client begins no call after it. */
  readonly seconds: number
}

export interface Answered {
  readonly done: number
  /** Calls that ended with an error of the service. */
  readonly failed: number
  readonly latency: Histogram
  /** Calls of the client that got the fewest done. */
  readonly fewest: number
}

/** Clients that make one call after the other. A call that the service refused counts as failed; its client goes on. */
export async function callInTurn(
  session: ArmSession,
  store: Store,
  { clients, seconds }: Clients,
  call: (client: number, n: number) => unknown,
): Promise<Answered> {
  const latency = new Histogram()
  const doneOf = Array.from({ length: clients }, () => 0)
  let failed = 0
  const endMs = store.nowMs + seconds * 1000
  const loop = async (client: number): Promise<void> => {
    // They do not begin in step.
    await store.sleep(session.random.next() * 100)
    for (let n = 0; store.nowMs < endMs; n++) {
      const begun = store.nowMs
      try {
        await call(client, n)
        doneOf[client] = (doneOf[client] ?? 0) + 1
      } catch (error) {
        if (!(error instanceof DatastoreError)) throw error
        failed++
        if (!isTransient(error)) await store.sleep(100)
      }
      latency.add(store.nowMs - begun)
      // A program that asks the service nothing takes no virtual time, and would be called for ever.
      if (store.nowMs === begun) await store.sleep(10)
      session.progress(Math.min(1, 1 - (endMs - store.nowMs) / (seconds * 1000)))
    }
  }
  await store.together(doneOf.map((_, client) => loop(client)))
  const done = doneOf.reduce((sum, one) => sum + one, 0)
  return { done, failed, latency, fewest: Math.min(...doneOf) }
}

/** A part of a judge that runs on its own, with nothing beside it. */
export async function alone<T>(store: Store, work: () => Promise<T>): Promise<T> {
  const results: T[] = []
  await store.together([
    (async (): Promise<void> => {
      results.push(await work())
    })(),
  ])
  const [result] = results
  return result as T
}
