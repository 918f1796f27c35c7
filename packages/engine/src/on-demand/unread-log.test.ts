import { expect, it } from 'vitest'
import { firstIndexOptions } from '../database/database-row.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { rowsOf } from '../tables/rows.ts'
import { turnScheduler } from '../testing/turn-scheduler.ts'
import { VirtualClock } from '../testing/virtual-clock.ts'
import { OnDemandRows } from './on-demand-rows.ts'
import { listed, UnreadLog, type UnreadRows, valueIn } from './unread-log.ts'

const value = Uint8Array.of(1)

it('makes room when many rows were dropped, and a view of before has them still', () => {
  const log = new UnreadLog()
  const rows = Array.from({ length: 12_000 }, (_, i) => `L${10_000 + i}`)
  for (const row of rows) log.add(row, value)
  const before = log.view()
  for (const row of rows.slice(0, 5900)) {
    expect(log.dropOldest(row)).toBe(true)
    expect(log.dropOldest(row)).toBe(false)
  }
  log.add('M', value)
  const keysOf = (view: typeof before): readonly string[] => listed(view).map(({ key }) => key)
  expect(keysOf(log.view())).toEqual([...rows.slice(5900), 'M'])
  expect(keysOf(before)).toEqual(rows)
  expect(log.size).toBe(6101)
  expect(log.view().rows.length).toBeLessThanOrEqual(log.size + 1024)
  expect(keysOf(log.takeOldest(2))).toEqual(rows.slice(5900, 5902))
  expect([log.size, keysOf(log.takeOldest(9000)).length, log.size]).toEqual([6099, 6099, 0])
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

it('finds the records of a commit to many groups, looking at few of them for each', async () => {
  const rows = Array.from({ length: 5_000 }, (_, i) => `${keySpaces.Log}${String(i).padStart(8, '0')}versions`)
  let looks = 0
  const counted = new Proxy(rows, {
    get: (target, name) => {
      looks++
      return Reflect.get(target, name)
    },
  })
  const values = rows.map((_, i) => Uint8Array.of(i % 256))
  const first = rows[0] as string
  expect(valueIn({ rows: counted, values, start: 0, end: rows.length }, first)).toBe(undefined)
  expect(looks).toBeLessThan(200)
  const kv = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, new VirtualClock())
  const snapshot = kv.snapshot()
  await kv.batch(rows.map((key, i) => ({ key, value: values[i] })))
  const later = kv.snapshot()
  for (const at of [0, 1_234, 4_999]) {
    const row = rows[at] as string
    expect(await snapshot.get(row)).toBe(undefined)
    expect(await later.get(row)).toEqual(Uint8Array.of(at % 256))
    expect(await kv.get(row)).toEqual(Uint8Array.of(at % 256))
  }
})

it('deletes a range of records in slices when it has many, and looks at none of the others again', async () => {
  let turns = 0
  const scheduler = turnScheduler(() => turns++)
  const kv = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, scheduler)
  const rows = Array.from({ length: 9_000 }, (_, i) => `${keySpaces.Log}${i % 9}${String(i).padStart(8, '0')}`)
  for (const key of rows) await kv.batch([{ key, value }])
  const deleteAll = async (digit: number): Promise<number> => {
    turns = 0
    await kv.deleteRanges([{ start: `${keySpaces.Log}${digit}`, end: `${keySpaces.Log}${digit + 1}` }])
    return turns
  }
  expect(await deleteAll(3)).toBeGreaterThan(1)
  expect(await deleteAll(5)).toBe(0)
  const left = rows.filter((key) => !['3', '5'].includes(key[1] as string)).sort()
  const scan = kv.scan(rowsOf('Log'))
  expect((await scan.next(9_000)).map(({ key }) => key)).toEqual(left)
  scan.close()
})

it('loses no record in a long batch that begins when one of two reads of the log has moved it into the tree', async () => {
  const kv = new OnDemandRows(new MemoryKv(), () => firstIndexOptions.firestore, new VirtualClock())
  const rowsFrom = (space: string, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ key: space + String(from + i).padStart(8, '0'), value }))
  const log = rowsOf('Log')
  await kv.batch(rowsFrom(log.start, 0, 8_000))
  const reads = [kv.prepare(log), kv.prepare(log)]
  await Promise.race(reads)
  await kv.batch(rowsFrom(log.start, 8_000, 10))
  await kv.batch(rowsFrom(keySpaces.Entities, 0, 10_000))
  await Promise.all(reads)
  expect((await kv.scan(log).next(20_000)).length).toBe(8_010)
})
