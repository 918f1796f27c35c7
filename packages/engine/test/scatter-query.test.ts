/** What splitters of queries ask: the keys of a kind in the order of their scatter values. */
import { describe, expect, test } from 'vitest'
import type { Mode } from '../src/database/settings.ts'
import { encodeKey } from '../src/encoding/entity-codec.ts'
import { openEngine } from '../src/engine/engine.ts'
import { VirtualClock } from '../src/testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }

async function sampleOf(mode: Mode, entities: number): Promise<readonly bigint[]> {
  const engine = await openEngine({ scheduler: new VirtualClock(), mode, apply: { type: 'immediate' } })
  const database = engine.database('p')
  for (let from = 0; from < entities; from += 500) {
    const mutations = Array.from({ length: Math.min(500, entities - from) }, (_, i) => {
      const key = encodeKey({ partition, path: [{ kind: 'A', id: BigInt(from + i + 1) }] })
      return { operation: 'upsert' as const, entity: Buffer.concat([Buffer.from([0x0a, key.length]), key]) }
    })
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  const query = {
    partition,
    kind: 'A',
    projection: ['__key__'],
    order: [{ property: '__scatter__', direction: 'ascending' as const }],
    distinctOn: [],
    offset: 0,
    limit: 32,
  }
  const { results } = await database.runQuery(engine.context(), { query })
  expect(await engine.check()).toMatchObject({ problemCount: 0 })
  return results.map(({ key }) => key.path[0]?.id ?? 0n)
}

describe('a query ordered by __scatter__', () => {
  test('gives keys from all over the kind, in both modes', async () => {
    for (const mode of ['legacy', 'firestore'] as const) {
      const ids = await sampleOf(mode, 8000)
      expect(ids).toHaveLength(32)
      expect(new Set(ids).size).toBe(32)
      for (const quarter of [0n, 1n, 2n, 3n]) {
        expect(ids.some((id) => id > quarter * 2000n && id <= (quarter + 1n) * 2000n)).toBe(true)
      }
    }
  })

  test('never shows the property itself', async () => {
    const engine = await openEngine({ scheduler: new VirtualClock(), mode: 'legacy', apply: { type: 'immediate' } })
    const database = engine.database('p')
    // Entity 236 is in the sample (tables/scatter.test.ts).
    const key = { partition, path: [{ kind: 'A', id: 236n }] }
    const bytes = encodeKey(key)
    const entity = Buffer.concat([Buffer.from([0x0a, bytes.length]), bytes])
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [{ operation: 'upsert', entity }] })
    const { rows } = await engine.inspector.rows(key)
    expect(rows.some(({ row }) => row.includes('__scatter__'))).toBe(true)
    const { found } = await database.lookup(engine.context(), { keys: [key] })
    expect(found.map(({ image }) => image.properties.length)).toEqual([0])
    const query = { partition, kind: '__property__', projection: [], order: [], distinctOn: [], offset: 0 }
    const { results } = await database.runQuery(engine.context(), { query })
    expect(results).toEqual([])
  })
})
