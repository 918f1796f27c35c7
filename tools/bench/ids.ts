/**
 * How fast ids are given, and how far they spread.
 *
 *   clients   1: one call after the other      64: 64 calls at once, then the next 64
 *   store     memory answers at once; "by promise" answers two turns later, as a store across the network
 *
 * Rates are in ids a second, so the figures for 64 clients are already multiplied. Run it with `npm run bench:ids` in
 * packages/bench, after a build.
 */
import { IdAllocator, type IdPolicy, type Key, requestContext, systemScheduler } from '@sixtables/engine'
import { AsyncKv, MemoryKv } from '@sixtables/engine/testing'
import benny from 'benny'

const context = requestContext({ clock: systemScheduler })
const toDo: Key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'ToDo' }] }
const policies: readonly IdPolicy[] = ['scattered', 'sequential']
const stores = ['memory', 'by promise'] as const
const clients = [1, 64] as const

/** Ids of the spread, and the equal ranges of their space that they fall into. */
const sampleSize = 10_000
const ranges = 64

interface Row {
  readonly policy: IdPolicy
  readonly store: (typeof stores)[number]
  readonly clients: number
  readonly idsPerSecond: number
  readonly marginPercent: number
}

function open(store: (typeof stores)[number]): IdAllocator {
  return new IdAllocator({ kv: store === 'memory' ? new MemoryKv() : new AsyncKv(new MemoryKv()) })
}

/** The share of the ids in the busiest of 64 equal ranges of a space of `size` ids from `low` on, in percent. */
function busiestSharePercent(ids: readonly bigint[], low: bigint, size: bigint): number {
  const counts = new Map<bigint, number>()
  for (const id of ids) {
    const range = ((id - low) * BigInt(ranges)) / size
    counts.set(range, (counts.get(range) ?? 0) + 1)
  }
  return (Math.max(...counts.values()) / ids.length) * 100
}

async function spread(): Promise<void> {
  const scattered = await open('memory').allocate(context, toDo, sampleSize, 'scattered')
  const sequential = await open('memory').allocate(context, toDo, sampleSize, 'sequential')
  console.log(`\nThe busiest of ${ranges} equal ranges of its space holds, of ${sampleSize} ids`)
  console.log(
    `  scattered   ${busiestSharePercent(scattered, 2n ** 52n, 2n ** 51n).toFixed(2)} %   (even: ${(100 / ranges).toFixed(2)} %)`,
  )
  console.log(`  sequential  ${busiestSharePercent(sequential, 0n, 2n ** 52n).toFixed(2)} %`)
}

async function rate(policy: IdPolicy, store: (typeof stores)[number]): Promise<Row[]> {
  const one = open(store)
  const many = open(store)
  const summary = await benny.suite(
    `${policy} ids, store: ${store}`,
    benny.configure({ cases: { minSamples: 30, maxTime: 2 } }),
    store === 'memory'
      ? benny.add('1 client', () => {
          void one.allocate(context, toDo, 1, policy)
        })
      : benny.add('1 client', async () => {
          await one.allocate(context, toDo, 1, policy)
        }),
    benny.add('64 clients', async () => {
      const calls: unknown[] = []
      for (let i = 0; i < 64; i++) calls.push(many.allocate(context, toDo, 1, policy))
      await Promise.all(calls)
    }),
  )
  return summary.results.map((result, i) => ({
    policy,
    store,
    clients: clients[i] ?? 0,
    idsPerSecond: result.ops * (clients[i] ?? 0),
    marginPercent: result.margin,
  }))
}

const rows: Row[] = []
for (const store of stores) for (const policy of policies) rows.push(...(await rate(policy, store)))

console.log(`\nids a second      ${process.version}, ${process.arch}\n`)
for (const row of rows) {
  const figure = Math.round(row.idsPerSecond).toLocaleString('en').padStart(12)
  console.log(
    `${row.policy.padEnd(11)} ${row.store.padEnd(11)} ${String(row.clients).padStart(2)} client${row.clients === 1 ? ' ' : 's'} ${figure}  ±${row.marginPercent} %`,
  )
}
await spread()
