import { type Engine, type Key, openEngine } from '@sixtables/engine'
import { query, VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { entity, keyOf, property, string } from '../../../engine/test/property/entity-messages.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

const name = (letter: string, length: number): string => letter.repeat(length)
const group = (root: string, ...names: readonly string[]): Key =>
  keyOf([root, ...names].map((one) => ({ kind: 'K', name: one })))

const openShared = (): Promise<Engine> =>
  openEngine({ store: severalGateways({ rows: new MemoryRows(), gateway: 1 }), scheduler: new VirtualClock() })

async function put(engine: Engine, ...entities: readonly (readonly [Key, Readonly<Record<string, string>>])[]) {
  const mutations = entities.map(([key, properties]) => ({
    operation: 'upsert' as const,
    entity: entity(key, ...Object.entries(properties).map(([named, value]) => property(named, string(value)))),
  }))
  await engine
    .database('p')
    .commit(engine.context(), { mode: 'transactional', singleUse: { mode: 'readWrite' }, mutations })
}

test('row-key-lengths/RK1: a commit with a row that the store cannot take changes nothing, in any of its groups', async () => {
  const engine = await openShared()
  const long = name('n', 1400)
  for (const [tooLong, said] of [
    [[group(long, long, long), {}], /K:"nnn.*… needs a row key of \d+ bytes in Entities, .*use shorter names/],
    [[group('r', long, long), { a: long }], /in EntitiesByPropertyAsc.*exclude the property from indexes/],
  ] as const) {
    await expect(put(engine, [group('other'), {}], tooLong)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(said),
    })
  }
  const { results } = await engine.database('p').runQuery(engine.context(), { query: query({ kind: 'K' }) })
  expect(results).toEqual([])
  await engine.close()
})

test('row-key-lengths/RK1: rows of composite indexes count, and an index that cannot hold what is there has failed', async () => {
  const engine = await openShared()
  const database = engine.database('p')
  const index = {
    kind: 'K',
    ancestor: false,
    properties: ['a', 'b', 'c'].map((named) => ({ name: named, direction: 'ascending' as const })),
  }
  const wide = { a: name('a', 1400), b: name('b', 1400), c: name('c', 1400) }
  await put(engine, [group('first'), wide])
  await expect(engine.createIndex(database, index)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  expect(database.catalogue.all.map(({ state }) => state)).toEqual(['failed'])
  await put(engine, [group('first'), {}])
  await engine.indexes.drop(database, database.catalogue.all[0]?.id ?? 0n).done
  await engine.createIndex(database, index)
  await expect(put(engine, [group('second'), wide])).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: expect.stringContaining('in EntitiesByCompositeProperty'),
  })
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
