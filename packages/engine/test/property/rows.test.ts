/** Laws of tables/rows.ts, named rows/R1 and rows/R2 there. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IndexEntry } from '../../src/encoding/index-entry.ts'
import { keyCodes } from '../../src/encoding/key-codec.ts'
import { keySpaceOf, keySpaces } from '../../src/encoding/keyspace.ts'
import { encodeText } from '../../src/encoding/ordered.ts'
import { typeBytes, valueCode } from '../../src/encoding/value-codec.ts'
import type { CompositeIndex } from '../../src/model/index-definition.ts'
import {
  appendIndexRows,
  indexRowDifference,
  indexRowsOf,
  propertyRowsOf,
  rowDifference,
  rowsOf,
  tableOfRow,
} from '../../src/tables/rows.ts'
import type { TableRow } from '../../src/tables/table.ts'
import { fewValues, keys } from '../../src/testing/arbitraries.ts'

const index: CompositeIndex = {
  id: 1n,
  kind: 'A',
  ancestor: true,
  properties: [
    { name: 'a', direction: 'ascending' },
    { name: 'b', direction: 'descending' },
  ],
}

const entryLists: fc.Arbitrary<IndexEntry[]> = fc
  .record({
    a: fc.uniqueArray(fewValues, { maxLength: 3, selector: valueCode }),
    b: fc.uniqueArray(fewValues, { maxLength: 2, selector: valueCode }),
  })
  .map((byName) =>
    Object.entries(byName).flatMap(([property, own]) =>
      own.map((value) => ({
        property,
        valueCode: valueCode(value),
        type: typeBytes[value.type],
        multi: own.length > 1,
      })),
    ),
  )

const states = fc.option(
  fc.tuple(entryLists, fc.option(fc.constantFrom(Uint8Array.of(1, 22), Uint8Array.of(7, 43)), { nil: undefined })),
)

const asMap = (rows: readonly TableRow[]): Map<string, string> =>
  new Map(rows.map((row) => [row.key, `${row.table} ${row.value.join(' ')}`]))

function applied(rows: readonly TableRow[], from: readonly TableRow[], to: readonly TableRow[]): Map<string, string> {
  const { puts, deletes } = rowDifference(from, to)
  const store = asMap(rows)
  for (const row of deletes) expect(store.delete(row.key)).toBe(true)
  for (const [rowKey, value] of asMap(puts)) {
    expect(store.get(rowKey)).not.toBe(value)
    store.set(rowKey, value)
  }
  return store
}

test('rows/R2: a difference turns the rows before into those after, touches no row that stays, and can be taken back', () => {
  fc.assert(
    fc.property(keys, states, states, (key, before, after) => {
      const [from, to] = [before, after].map((state) =>
        state === null ? [] : indexRowsOf(keyCodes(key), state[0], [index], state[1]),
      )
      const [rowsBefore, rowsAfter] = [from ?? [], to ?? []]
      expect(applied(rowsBefore, rowsBefore, rowsAfter)).toEqual(asMap(rowsAfter))
      expect(applied(rowsAfter, rowsAfter, rowsBefore)).toEqual(asMap(rowsBefore))
    }),
    { numRuns: 500 },
  )
})

test('rows/R1: rows are distinct, say their table, and are those of the entity and its index entries', () => {
  fc.assert(
    fc.property(keys, entryLists, (key, entries) => {
      const image = { version: 1n, createTime: 2n, updateTime: 3n, properties: Uint8Array.of(0x1a, 0) }
      const rows = rowsOf(keyCodes(key), image, entries, [index])
      expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length)
      for (const row of rows) expect([keySpaceOf(row.key), tableOfRow(row.key)]).toEqual([row.table, row.table])
      const count = (table: string): number => rows.filter((row) => row.table === table).length
      expect([count('Entities'), count('EntitiesByKind')]).toEqual([1, 1])
      expect(count('EntitiesByPropertyAsc')).toBe(entries.length)
      expect(count('EntitiesByPropertyDesc')).toBe(entries.length)
      expect(rows).toEqual(rowsOf(keyCodes(key), image, entries, [index]))
      expect(rowsOf(keyCodes(key), undefined, entries, [index])).toEqual([])
    }),
  )
})

test('the rows of one property table are those among all rows', () => {
  fc.assert(
    fc.property(keys, entryLists, (key, entries) => {
      const codes = keyCodes(key)
      const all = indexRowsOf(codes, entries, [])
      for (const table of ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc'] as const) {
        expect(propertyRowsOf(table, codes, entries)).toEqual(all.filter((row) => row.table === table))
      }
    }),
  )
})

test('rows/R3: the difference made from entries is that of all rows, in short lists and long ones', () => {
  const other: CompositeIndex = { ...index, id: 2n, properties: [{ name: 'c', direction: 'ascending' }] }
  const many: IndexEntry[] = Array.from({ length: 40 }, (_, i) => ({
    property: 'c',
    valueCode: valueCode({ type: 'integer', value: BigInt(i) }),
    type: typeBytes.integer,
    multi: true,
  }))
  const lists = fc.tuple(entryLists, fc.boolean(), fc.boolean()).map(([entries, long, reversed]) => {
    const all = long ? [...entries, ...many] : entries
    return reversed ? all.reverse() : all
  })
  fc.assert(
    fc.property(keys, lists, lists, (key, before, after) => {
      const codes = keyCodes(key)
      const indexes = [index, other]
      const whole = rowDifference(indexRowsOf(codes, before, indexes), indexRowsOf(codes, after, indexes))
      const quick = indexRowDifference(codes, before, after, indexes)
      expect(asMap(quick.puts)).toEqual(asMap(whole.puts))
      expect(asMap(quick.deletes)).toEqual(asMap(whole.deletes))
      expect(quick.puts).toHaveLength(whole.puts.length)
      expect(quick.deletes).toHaveLength(whole.deletes.length)
    }),
    { numRuns: 300 },
  )
})

test('of the rows that a store keeps the others are counted, and nothing else changes', () => {
  const part = fc.constantFrom('none', 'a', 'all')
  fc.assert(
    fc.property(keys, states, states, part, part, (key, before, after, up, down) => {
      const codes = keyCodes(key)
      const kept = new Map<string, 'all' | ReadonlySet<string>>()
      for (const [table, how] of [
        ['EntitiesByPropertyAsc', up],
        ['EntitiesByPropertyDesc', down],
      ] as const) {
        const head = keySpaces[table] + codes.partition + codes.kind
        if (how !== 'none') kept.set(head, how === 'all' ? 'all' : new Set([head + encodeText(how)]))
      }
      const isKept = ({ table, key: row }: TableRow): boolean => {
        if (table !== 'EntitiesByPropertyAsc' && table !== 'EntitiesByPropertyDesc') return true
        const own = kept.get(keySpaces[table] + codes.partition + codes.kind)
        return own === 'all' || [...(own ?? [])].some((head) => row.startsWith(head))
      }
      const sorted = (rows: readonly TableRow[]) => [...asMap(rows.filter(isKept))].sort()
      const [entries = [], scatter] = after ?? []
      const all = indexRowsOf(codes, entries, [index], scatter)
      const some: TableRow[] = []
      expect(appendIndexRows(some, codes, entries, [index], scatter, kept)).toBe(all.length)
      expect(sorted(some)).toEqual(sorted(all))
      expect(some.filter(isKept)).toHaveLength(some.length)
      const [entriesBefore = []] = before ?? []
      const told: [string[], string[]] = [[], []]
      const note = (to: string[]) => (_: TableRow, fresh: TableRow) => void to.push(fresh.key)
      const whole = indexRowDifference(codes, entriesBefore, entries, [index], note(told[0]))
      const part = indexRowDifference(codes, entriesBefore, entries, [index], note(told[1]), kept)
      expect(part.count).toBe(whole.count)
      expect(told[1]).toEqual(told[0])
      expect(sorted(part.puts)).toEqual(sorted(whole.puts))
      expect(sorted(part.deletes)).toEqual(sorted(whole.deletes))
    }),
    { numRuns: 300 },
  )
})
