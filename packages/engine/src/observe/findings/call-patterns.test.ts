import { expect, test } from 'vitest'
import { entity, keyOf, property, string } from '../../../test/property/entity-messages.ts'
import type { CommitRequest, Mutation } from '../../database/api.ts'
import { openEngine } from '../../engine/engine.ts'

const upsert = (id: number): Mutation => ({
  operation: 'upsert',
  entity: entity(keyOf([{ kind: 'A', id: BigInt(id) }]), property('p', string('v'))),
})

test.each<[string, Omit<CommitRequest, 'mutations'>]>([
  ['a transaction', { mode: 'transactional', singleUse: { mode: 'readWrite' } }],
  ['a list that is refused', { mode: 'nonTransactional' }],
])('an entity named twice by %s is found, also far behind, and each commit counts once', async (_, request) => {
  const engine = await openEngine()
  const commit = (...ids: readonly number[]): Promise<unknown> =>
    Promise.resolve()
      .then(() => engine.database('p').commit(engine.context(), { ...request, mutations: ids.map(upsert) }))
      .catch(() => undefined)
  await commit(1, 2, 3)
  expect(engine.findings()).toEqual([])
  await commit(...Array.from({ length: 1200 }, (_, i) => i + 1), 1200, 7, 7)
  await commit(8, 8)
  const found = engine.findings().find(({ kind }) => kind === 'duplicate-in-commit')
  expect(found?.evidence).toEqual(['2 such commits, for example with A:1200'])
  await engine.close()
})
