import { expect, test } from 'vitest'
import { openEngine } from '../../engine/engine.ts'
import type { IndexDefinition } from '../../model/index-definition.ts'
import { keptMax, RefusedIndexes } from './refused-indexes.ts'

const index = (name: string): IndexDefinition => ({
  kind: 'ToDo',
  ancestor: false,
  properties: [
    { name, direction: 'ascending' },
    { name: 'due', direction: 'descending' },
  ],
})

test('the latest definitions are kept, with the number of refusals', async () => {
  const engine = await openEngine()
  const database = engine.database('demo')
  const refused = new RefusedIndexes()
  for (let i = 0; i <= keptMax; i++) refused.note(database, index(`p${i}`))
  refused.note(database, index('p1'))
  const kept = refused.of(database)
  expect(kept).toHaveLength(keptMax)
  expect(kept[0]).toEqual({ definition: index('p1'), refusals: 2 })
  expect(kept.some(({ definition }) => definition.properties[0]?.name === 'p0')).toBe(false)
  expect(refused.of(engine.database('other'))).toEqual([])
  await engine.close()
})

test('a query that is refused leaves its index in the list, until it is there', async () => {
  const engine = await openEngine({ indexes: 'require' })
  const database = engine.database('demo')
  const partition = { projectId: 'demo', databaseId: '', namespaceId: '' }
  const order = [
    { property: 'done', direction: 'ascending' as const },
    { property: 'due', direction: 'descending' as const },
  ]
  const query = { partition, kind: 'ToDo', projection: [], order, distinctOn: [], offset: 0 }
  const run = async (): Promise<unknown> => database.runQuery(engine.context(), { query })
  await expect(run()).rejects.toThrow('no matching index')
  expect(engine.indexes.refused.of(database)).toEqual([{ definition: index('done'), refusals: 1 }])
  await engine.createIndex(database, index('done'))
  await run()
  expect(engine.indexes.refused.of(database)).toEqual([])
  await engine.close()
})
