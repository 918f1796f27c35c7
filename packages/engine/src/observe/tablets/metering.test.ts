import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { encodeKey, encodeProperties } from '../../encoding/entity-codec.ts'
import { openEngine } from '../../engine/engine.ts'
import type { Value } from '../../model/value.ts'
import { EntityRows } from '../../tables/entity-rows.ts'
import { VirtualClock } from '../../testing/virtual-clock.ts'
import { TabletFleet } from './fleet.ts'

/** The number of entities with this value after which something is charged. */
async function chargesOf(entities: number, value: Value): Promise<number> {
  const engine = await openEngine({ scheduler: new VirtualClock() })
  const charged = vi.spyOn(TabletFleet.prototype, 'charge')
  let count = 0
  for (let id = 1; id <= entities; id++) {
    const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
    const key = encodeKey({ partition, path: [{ kind: 'A', id: BigInt(id) }] })
    const head = Buffer.from([0x0a, key.length])
    const entity = Buffer.concat([head, key, encodeProperties(new Map([['v', value]]))])
    const mutations = [{ operation: 'upsert', entity }] as const
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
    // One turn of the event loop for the slice that charges them, and one for this test.
    await nextTurn()
    await nextTurn()
    if (charged.mock.calls.length > 0) count++
    charged.mockClear()
  }
  charged.mockRestore()
  await engine.close()
  return count
}

test('small entities wait together until they are charged; large ones, whose images are held, do not', async () => {
  const blob = (bytes: number): Value => ({ type: 'blob', value: new Uint8Array(bytes), excludeFromIndexes: true })
  expect(await chargesOf(10, blob(100))).toBe(0)
  expect(await chargesOf(10, blob(1_000_000))).toBe(10)
})

test('of an entity with thousands of rows only those that are charged are made', async () => {
  const made = vi.spyOn(EntityRows.prototype, 'indexRows', 'get')
  const values = Array.from({ length: 2000 }, (_, i): Value => ({ type: 'integer', value: BigInt(i) }))
  expect(await chargesOf(1, { type: 'array', values })).toBe(1)
  expect(made).not.toHaveBeenCalled()
  made.mockRestore()
})
