import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../test/property/log-world.ts'
import type { Key } from '../model/key.ts'
import { openEngine } from '../service/engine.ts'
import { MemoryRows } from '../storage/memory-rows.ts'
import { families } from '../storage/rows.ts'
import { RowsKv } from '../storage/rows-kv.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'

const partition = { projectId: 'p', databaseId: '', namespaceId: '' }
const key = (name: string): Key => ({ partition, path: [{ kind: 'G', name }] })
const hourMs = 3_600_000

/** Cells of all tables. */
async function cellsIn(rows: MemoryRows): Promise<number> {
  const wanted = families.map((family) => ({ family }))
  const found = await rows.scanRows({ range: { start: '', end: '\xff' }, limit: 10_000, wanted })
  return found
    .filter((row) => !row.key.startsWith('M'))
    .reduce((sum, row) => sum + Object.values(row.cells).flat().length, 0)
}

test('sweep/SW1: old versions go after their time, and what can be read stays as it is', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const engine = await openEngine({ shared: { rows, gateway: 1 }, scheduler })
  const database = engine.database('p')
  const put = async (name: string, value: number | undefined): Promise<void> => {
    await database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key(name), value)] })
    await scheduler.advance(1)
  }
  const valuesAt = async (readTime: bigint): Promise<(number | undefined)[]> => {
    const { found } = await database.lookup(engine.context(), { keys: [key('a'), key('b')], read: { readTime } })
    return found.map(({ image }) => storedValue(image.properties))
  }
  for (let value = 1; value <= 5; value++) await put('a', value)
  await put('b', 1)
  await put('b', undefined)
  const before = await cellsIn(rows)
  await scheduler.advance(hourMs)
  await put('a', 6)
  await scheduler.advance(hourMs / 2)
  const recently = scheduler.nowMicros()
  await scheduler.advance(1)
  await put('a', 7)
  // The first sweep is an hour after the start; for the second one the first writes are old enough.
  await scheduler.advance(hourMs * 0.6)
  expect(await cellsIn(rows)).toBeLessThan(before)
  expect(await valuesAt(recently)).toEqual([6])
  await scheduler.advance(2 * hourMs)
  const report = await engine.check()
  expect(report.problems).toEqual([])
  expect(report.entities).toBe(1)
  // One version of one entity and its rows, and nothing of the deleted one but the head of its group.
  const [entity] = await rows.scanRows({ range: { start: 'E', end: 'F' }, limit: 9, wanted: [{ family: 'v' }] })
  expect(entity?.cells.v).toHaveLength(1)
  expect(await new RowsKv(rows).get(entity?.key ?? '')).toBeDefined()
  await engine.close()
})
