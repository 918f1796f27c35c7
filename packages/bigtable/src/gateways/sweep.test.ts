import { DatastoreError, type Engine, type Key, openEngine } from '@sixtables/engine'
import { VirtualClock } from '@sixtables/engine/testing'
import { expect, test } from 'vitest'
import { mutationOf, storedValue } from '../../../engine/test/property/log-world.ts'
import { MemoryRows, type RowSeam } from '../row-store/memory-rows.ts'
import { families } from '../row-store/row-store.ts'
import { RowsKv } from '../row-store/rows-kv.ts'
import { emptySince } from './group-row.ts'
import { severalGateways } from './several-gateways.ts'
import type { GatewayMechanism } from './switched-off.ts'

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
  const engine = await openEngine({ store: severalGateways({ rows, gateway: 1 }), scheduler })
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
  // The first writes are old enough for the sweeps of the next hour.
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

test.each([
  ['cells are kept for over an hour', new Set<GatewayMechanism>(), [1]],
  ['not if that is switched off', new Set<GatewayMechanism>(['retention']), []],
])('sweep/SW1: a read of half an hour ago finds what was there: %s', async (_, switchedOff, found) => {
  const scheduler = new VirtualClock()
  const engine = await openEngine({
    store: severalGateways({ rows: new MemoryRows(), gateway: 1, switchedOff }),
    scheduler,
  })
  const database = engine.database('p')
  const put = (value: number) =>
    database.commit(engine.context(), { mode: 'nonTransactional', mutations: [mutationOf(key('a'), value)] })
  await put(1)
  const readTime = scheduler.nowMicros()
  await scheduler.advance(1)
  await put(2)
  await scheduler.advance(hourMs / 2)
  const past = await database.lookup(engine.context(), { keys: [key('a')], read: { readTime } })
  expect(past.found.map(({ image }) => storedValue(image.properties))).toEqual(found)
  await engine.close()
})

/**
 * Two gateways over the same rows. The first one's next answer to a conditional write of the clock row can be kept back.
 *
 * @param seamOfOne - between the first one and the rows
 */
async function twoGateways(seamOfOne: RowSeam = async (_, effect) => effect()) {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  let isKeeping = false
  let release = (): void => {}
  const seam: RowSeam = async (call, effect) => {
    const result = await seamOfOne(call, effect)
    const { kind, key: row } = call
    if (isKeeping && kind === 'mutateIf' && row.includes('clock')) {
      isKeeping = false
      await new Promise<void>((resolve) => {
        release = resolve
      })
    }
    return result
  }
  const one = await openEngine({ store: severalGateways({ rows: rows.through(seam), gateway: 1 }), scheduler })
  const two = await openEngine({
    store: severalGateways({ rows: rows.through(async (_, effect) => effect()), gateway: 2 }),
    scheduler,
  })
  const put = async (engine: Engine, name: string, value: number | undefined): Promise<void> => {
    const mutations = [mutationOf(key(name), value)]
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  const pass = async (hours: number): Promise<void> => {
    for (let minutes = 0; minutes < hours * 60; minutes += 5) await scheduler.advance(300_000)
  }
  const keep = (): void => {
    isKeeping = true
  }
  return { rows, scheduler, one, two, put, pass, keep, release: () => release() }
}

test('nothing is left of deleted groups, and their keys can be used again', async () => {
  const { rows, one, two, put, pass } = await twoGateways()
  for (let i = 0; i < 5; i++) {
    await put(one, `a${i}`, i)
    await put(two, `a${i}`, undefined)
  }
  const child: Key = { partition, path: [...key('b').path, { kind: 'A', id: 1n }] }
  const mutations = [mutationOf(child, 1)]
  await one.database('p').commit(one.context(), { mode: 'nonTransactional', mutations })
  const entities = { range: { start: 'E', end: 'F' }, limit: 99, wanted: families.map((family) => ({ family })) }
  /** Hours at which a head was found noted as empty, or was gone. */
  let [noted, gone] = [0, 0]
  for (let hour = 0; hour < 7; hour += 1 / 12) {
    await pass(1 / 12)
    const [first] = await rows.scanRows(entities)
    const head = first?.cells.h?.[0]?.value
    if (head !== undefined && emptySince(head) > 0n) noted ||= hour
    else if (noted > 0) gone ||= hour
  }
  expect(gone - noted, 'hours for which a write may be on its way').toBeGreaterThan(1.4)
  // The head of a group without a root, and its child.
  expect(await rows.scanRows(entities)).toHaveLength(2)
  const { found } = await two.database('p').lookup(two.context(), { keys: [child, key('a0')], read: {} })
  expect(found.map(({ key: one }) => one)).toEqual([child])
  await put(two, 'a0', 7)
  expect(await put(one, 'a0', 8).then(() => rows.scanRows(entities))).toHaveLength(3)
  expect((await one.check()).problems).toEqual([])
  await Promise.all([one.close(), two.close()])
})

test('group-row/F1: a commit cut off since before the head of its group was swept enters nothing', async () => {
  const { rows, one, two, put, pass, keep, release } = await twoGateways()
  await put(one, 'b', 1)
  keep()
  const late = put(one, 'a', 1)
  const outcome = late.catch((error: unknown) => error)
  await pass(0.1)
  await put(two, 'a', 2)
  await put(two, 'a', undefined)
  await pass(7)
  const group = { range: { start: 'E', end: 'F' }, limit: 99, wanted: [{ family: 'h' }] } as const
  expect(await rows.scanRows(group), 'its head is swept').toHaveLength(1)
  release()
  await pass(0.1)
  expect(await outcome).toMatchObject({ code: 'UNAVAILABLE', committed: 'unknown' })
  const { missing } = await two.database('p').lookup(two.context(), { keys: [key('a')], read: {} })
  expect(missing).toHaveLength(1)
  await Promise.all([one.close(), two.close()])
})

test('sweep/SW2: rows that a gateway sends for an old commit do not come after the sweep of their deletion', async () => {
  let fate: 'done' | 'refused' | 'late' = 'done'
  const late: (() => void)[] = []
  const { one, two, put, pass } = await twoGateways(async ({ kind, key: row }, effect) => {
    if (fate === 'done' || kind !== 'mutate' || row.startsWith('M')) return effect()
    if (fate === 'refused') throw new DatastoreError('UNAVAILABLE', 'by the wish of this test')
    return await new Promise((resolve) => late.push(() => resolve(effect())))
  })
  await put(two, 'b', 1)
  fate = 'refused'
  await put(one, 'a', 1)
  await pass(1 / 12)
  // The other gateway has finished the commit, and struck it out.
  await put(two, 'a', undefined)
  await pass(50 / 60)
  // In the list again, and out of it soon after.
  await put(one, 'c', 1)
  fate = 'late'
  await pass(1 / 12)
  expect(late.length, 'rows on their way').toBeGreaterThan(0)
  fate = 'done'
  await pass(44 / 60)
  for (const land of late) land()
  await pass(1 / 12)
  expect((await two.check()).problems).toEqual([])
  await Promise.all([one.close(), two.close()])
})

test('a gateway that lives for an hour and a half sweeps in place of one that died with the lease', async () => {
  const { rows, scheduler, one, two, put, pass } = await twoGateways()
  await put(one, 'a', 1)
  await put(one, 'a', undefined)
  await pass(1.4)
  await one.close()
  await two.close()
  const facts = await rows.scanRows({ range: { start: 'M', end: 'N' }, limit: 99, wanted: [{ family: 'v' }] })
  const lease = facts.find(({ key }) => key.includes('sweep'))
  expect(lease).toBeDefined()
  const three = await openEngine({ store: severalGateways({ rows, gateway: 3 }), scheduler })
  await put(three, 'c', 1)
  await put(three, 'c', undefined)
  const before = await cellsIn(rows)
  await pass(1.5)
  expect(await cellsIn(rows)).toBeLessThan(before)
  await three.close()
})

test('rows of which the store answers only two at a time are swept', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const slow = rows.through(async (_, effect) => effect())
  const limits: number[] = []
  const scanRows = slow.scanRows.bind(slow)
  slow.scanRows = async (scan) => {
    const isSweep = scan.wanted.some(({ family }) => family === 'p')
    if (isSweep) limits.push(scan.limit)
    if (isSweep && scan.limit > 2) throw new DatastoreError('UNAVAILABLE', 'by the wish of this test')
    return await scanRows(scan)
  }
  const engine = await openEngine({ store: severalGateways({ rows: slow, gateway: 1 }), scheduler })
  for (const value of [1, undefined]) {
    for (let i = 0; i < 5; i++) {
      const mutations = [mutationOf(key(`a${i}`), value)]
      await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
    }
  }
  const before = await cellsIn(rows)
  for (let minutes = 0; minutes < 150; minutes += 5) await scheduler.advance(300_000)
  expect(limits).toContain(2)
  // The heads of the groups.
  expect([before > 5, await cellsIn(rows)]).toEqual([true, 5])
  await engine.close()
})

test('a sweep goes on where the store did not answer', async () => {
  const rows = new MemoryRows()
  const scheduler = new VirtualClock()
  const slow = rows.through(async (_, effect) => effect())
  const starts: string[] = []
  let refusals = 30
  const scanRows = slow.scanRows.bind(slow)
  slow.scanRows = async (scan) => {
    if (!scan.wanted.some(({ family }) => family === 'p')) return await scanRows(scan)
    if (scan.range.start.startsWith('K') && refusals-- > 0) {
      throw new DatastoreError('UNAVAILABLE', 'by the wish of this test')
    }
    starts.push(scan.range.start.slice(0, 1))
    return await scanRows(scan)
  }
  const engine = await openEngine({ store: severalGateways({ rows: slow, gateway: 1 }), scheduler })
  for (const value of [1, undefined]) {
    const mutations = [mutationOf(key('a'), value)]
    await engine.database('p').commit(engine.context(), { mode: 'nonTransactional', mutations })
  }
  for (let minutes = 0; minutes < 95; minutes += 5) await scheduler.advance(300_000)
  expect(refusals).toBeLessThan(0)
  expect(starts.toSorted()).toEqual([...new Set(starts)].toSorted())
  expect(starts).toContain('M')
  await engine.close()
})
