/**
 * The two kinds of load of challenges: calls at a rate, each standing for many, and clients that wait for each answer.
 *
 * Calls have consecutive numbers, as real traffic has, and now and then the program's process is replaced.
 */
import type { TableId } from '@sixtables/engine'
import { Histogram } from '../measure/histogram.ts'
import { sum } from '../measure/sums.ts'
import { isTransient } from '../sim/client.ts'
import { type Load, offer } from '../sim/load.ts'
import { drawHeat, type Watch } from '../sim/watch.ts'
import { Meter } from './charged-database.ts'
import type { Db } from './db.ts'
import { RefusedCall } from './fault.ts'
import type { Stage } from './stage.ts'

/**
 * Offers calls of a program at a rate; each stands for many. Records what was served, and the tablets and heat of tables.
 *
 * @param call - one call of the program, with the number of calls before it, and a place from 0 to 1 for keys that are drawn evenly
 */
export async function offerCalls(
  stage: Stage,
  load: Pick<Load, 'seconds' | 'opsPerSecondAt'>,
  options: { readonly tables: readonly TableId[]; readonly call: (db: Db, n: number, place: number) => unknown },
): Promise<Watch> {
  const { record } = stage
  const { store, program } = stage.opened
  const meter = new Meter()
  const restartAt = momentsOf(stage, load.seconds, stage.restarts)
  let calls = 0
  const begunMs = store.nowMs
  const watch = await offer(
    stage.session,
    store,
    {
      ...load,
      atOnce: 16,
      next: (_, place) => {
        if (store.nowMs - begunMs > (restartAt[0] ?? Number.POSITIVE_INFINITY)) {
          restartAt.shift()
          program.restart()
        }
        const n = calls++
        return {
          work: async (context) => {
            // The way to the service is no part of what is measured here: the program waits for it, the load does not.
            await options.call(stage.db({ rpcMs: 0, answersEveryMs: 250, meter, context }), n, place)
          },
        }
      },
    },
    options.tables,
  )
  const settledSeconds = load.seconds / 4
  record.figure('offered', load.opsPerSecondAt(load.seconds - 1), 'calls/s')
  record.figure('refused', watch.refusedShare() * 100, '% of the calls')
  record.figure('p99', watch.settled(settledSeconds).p99Ms, 'ms')
  for (const table of options.tables) {
    record.figure(`${table}: tablets`, watch.tableAt(table).tablets, '')
    record.figure(`${table}: busiest tablet`, watch.settledTable(table, settledSeconds).busiestToMean, 'times the mean')
    drawHeat(record, store, table)
  }
  return watch
}

/** From the beginning of a client's call to that of its next one, at least. */
const betweenMs = 50

export interface Answered {
  /** Within the seconds of the load. */
  readonly done: number
  /** Calls that ended with an error of the service. */
  readonly failed: number
  readonly latency: Histogram
  /** Calls of the client that got the fewest done. */
  readonly fewest: number
}

/**
 * Clients that make one call after the other. A call that the service refused counts as failed; its client goes on.
 * @param options - seconds: simulated; a client begins no call after them
 */
export async function callInTurn(
  stage: Stage,
  { clients, seconds }: { readonly clients: number; readonly seconds: number },
  call: (client: number, n: number) => unknown,
): Promise<Answered> {
  const { random, session } = stage
  const { store } = stage.opened
  const latency = new Histogram()
  const doneOf = Array.from({ length: clients }, () => 0)
  let failed = 0
  const endMs = store.nowMs + seconds * 1000
  const loop = async (client: number): Promise<void> => {
    // They do not begin in step, but at moments at which answers arrive: what happens at one moment is one message to the process.
    await store.sleep(random.integer(20) * 5)
    for (let n = 0; store.nowMs < endMs; n++) {
      const begun = store.nowMs
      try {
        await call(client, n)
        if (store.nowMs <= endMs) doneOf[client] = (doneOf[client] ?? 0) + 1
      } catch (error) {
        if (!(error instanceof RefusedCall)) throw error
        failed++
        if (!isTransient(error)) await store.sleep(100)
      }
      latency.add(store.nowMs - begun)
      // People take a moment between two calls, however fast the program answers.
      await store.sleep(Math.max(0, betweenMs - (store.nowMs - begun)))
      session.progress(Math.min(1, 1 - (endMs - store.nowMs) / (seconds * 1000)))
    }
  }
  await store.together([...doneOf.map((_, client) => loop(client)), restartDuring(stage, seconds, stage.restarts)])
  return { done: sum(doneOf), failed, latency, fewest: Math.min(...doneOf) }
}

/** Replaces the program's process at random moments of the time that comes. */
export async function restartDuring(stage: Stage, seconds: number, times: number): Promise<void> {
  const { store, program } = stage.opened
  const begunMs = store.nowMs
  for (const moment of momentsOf(stage, seconds, times)) {
    await store.sleep(moment - (store.nowMs - begunMs))
    program.restart()
  }
}

/** In milliseconds, ascending. */
function momentsOf({ random }: Stage, seconds: number, times: number): number[] {
  return Array.from({ length: times }, () => random.next() * seconds * 1000).sort((a, b) => a - b)
}
