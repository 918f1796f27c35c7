import { encodeKey, encodeProperties, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, onTestFinished, test } from 'vitest'
import { Router } from '../../protocols/router.ts'
import { addExplainRoutes, type StaleReport } from './explain.ts'

test('large results are put into words one in a turn', async () => {
  let turns = 0
  class TurnClock extends VirtualClock {
    override defer(task: () => void): void {
      turns++
      super.defer(task)
    }
  }
  const engine = await openEngine({ scheduler: new TurnClock() })
  onTestFinished(() => engine.close())
  const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
  const value = { type: 'string', value: 'x'.repeat(200_000), excludeFromIndexes: true } as const
  const mutations = Array.from({ length: 6 }, (_, i) => {
    const key = encodeKey({ partition, path: [{ kind: 'A', id: BigInt(i + 1) }] })
    const entity = Buffer.concat([Buffer.from([0x0a, key.length]), key, encodeProperties(new Map([['x', value]]))])
    return { operation: 'upsert', entity } as const
  })
  await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  const router = new Router()
  addExplainRoutes(router, engine)
  const body = Buffer.from(JSON.stringify({ project: 'p', gql: 'SELECT * FROM A' }))
  const { signal } = new AbortController()
  turns = 0
  const asked = { query: new URLSearchParams(), body, headers: {}, parameters: {}, signal }
  const answer = await router.find('POST', '/emulator/staleness')?.route(asked)
  expect((answer as { readonly json: StaleReport }).json.results).toHaveLength(6)
  expect(turns).toBeGreaterThanOrEqual(6)
})
