/**
 * Open-loop load with weights: operations are offered at a fixed rate, without waiting for their outcomes, and each one that runs
 * in the engine represents many.
 *
 *   slot of load.slotMs ── operations evenly over the slot ── each a flow of rate × slot ÷ their number
 *
 * 50,000 lookups a second, with a slot of 200 ms and 50 samples: each sample has the weight 200, and the sum is 10,000 for any number of
 * samples. Only the slots of the greatest rate have load.samples of them; smaller rates need fewer, since there are fewer tablets
 * to sample. There are about three samples a tablet at most, so that a jump, which meets one tablet, costs no more than a ramp.
 * An operation is sent once; the clients of such a load do not retry.
 */
import type { Key, RequestContext, TableId } from '@sixtables/engine'
import type { ArmSession } from '../session.ts'
import { hasCode } from './client.ts'
import type { Put } from './entities.ts'
import type { Store } from './store.ts'
import { Watch } from './watch.ts'

export type PlainOperation = { readonly put: Put } | { readonly lookup: Key }

/** A write, a lookup, or a program's work whose calls each need a context. */
export type LoadOperation = PlainOperation | { readonly work: (context: () => RequestContext) => Promise<void> }

export interface Load {
  readonly seconds: number
  /** Operations that begin at one moment; default 1. For a program in another process, more of them cost less. */
  readonly atOnce?: number
  /** Whether the samples of a slot are sent in order, like calls that follow each other; by default their order is mixed. */
  readonly isInOrder?: boolean
  opsPerSecondAt(seconds: number): number
  /**
   * The next operation.
   *
   * @param number - number of operations before it: the sum of all weights, rounded down
   * @param share - position among the samples of the slot, 0 to 1, for keys that are drawn evenly
   */
  next(number: number, share: number): LoadOperation | Promise<LoadOperation>
}

export function operationsOf({ seconds, opsPerSecondAt }: Pick<Load, 'seconds' | 'opsPerSecondAt'>): number {
  let operations = 0
  for (let at = 0; at < seconds; at++) operations += opsPerSecondAt(at)
  return Math.ceil(operations)
}

/** Smallest number of samples in a slot. */
const samplesMin = 16
/** Up to this number of samples a slot is cheap; above it, samples are limited per tablet of the table with most tablets. */
const fewMax = 64
const perTabletMax = 3

/** Offers the load, and looks at tables at times. */
export async function offer(
  session: ArmSession,
  store: Store,
  load: Load,
  tables: readonly TableId[],
  everySeconds = 30,
): Promise<Watch> {
  const watch = new Watch(store, tables, everySeconds)
  const slotMs = session.setting('load.slotMs')
  const { atOnce = 1 } = load
  const slots = Math.round((load.seconds * 1000) / slotMs)
  const rates = Array.from({ length: slots }, (_, slot) => load.opsPerSecondAt((slot * slotMs) / 1000))
  const samplesAt = samplesOf(rates, session.setting('load.samples'))
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  let offered = 0
  await store.alone(async () => {
    for (const [slot, rate] of rates.entries()) {
      const samples = Math.min(samplesAt(rate), Math.max(fewMax, perTabletMax * tabletsOf(store)))
      const weight = (rate * slotMs) / 1000 / samples
      let begun = 0
      for (let sent = 0; sent < samples; sent++) {
        const place = load.isInOrder === true ? sent : order(sent, samples)
        const operation = await load.next(Math.floor(offered), (place + session.random.next()) / samples)
        offered += weight
        const done = send(store, operation, weight, slotMs, watch)
          .catch((error: unknown) => void failures.push(error))
          .finally(() => running.delete(done))
        running.add(done)
        const next = sent + 1
        if (next % atOnce === 0 || next === samples) {
          await store.sleep(((next - begun) * slotMs) / samples)
          begun = next
        }
        if (failures.length > 0) throw failures[0]
      }
      session.progress((slot + 1) / slots)
      watch.look((slot + 1) * (slotMs / 1000))
    }
    await Promise.all(running)
    if (failures.length > 0) throw failures[0]
  })
  return watch
}

function tabletsOf(store: Store): number {
  const counts = new Map<TableId, number>()
  for (const { table } of store.engine.tablets.all()) counts.set(table, (counts.get(table) ?? 0) + 1)
  return Math.max(0, ...counts.values())
}

/** The number of samples of a slot, in proportion to its rate. */
function samplesOf(rates: readonly number[], samplesMax: number): (rate: number) => number {
  const most = Math.max(...rates)
  return (rate) => Math.min(samplesMax, Math.max(samplesMin, Math.ceil((samplesMax * rate) / most)))
}

/** A fixed permutation of 0 … count − 1 with large steps, so that keys drawn evenly over a slot are not in order. */
function order(i: number, count: number): number {
  // A step near the golden section of the count, and coprime to it.
  let step = Math.max(1, Math.round(count * 0.618))
  while (greatestDivisor(step, count) !== 1) step++
  return (i * step) % count
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

async function send(
  store: Store,
  operation: LoadOperation,
  weight: number,
  spreadMs: number,
  watch: Watch,
): Promise<void> {
  const context = (): RequestContext => store.engine.context({ weight, spreadMs })
  const begun = store.nowMs
  try {
    if ('work' in operation) {
      await operation.work(context)
    } else if ('lookup' in operation) {
      const { missing } = await store.database.lookup(context(), { keys: [operation.lookup] })
      watch.outcomes.missing += weight * missing.length
    } else {
      await store.database.commit(context(), { mode: 'nonTransactional', mutations: [operation.put] })
    }
    watch.outcomes.served += weight
    watch.outcomes.latency.add(store.nowMs - begun, weight)
  } catch (error) {
    if (!hasCode(error, 'RESOURCE_EXHAUSTED', 'UNAVAILABLE', 'ABORTED')) throw error
    watch.outcomes.refused += weight
  }
}
