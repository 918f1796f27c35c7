import { expect, it } from 'vitest'
import { sortedRows, UnreadLog } from './unread-log.ts'

const value = Uint8Array.of(1)

it('U1: makes room when many rows were dropped, and a view of before has them still', () => {
  const log = new UnreadLog()
  const rows = Array.from({ length: 3000 }, (_, i) => `L${10_000 + i}`)
  for (const row of rows) log.add(row, value)
  const before = log.view()
  for (const row of rows.slice(0, 2000)) {
    expect(log.dropOldest(row)).toBe(true)
    expect(log.dropOldest(row)).toBe(false)
  }
  log.add('M', value)
  const keysOf = (view: typeof before): readonly string[] => sortedRows(view).map(({ key }) => key)
  expect(keysOf(log.view())).toEqual([...rows.slice(2000), 'M'])
  expect(keysOf(before)).toEqual(rows)
  expect(log.size).toBe(1001)
  expect(log.view().rows.length).toBeLessThan(2000)
  expect([log.isAt(before), log.isAt(log.view())]).toEqual([false, true])
})
