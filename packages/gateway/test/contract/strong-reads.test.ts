/**
 * Strong reads over the wire: what the public Node client reads over gRPC from a started gateway is never torn and never
 * old, whatever the apply policy, the concurrency mode, the mode of the database and the store. `npm run test:deep` makes
 * the histories longer, and runs each policy on each store; the engine's own test does so at all times.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Datastore, type Query } from '@google-cloud/datastore'
import { type ApplyPolicy, type Engine, openEngine } from '@sixtables/engine'
import { type PairClient, type PairRead, pairHistory } from '@sixtables/engine/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { isDeep, runs } from '../../../../scripts/deep.ts'
import { testGateway } from '../support/gateway.ts'

const commits = runs(10)

const engines: Engine[] = []
const folders: string[] = []
afterAll(async () => {
  for (const engine of engines) await engine.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type ConcurrencyMode = Engine['settings']['concurrency']

const stores: Readonly<Record<string, () => Promise<Engine>>> = {
  'in memory': () => openEngine(),
  'on disk': () => {
    const dir = mkdtempSync(join(tmpdir(), 'sixtables-reads-'))
    folders.push(dir)
    return openEngine({ dir })
  },
}

const policies: readonly ApplyPolicy[] = [
  { type: 'immediate' },
  { type: 'time', delayMs: 1 },
  { type: 'manual' },
  { type: 'probability', chance: 0.5 },
]

const settings: readonly { readonly concurrency: ConcurrencyMode; readonly mode: 'firestore' | 'legacy' }[] = [
  { concurrency: 'pessimistic', mode: 'firestore' },
  { concurrency: 'optimistic', mode: 'firestore' },
  { concurrency: 'optimisticWithEntityGroups', mode: 'legacy' },
]

function clientOf(datastore: Datastore, concurrency: ConcurrencyMode): PairClient {
  const keys = [datastore.key(['A', 'one']), datastore.key(['A', 'two'])]
  const valuesOf = (entities: readonly { readonly v: number }[]): number[] => entities.map(({ v }) => v)
  const strong = { consistency: 'strong' } as const
  const byValue: Query = datastore.createQuery('A').order('v')
  const inTransaction =
    (readOnly: boolean, work: (transaction: ReturnType<Datastore['transaction']>) => Promise<number[]>): PairRead =>
    async () => {
      const transaction = datastore.transaction({ readOnly })
      try {
        await transaction.run()
        const values = await work(transaction)
        await transaction.commit()
        return values
      } catch (error) {
        if ((error as { code?: number }).code === 10) return []
        throw error
      }
    }
  const reads: Record<string, PairRead> = {
    lookup: async () => valuesOf((await datastore.get(keys))[0]),
    query: async () => valuesOf((await datastore.runQuery(byValue, strong))[0]),
    aggregation: async () => {
      const asked = datastore.createAggregationQuery(datastore.createQuery('A')).sum('v', 'sum').average('v', 'average')
      const [[{ sum, average }]] = await datastore.runAggregationQuery(asked, strong)
      return [sum / 2, average]
    },
    'a read-only transaction': inTransaction(true, async (transaction) => {
      const found: number[] = []
      for (const key of keys) found.push(...valuesOf([(await transaction.get(key))[0]]))
      return found
    }),
    'a lookup in a read-write transaction': inTransaction(false, async (transaction) =>
      valuesOf((await transaction.get(keys))[0]),
    ),
  }
  if (concurrency !== 'optimisticWithEntityGroups') {
    reads['a query in a read-only transaction'] = inTransaction(true, async (transaction) =>
      valuesOf((await transaction.runQuery(transaction.createQuery('A').order('v')))[0]),
    )
  }
  return {
    async commit(value) {
      for (;;) {
        const transaction = datastore.transaction()
        try {
          await transaction.run()
          transaction.upsert(keys.map((key) => ({ key, data: { v: value } })))
          await transaction.commit()
          return
        } catch (error) {
          if ((error as { code?: number }).code !== 10) throw error
        }
      }
    },
    reads,
    turn: () => new Promise((resolve) => setImmediate(resolve)),
  }
}

describe.each(Object.keys(stores).map((store, place) => ({ store, place })))('$store', ({ store, place }) => {
  describe.each(policies.filter((_, i) => isDeep || i % 2 === place))('applied by $type', (applyPolicy) => {
    test.each(settings)('no strong read is torn or old: $concurrency, $mode', async ({ concurrency, mode }) => {
      const engine = await (stores[store] as () => Promise<Engine>)()
      engines.push(engine)
      engine.configure({ mode, applyPolicy, concurrency })
      const gateway = await testGateway(engine)
      // Without this the client asks the network where it is running.
      process.env['METADATA_SERVER_DETECTION'] = 'none'
      process.env['DATASTORE_EMULATOR_HOST'] = `127.0.0.1:${gateway.port}`
      const datastore = new Datastore({ projectId: 'p' })
      const { faults, answered } = await pairHistory(clientOf(datastore, concurrency), commits)
      expect(faults).toEqual([])
      for (const [name, count] of Object.entries(answered)) expect(count, name).toBeGreaterThan(0)
      expect(await engine.check()).toMatchObject({ problemCount: 0 })
    })
  })
})
