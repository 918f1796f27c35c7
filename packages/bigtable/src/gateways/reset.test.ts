import { formatKey, openEngine } from '@sixtables/engine'
import { expect, test } from 'vitest'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

test('an id that was given before a reset is not given after it', async () => {
  const engine = await openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }) })
  const key = { partition: { projectId: 'p', databaseId: '', namespaceId: '' }, path: [{ kind: 'G' }] }
  const given: string[] = []
  for (const scope of [{ projectId: 'p', databaseId: '' }, {}, {}]) {
    const { mutationResults } = await engine
      .database('p')
      .commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key, 1, 'insert')] })
    given.push(formatKey(mutationResults[0]?.key ?? key))
    await engine.reset(scope)
  }
  expect(new Set(given).size).toBe(given.length)
  await engine.close()
})
