/**
 * ReadRows over answers that are cut anywhere: values and rows in pieces, rows taken back, streams that end early, connections that go
 * away.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../../../scripts/deep.ts'
import type { Mutation } from '../../src/client/table-client.ts'
import { FakeBigtable, type Fault } from '../support/fake-bigtable.ts'
import { clientOf, tableOf } from '../support/fake-client.ts'

let fake: FakeBigtable
beforeAll(async () => {
  fake = await FakeBigtable.start(7)
})
afterAll(() => fake.close())

const keyArbitrary = fc.string({
  minLength: 1,
  maxLength: 3,
  unit: fc.constantFrom('\x00', 'a', 'b', 'k', '\x80', '\xff'),
})
const cellsArbitrary = fc.dictionary(
  fc.constantFrom('h', 'l', 'v'),
  fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 3 }),
  { minKeys: 1 },
)
const faultArbitrary: fc.Arbitrary<Fault | undefined> = fc.oneof(
  fc.record({ type: fc.constant('cut' as const), afterRows: fc.nat(3) }),
  fc.constant({ type: 'goAway' as const }),
  fc.constant({ type: 'refuse' as const, code: 14 }),
  fc.constant(undefined),
)

function bytesOf(key: string, family: string, at: number): Buffer {
  return Buffer.from(`${key} ${family} ${at} `.repeat(at), 'latin1')
}

let tables = 0

test('a read gives each row once, whole and in order, however its answers are cut', async () => {
  const law = fc.asyncProperty(
    fc.dictionary(keyArbitrary, cellsArbitrary, { maxKeys: 12 }),
    fc.array(faultArbitrary, { maxLength: 6 }),
    fc.boolean(),
    fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
    fc.boolean(),
    async (rows, faults, reverse, limit, byKeys) => {
      const name = `rows${tables++}`
      const table = tableOf(fake, name)
      for (const [key, families] of Object.entries(rows)) {
        const mutations = Object.entries(families).flatMap(([familyName, times]) =>
          times.map((at) => ({
            setCell: {
              familyName,
              columnQualifier: Buffer.alloc(0),
              timestampMicros: BigInt(at) * 1000n,
              value: bytesOf(key, familyName, at),
            },
          })),
        )
        table.mutate(key, mutations as unknown as Mutation[], 0n)
      }
      const left = [...faults]
      fake.fault = () => left.shift()
      const client = clientOf(fake, name)
      const keys = Object.keys(rows)
      const wanted = byKeys ? { keys: [...keys, '\xff\xff\xff\xff'] } : { start: '', end: '' }
      const read = await client.readRows({
        rows: wanted,
        filter: { passAllFilter: true },
        reverse,
        ...(limit === undefined ? {} : { limit }),
      })
      const sorted = keys.sort((a, b) => (a < b === reverse ? 1 : -1)).slice(0, limit)
      const expected = sorted.map((key) => ({
        key,
        cells: Object.entries(rows[key] ?? {})
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .flatMap(([family, times]) =>
            [...times]
              .sort((a, b) => b - a)
              .map((at) => ({
                family,
                micros: BigInt(at) * 1000n,
                value: bytesOf(key, family, at).toString('latin1'),
              })),
          ),
      }))
      const found = read.map(({ key, cells }) => ({
        key,
        cells: cells.map((cell) => ({ ...cell, value: Buffer.from(cell.value).toString('latin1') })),
      }))
      expect(found).toEqual(expected)
    },
  )
  await fc.assert(law, { numRuns: runs(150) })
})
