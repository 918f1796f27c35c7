import { expect, test, vi } from 'vitest'
import { keyOf } from '../../test/property/entity-messages.ts'
import { mutationOf } from '../../test/property/log-world.ts'
import { databaseRowKey } from '../database/database-row.ts'
import { MemoryRows } from '../storage/memory-rows.ts'
import { openEngine } from './engine.ts'

test('first calls at the same time record their database in one conditional write', async () => {
  const rows = new MemoryRows()
  const engine = await openEngine({ shared: { rows, gateway: 1 } })
  const changed = vi.spyOn(rows, 'mutateRowIf')
  const database = engine.database('p')
  const put = (value: number) =>
    database.commit(engine.context(), {
      mode: 'nonTransactional',
      mutations: [mutationOf(keyOf([{ kind: 'G', name: String(value) }]), value)],
    })
  await Promise.all([1, 2, 3, 4].map(put))
  expect(changed.mock.calls.filter(([key]) => key === databaseRowKey(database.code))).toHaveLength(1)
  await engine.close()
})
