import { expect, it } from 'vitest'
import { listed, UnreadLog, type UnreadRows, valueIn } from './unread-log.ts'

const value = Uint8Array.of(1)

it('makes room when many rows were dropped, and a view of before has them still', () => {
  const log = new UnreadLog()
  const rows = Array.from({ length: 3000 }, (_, i) => `L${10_000 + i}`)
  for (const row of rows) log.add(row, value)
  const before = log.view()
  for (const row of rows.slice(0, 2000)) {
    expect(log.dropOldest(row)).toBe(true)
    expect(log.dropOldest(row)).toBe(false)
  }
  log.add('M', value)
  const keysOf = (view: typeof before): readonly string[] => listed(view).map(({ key }) => key)
  expect(keysOf(log.view())).toEqual([...rows.slice(2000), 'M'])
  expect(keysOf(before)).toEqual(rows)
  expect(log.size).toBe(1001)
  expect(log.view().rows.length).toBeLessThan(2000)
  expect(keysOf(log.takeOldest(2))).toEqual(rows.slice(2000, 2002))
  expect([log.size, keysOf(log.takeOldest(5000)).length, log.size]).toEqual([999, 999, 0])
  expect(keysOf(before)).toEqual(rows)
})

it('finds a row among those of its commit and of others, in a view of then and now', () => {
  const log = new UnreadLog()
  const rows = ['a00000001', 'b00000003', 'a00000003', 'c00000003', 'b00000007'].map((row) => `L${row}`)
  rows.forEach((row, i) => {
    log.add(row, Uint8Array.of(i))
  })
  const found = (view: UnreadRows): (number | undefined)[] =>
    ['Lb00000000', ...rows, 'Ld00000003', 'La00000004', 'Lb00000008'].map((row) => {
      const value = valueIn(view, row)
      return value instanceof Uint8Array ? value[0] : undefined
    })
  const before = log.view()
  log.dropOldest('La00000001')
  const none = undefined
  expect(found(before)).toEqual([none, 0, 1, 2, 3, 4, none, none, none])
  expect(found(log.view())).toEqual([none, none, 1, 2, 3, 4, none, none, none])
  log.add('Lb00000008', Uint8Array.of(5))
  expect(found(before).at(-1)).toBe(undefined)
  expect(found(log.view()).at(-1)).toBe(5)
})
