/** The client under faults: what is repeated, what is not, and what is never sent (table-client/TC3). */
import { constants } from 'node:http2'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Mutation, TableClient } from '../../src/client/table-client.ts'
import { OutcomeUnknown } from '../../src/row-store/row-store.ts'
import { FakeBigtable, type FakeMethod, type Fault } from '../support/fake-bigtable.ts'
import { clientOf, tableOf } from '../support/fake-client.ts'
import type { FakeTable } from '../support/fake-table.ts'

let fake: FakeBigtable
let table: FakeTable
let client: TableClient
let tables = 0

beforeAll(async () => {
  fake = await FakeBigtable.start(3)
})
afterAll(() => fake.close())
beforeEach(() => {
  fake.fault = () => undefined
  const name = `t${tables++}`
  table = tableOf(fake, name)
  client = clientOf(fake, name)
})

/** Faults of the next calls of a method. */
function faults(method: FakeMethod, ...next: readonly (Fault | undefined)[]): void {
  const left = [...next]
  fake.fault = (call) => (call.method === method ? left.shift() : undefined)
}

const callsOf = async (method: FakeMethod, work: () => Promise<unknown>): Promise<number> => {
  const before = fake.counts[method].calls
  await work()
  return fake.counts[method].calls - before
}

const put = (value: string): readonly Mutation[] => [
  {
    setCell: {
      familyName: 'v',
      columnQualifier: Buffer.alloc(0),
      timestampMicros: { low: 0, high: 0 },
      value: Buffer.from(value),
    },
  },
]
const valueIn = (key: string): string | undefined => table.read(key, undefined)[0]?.value.toString()
const ifAbsent = (key: string, value: string): Promise<boolean> =>
  client.checkAndMutateRow(key, { familyNameRegexFilter: 'v' }, { ifNone: put(value) })

describe('changes of rows', () => {
  const rows = ['a', 'b', 'c', 'd'].map((key) => ({ key, mutations: put(key) }))

  test('only the rows that were not acknowledged are sent again', async () => {
    faults('MutateRows', { type: 'cut', afterRows: 3 }, { type: 'refuse', code: 14 }, { type: 'goAway' })
    const before = fake.counts.MutateRows.rows
    expect(await callsOf('MutateRows', () => client.mutateRows(rows))).toBe(3)
    expect(['a', 'b', 'c', 'd'].map(valueIn)).toEqual(['a', 'b', 'c', 'd'])
    expect(fake.counts.MutateRows.rows - before).toBe(4)
  })

  test('a lost answer is asked for again', async () => {
    faults('MutateRows', { type: 'answerLost' }, { type: 'effectLate' })
    expect(await callsOf('MutateRows', () => client.mutateRows(rows))).toBe(3)
    expect(valueIn('d')).toBe('d')
  })

  test('a row that is refused is told from those that were changed', async () => {
    const wrong = { key: 'x', mutations: [{ deleteFromFamily: { familyName: 'nope' } }] }
    const refused = await client.mutateRows([...rows.slice(0, 1), wrong, ...rows.slice(1)])
    expect([...refused.keys()]).toEqual([1])
    expect(refused.get(1)).toMatchObject({ code: 'INVALID_ARGUMENT', message: expect.stringContaining('nope') })
    expect(valueIn('d')).toBe('d')
  })

  test('a Bigtable that stays silent is UNAVAILABLE, with its address and the last answer', async () => {
    fake.fault = () => ({ type: 'refuse', code: 14, message: 'out for lunch' })
    await expect(clientOf(fake, client.place.table, 1_000).mutateRows(rows)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(`emulator at ${fake.address}.*out for lunch`),
    })
  })
})

describe('conditional changes', () => {
  test('table-client/TC3: are sent once, and answer whether they happened', async () => {
    expect(await callsOf('CheckAndMutateRow', () => ifAbsent('a', '1'))).toBe(1)
    expect(await ifAbsent('a', '2')).toBe(true)
    expect(valueIn('a')).toBe('1')
  })

  const lost: readonly Fault[] = [
    { type: 'answerLost' },
    { type: 'answerLost', reset: constants.NGHTTP2_ENHANCE_YOUR_CALM },
    { type: 'answerLost', reset: constants.NGHTTP2_INADEQUATE_SECURITY },
    { type: 'effectLate' },
    { type: 'refuse', code: 14 },
    { type: 'refuse', code: 4 },
    { type: 'refuse', code: 2 },
    { type: 'refuse', code: 10 },
  ]
  test.each(lost)(
    'table-client/TC3: have an unknown outcome after $type $code $reset, and are not sent again',
    async (fault) => {
      faults('CheckAndMutateRow', fault)
      const calls = await callsOf('CheckAndMutateRow', async () => {
        await expect(ifAbsent('a', '1')).rejects.toBeInstanceOf(OutcomeUnknown)
      })
      expect(calls).toBe(1)
      fake.landLate()
      expect(valueIn('a')).toBe(fault.type === 'refuse' ? undefined : '1')
    },
  )

  test('table-client/TC3: that are refused have no unknown outcome', async () => {
    for (const [code, name] of [
      [8, 'RESOURCE_EXHAUSTED'],
      [9, 'FAILED_PRECONDITION'],
      [7, 'PERMISSION_DENIED'],
    ] as const) {
      faults('CheckAndMutateRow', { type: 'refuse', code })
      await expect(ifAbsent('a', '1')).rejects.toMatchObject({ name: 'DatastoreError', code: name })
    }
  })
})

test('a filter above the limit is refused before it is sent', async () => {
  const filter = { valueRangeFilter: { startValueClosed: Buffer.alloc(21_000) } }
  const reading = () => client.readRows({ rows: { keys: ['a'] }, filter })
  const calls = await callsOf('ReadRows', async () => {
    await expect(reading()).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('20480'),
    })
  })
  expect(calls).toBe(0)
})

test('a request for rows above the limit is refused before it is sent', async () => {
  const keys = Array.from({ length: 131 }, (_, i) => `${i}`.padStart(4_096, 'k'))
  const filter = { passAllFilter: true }
  expect(await client.readRows({ rows: { keys: keys.slice(0, 100) }, filter })).toEqual([])
  const calls = await callsOf('ReadRows', async () => {
    await expect(client.readRows({ rows: { keys }, filter })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('524288'),
    })
  })
  expect(calls).toBe(0)
})

test('each call names the table for its routing, and says that it understands reversed scans', async () => {
  await client.readRows({ rows: { keys: ['a'] }, filter: { passAllFilter: true } })
  expect(fake.lastHeaders).toMatchObject({
    'x-goog-request-params': `table_name=projects%2Fdemo%2Finstances%2Flocal%2Ftables%2F${client.place.table}`,
    'bigtable-features': 'CAE=',
  })
})
