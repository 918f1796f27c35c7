import { openEngine } from '@sixtables/engine'
import { databaseRowKey } from '@sixtables/engine/testing'
import { expect, test, vi } from 'vitest'
import { keyOf } from '../../../engine/test/property/entity-messages.ts'
import { mutationOf } from '../../../engine/test/property/log-world.ts'
import { MemoryRows } from '../row-store/memory-rows.ts'
import { severalGateways } from './several-gateways.ts'

test('first calls at the same time record their database in one conditional write', async () => {
  const rows = new MemoryRows()
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }) })
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
