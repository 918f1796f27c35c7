import { afterEach, expect, test } from 'vitest'
import { encodeKey, encodeProperties } from '../encoding/entity-codec.ts'
import { type Engine, openEngine } from '../engine/engine.ts'
import { formatKey } from '../model/key.ts'
import { and, entity, index, query, where } from '../testing/query-world.ts'
import { plainDefinition } from './definition.ts'

let engine: Engine | undefined
afterEach(() => engine?.close())

test('a property may stand in an index twice: arrays meet an equality and an inequality by two of their elements', async () => {
  expect(plainDefinition(index('A(tags, tags)')).properties).toHaveLength(2)
  engine = await openEngine()
  const database = engine.database('p')
  const mutations = [entity('A:1', { tags: [1n] }), entity('A:2', { tags: [1n, 3n] }), entity('A:3', { tags: [3n] })]
  await database.commit(engine.context(), {
    mode: 'nonTransactional',
    mutations: mutations.map(({ key, properties }) => {
      const keyBytes = encodeKey(key)
      const entityBytes = Buffer.concat([Buffer.of(0x0a, keyBytes.length), keyBytes, encodeProperties(properties)])
      return { operation: 'upsert', entity: entityBytes }
    }),
  })
  const asked = query({ kind: 'A', filter: and(where('tags', '=', 1n), where('tags', '>', 2n)) })
  const { results } = await database.runQuery(engine.context(), { query: asked })
  expect(results.map(({ key }) => formatKey(key))).toEqual(['A:2'])
})
