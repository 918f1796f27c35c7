/**
 * A strong read sees one moment of all groups that it reads, whatever the apply policy, the concurrency mode, the
 * mode of the database and the store. `npm run test:deep` makes the histories longer.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { ReadOptions } from '../../src/database/api.ts'
import { type Engine, openEngine } from '../../src/engine/engine.ts'
import { DatastoreError } from '../../src/errors.ts'
import type { ApplyPolicy } from '../../src/log/apply-policy.ts'
import type { Key } from '../../src/model/key.ts'
import type { Query } from '../../src/model/query.ts'
import { openLevelKv } from '../../src/storage/level-kv.ts'
import { MemoryKv } from '../../src/storage/memory-kv.ts'
import { AsyncKv } from '../../src/testing/async-kv.ts'
import { type PairClient, type PairRead, pairHistory } from '../../src/testing/pair-history.ts'
import type { ConcurrencyMode } from '../../src/transactions/transaction.ts'
import { mutationOf, storedValue } from './log-world.ts'

const commits = runs(12)

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const stores: Readonly<Record<string, () => Promise<Engine>>> = {
  'in memory': () => openEngine(),
  'on LevelDB': async () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-reads-'))
    folders.push(dir)
    return openEngine({ kv: await openLevelKv({ dir }) })
  },
  'by promise': () => openEngine({ kv: new AsyncKv(new MemoryKv(), { hop: someHops }) }),
}

/** As far as a storage across the network: other calls come in between. */
async function someHops(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

const policies: readonly ApplyPolicy[] = [
  { type: 'immediate' },
  { type: 'time', delayMs: 1 },
  { type: 'manual' },
  { type: 'probability', chance: 0.5 },
]

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const pair: readonly [Key, Key] = [
  { partition, path: [{ kind: 'A', name: 'one' }] },
  { partition, path: [{ kind: 'A', name: 'two' }] },
]
const everything: Query = {
  partition,
  kind: 'A',
  projection: [],
  filter: undefined,
  order: [],
  distinctOn: [],
  offset: 0,
}

/** A query over the rows of an index, so that these and the entities must agree. */
const byValue: Query = { ...everything, order: [{ property: 'v', direction: 'ascending' }] }

function clientOf(engine: Engine, concurrency: ConcurrencyMode): PairClient {
  const database = engine.database('p')
  const context = () => engine.context()
  const lookup = async (keys: readonly Key[], read?: ReadOptions): Promise<number[]> => {
    const { found } = await database.lookup(context(), { keys, ...(read === undefined ? {} : { read }) })
    return found.map(({ image }) => storedValue(image.properties))
  }
  const query = async (query: Query, read: ReadOptions): Promise<number[]> => {
    const { results } = await database.runQuery(context(), { query, read })
    return results.map(({ image }) => (image === undefined ? Number.NaN : storedValue(image.properties)))
  }
  const inTransaction =
    (mode: 'readOnly' | 'readWrite', work: (read: ReadOptions) => Promise<number[]>): PairRead =>
    async () => {
      try {
        const transaction = await database.beginTransaction(context(), { mode })
        const values = await work({ transaction })
        await database.commit(context(), { mode: 'transactional', transaction, mutations: [] })
        return values
      } catch (error) {
        if (error instanceof DatastoreError && error.code === 'ABORTED') return []
        throw error
      }
    }
  const oneByOne = async (read: ReadOptions): Promise<number[]> => {
    const [one, two] = pair
    return [...(await lookup([one], read)), ...(await lookup([two], read))]
  }
  const strong: ReadOptions = { consistency: 'strong' }
  const reads: Record<string, PairRead> = {
    lookup: () => lookup(pair),
    query: () => query(everything, strong),
    'query by an index': () => query(byValue, strong),
    aggregation: async () => {
      const { values } = await database.runAggregationQuery(context(), {
        query: everything,
        aggregations: [
          { alias: 'sum', operator: 'sum', property: 'v' },
          { alias: 'average', operator: 'avg', property: 'v' },
        ],
        read: strong,
      })
      const numbers = ['sum', 'average'].map((alias) => Number((values.get(alias) as { value: bigint | number }).value))
      const [sum = 0, average = 0] = numbers
      return [sum / 2, average]
    },
    'a read-only transaction': inTransaction('readOnly', oneByOne),
    'a lookup in a read-write transaction': inTransaction('readWrite', (read) => lookup(pair, read)),
    'two lookups in a read-write transaction': inTransaction('readWrite', oneByOne),
  }
  if (concurrency !== 'optimisticWithEntityGroups') {
    reads['a query in a read-only transaction'] = inTransaction('readOnly', (read) => query(byValue, read))
    reads['a query in a read-write transaction'] = inTransaction('readWrite', (read) => query(byValue, read))
  }
  return {
    async commit(value) {
      const mutations = pair.map((key) => mutationOf(key, value))
      for (;;) {
        try {
          await database.commit(context(), { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
          return
        } catch (error) {
          if (!(error instanceof DatastoreError) || error.code !== 'ABORTED') throw error
        }
      }
    },
    reads,
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

const modes: readonly ConcurrencyMode[] = ['pessimistic', 'optimistic', 'optimisticWithEntityGroups']

describe.each(Object.keys(stores))('%s', (store) => {
  describe.each(policies)('applied by $type', (applyPolicy) => {
    test.each(
      modes.flatMap((concurrency) => (['firestore', 'legacy'] as const).map((mode) => ({ concurrency, mode }))),
    )('no strong read is torn or old: $concurrency, $mode', async ({ concurrency, mode }) => {
      const engine = await (stores[store] as () => Promise<Engine>)()
      engine.configure({ mode, applyPolicy, concurrency })
      const { faults, answered } = await pairHistory(clientOf(engine, concurrency), commits)
      expect(faults).toEqual([])
      for (const [name, count] of Object.entries(answered)) expect(count, name).toBeGreaterThan(0)
      expect(await engine.check()).toMatchObject({ problemCount: 0 })
      await engine.close()
    })
  })
})
