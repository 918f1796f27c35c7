/**
 * Dividing records among workers: at equal steps of their numbers, at keys that `__scatter__` gives, or at every n-th of the
 * keys that occur.
 *
 * Known: `__scatter__` is a hidden property of about one entity in 128, whose order is that of a hash of the key; the keys
 * of its first k rows are a fair sample of all keys (App Engine SDK, its mapper's way to divide work).
 */
import type { Key, Query } from '@sixtables/engine'
import { sum } from '../../measure/sums.ts'
import type { ArmSession } from '../../session.ts'
import { idOf } from '../../sim/client.ts'
import { allOf, ascending, text, unindexed, upsert, whereKey } from '../../sim/entities.ts'
import { countOf, runInFull } from '../../sim/query-run.ts'
import { scanned } from '../../sim/scanned.ts'
import { legacyAtOnce, type Store } from '../../sim/store.ts'

const kind = 'Order'
/** Sampled keys for each worker: more make the parts more even. */
const samplesPerWorker = 32

export interface WorkSplit {
  readonly by: 'number' | 'scatter' | 'keys'
  /** Numbers have no gaps. */
  readonly isDense?: boolean
}

export async function splitWork(session: ArmSession, { by, isDense = false }: WorkSplit): Promise<void> {
  const { record } = session
  const store = await session.open(legacyAtOnce)
  store.engine.tablets.configure({ exactPerSecond: Number.MAX_SAFE_INTEGER })
  const ids = await putOrders(session, store, isDense)
  const workers = session.setting('work.workers')
  let bounds: readonly bigint[] = []
  const divided = await scanned(store, async () => {
    bounds = await boundsBy[by](store, workers, ids)
  })
  const counts: number[] = []
  for (let worker = 0; worker < workers; worker++) {
    counts.push(await countBetween(store, bounds[worker - 1], bounds[worker]))
  }
  const all = sum(counts)
  record.figure('records', all)
  record.figure('records lost', ids.length - all)
  record.figure('read to divide', divided.rows, 'rows')
  record.figure('busiest worker', (Math.max(...counts) * workers) / all, 'times the mean')
  const x = { name: 'worker', values: counts.map((_, i) => i + 1) }
  record.chart('records of each worker', 'records', x, { records: counts })
}

/**
 * Numbers as they grow in life: old ranges were thinned out, the newest is dense. Or 1, 2, 3, … without a gap.
 *
 * @returns ids, ascending
 */
async function putOrders(session: ArmSession, store: Store, isDense: boolean): Promise<bigint[]> {
  const { random } = session
  const wanted = session.setting('work.records')
  const ids = new Set<bigint>()
  const draw = (): number => (isDense ? ids.size : Math.floor(wanted * 100 * (1 - random.next() ** 4)))
  while (ids.size < wanted) ids.add(BigInt(1 + draw()))
  const sorted = [...ids].sort((a, b) => (a < b ? -1 : 1))
  await store.putAll(sorted.map((id) => upsert(store.key({ kind, id }), { state: unindexed(text('open')) })))
  return sorted
}

/** First ids of all parts but the first. */
type Bounds = (store: Store, workers: number, ids: readonly bigint[]) => bigint[] | Promise<bigint[]>

const boundsBy: Readonly<Record<WorkSplit['by'], Bounds>> = {
  number: (_store, workers, ids) => equalSteps(ids, workers),
  scatter: async (store, workers) => {
    const sample = { order: [ascending('__scatter__')], limit: workers * samplesPerWorker }
    return partsOf(await keysOf(store, sample), workers)
  },
  keys: async (store, workers) => partsOf(await keysOf(store), workers),
}

/** Equal steps: the least and the greatest number suffice. */
function equalSteps(ids: readonly bigint[], workers: number): bigint[] {
  const [first, last] = [ids[0] ?? 0n, ids.at(-1) ?? 0n]
  const step = (last - first + 1n) / BigInt(workers)
  return Array.from({ length: workers - 1 }, (_, i) => first + step * BigInt(i + 1))
}

function partsOf(keys: readonly Key[], workers: number): bigint[] {
  const ids = keys.map(idOf).sort((a, b) => (a < b ? -1 : 1))
  return Array.from({ length: workers - 1 }, (_, i) => ids[Math.floor(((i + 1) * ids.length) / workers)] ?? 0n)
}

async function keysOf(store: Store, more?: Partial<Query>): Promise<Key[]> {
  const { results } = await runInFull(store, store.query(kind, { projection: ['__key__'], ...more }))
  return results.map(({ key }) => key)
}

/** How many records a worker finds from one bound to before the next. */
async function countBetween(store: Store, from: bigint | undefined, to: bigint | undefined): Promise<number> {
  const filters = [
    ...(from === undefined ? [] : [whereKey('greaterThanOrEqual', store.key({ kind, id: from }))]),
    ...(to === undefined ? [] : [whereKey('lessThan', store.key({ kind, id: to }))]),
  ]
  return countOf(store, store.query(kind, { filter: allOf(...filters) }))
}
