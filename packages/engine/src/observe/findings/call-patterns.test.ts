import { expect, test } from 'vitest'
import { entity, keyOf, property, string } from '../../../test/property/entity-messages.ts'
import type { CommitRequest, Mutation } from '../../database/api.ts'
import { openEngine } from '../../engine/engine.ts'
import { CallPatterns } from './call-patterns.ts'

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

test('an aggregation and an empty answer are no pages of those that an offset skips', () => {
  const patterns = new CallPatterns()
  const page = (skipped: number, returned: number): void => {
    const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
    patterns.noteQuery({ call: 'query', partition, kind: 'A', properties: [], indexes: [], skipped, returned })
  }
  page(200, 10)
  for (let i = 0; i < 3; i++) page(0, 0)
  expect([...patterns.sightings()]).toEqual([])
  for (let i = 0; i < 3; i++) page(0, 1)
  expect([...patterns.sightings()].map(({ kind, evidence }) => [kind, evidence])).toEqual([
    ['large-offset', ['200 results skipped for 13 returned (94 %) in 4 queries']],
  ])
})
