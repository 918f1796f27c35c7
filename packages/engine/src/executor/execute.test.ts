import { describe, expect, test } from 'vitest'
import { ask, numbered } from '../../test/support/asked-page.ts'
import { systemScheduler } from '../clock.ts'
import { decodeProperties } from '../encoding/entity-codec.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { MemoryKv } from '../storage/memory-kv.ts'
import { entityRowKeyOf } from '../tables/entities.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import {
  and,
  entity,
  entityRows,
  index,
  key,
  type ModelEntity,
  or,
  type QueryWords,
  storeOf,
  where,
} from '../testing/query-world.ts'

function put(store: MemoryKv, each: ModelEntity): void {
  for (const { key: rowKey, value } of entityRows(each)) store.mutate({ key: rowKey, value })
}

function remove(store: MemoryKv, each: ModelEntity): void {
  for (const { key: rowKey } of entityRows(each)) store.mutate({ key: rowKey, value: undefined })
}

describe('a cursor', () => {
  const words: QueryWords = { kind: 'A', filter: where('all', '=', true) }

  test('survives what happens around it', () => {
    const entities = numbered(6)
    const store = storeOf(entities)
    const { page } = ask(store, { ...words, limit: 3 })
    remove(store, entity('A:3', { p: 2n, all: true }))
    remove(store, entity('A:4', { p: 0n, all: true }))
    put(store, entity('A:2/A:9', { all: true }))
    put(store, entity('A:4/A:1', { all: true }))
    expect(ask(store, { ...words, startCursor: page.endCursor }).keys).toEqual(['A:4/A:1', 'A:5', 'A:6'])
  })

  test('survives a change of plan', () => {
    const index: CompositeIndex = {
      id: 1n,
      kind: 'A',
      ancestor: false,
      properties: [
        { name: 'all', direction: 'ascending' },
        { name: 'p', direction: 'ascending' },
      ],
    }
    const entities = numbered(9)
    const both: QueryWords = { kind: 'A', filter: and(where('all', '=', true), where('p', '=', 1n)) }
    const { page, keys } = ask(storeOf(entities), { ...both, limit: 1 })
    const rest = ask(storeOf(entities, [index]), { ...both, startCursor: page.endCursor }, { indexes: [index] })
    expect([...keys, ...rest.keys]).toEqual(['A:2', 'A:5', 'A:8'])
  })

  test('of an empty answer continues when results come', () => {
    const store = storeOf([])
    const { endCursor } = ask(store, words).page
    put(store, entity('A:1', { all: true }))
    expect(ask(store, { ...words, startCursor: endCursor }).keys).toEqual(['A:1'])
  })

  test('of another query is refused, and so are bytes that are none', () => {
    const store = storeOf(numbered(3))
    const { endCursor } = ask(store, { ...words, limit: 1 }).page
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT' })
    expect(() => ask(store, { kind: 'A', startCursor: endCursor })).toThrow(refused)
    expect(() => ask(store, { kind: 'A', startCursor: endCursor })).toThrow(/belongs to another query/)
    const altered = [
      endCursor.subarray(0, endCursor.length - 1),
      Uint8Array.from([...endCursor, 0]),
      Uint8Array.from(endCursor, (byte, i) => (i === 0 ? 9 : byte)),
      Uint8Array.of(2, 2, 3),
      Uint8Array.from(endCursor, (byte, i) => (i === 1 ? 7 : byte)),
      Uint8Array.from(endCursor, (byte, i) => (i === 1 ? 0 : byte)),
      Uint8Array.from(endCursor, (byte, i) => (i === 6 ? 0x77 : byte)),
    ]
    const older = Uint8Array.from(endCursor, (byte, i) => (i === 0 ? 1 : byte))
    expect(() => ask(store, { ...words, startCursor: older })).toThrow(
      /earlier version of sixtables: begin the query again/,
    )
    for (const bytes of altered) {
      expect(() => ask(store, { ...words, startCursor: bytes })).toThrow(refused)
      expect(() => ask(store, { ...words, endCursor: bytes })).toThrow(/cannot be read/)
    }
  })

  // Measured on Google's legacy emulator, and on the Firestore emulator but for the order of equal values and for arrays.
  describe('in a query with other directions', () => {
    const letters: [string, bigint, bigint[]][] = [
      ['a', 1n, [1n, 5n]],
      ['b', 1n, [2n]],
      ['c', 2n, [1n, 3n]],
      ['d', 2n, [4n, 2n]],
      ['e', 2n, [3n]],
      ['f', 3n, [2n, 6n]],
    ]
    const entities = letters.map(([name, x, tags], i) => entity(`A:"${name}"`, { x, y: BigInt(i % 2), tags }))
    const pair = (x: 'ascending' | 'descending', y: 'ascending' | 'descending', id: bigint): CompositeIndex => ({
      id,
      kind: 'A',
      ancestor: false,
      properties: [
        { name: 'x', direction: x },
        { name: 'y', direction: y },
      ],
    })
    const indexes = [pair('ascending', 'ascending', 1n), pair('descending', 'descending', 2n)]
    indexes.push(pair('descending', 'ascending', 3n), pair('ascending', 'descending', 4n))
    const store = storeOf(entities, indexes)
    const all = ['x', 'y']
    const letter = (words: QueryWords): string =>
      ask(store, { kind: 'A', ...words }, { indexes })
        .keys.map((each) => each[3])
        .join('')

    test.each<[string, QueryWords, QueryWords, string, number, string, string]>([
      ['ties', { order: ['x'] }, { order: ['x desc'] }, 'abcdef', 2, 'cdeab', 'f'],
      ['ties from the descending order', { order: ['x desc'] }, { order: ['x'] }, 'fcdeab', 2, 'def', 'abc'],
      ['ties, the key reversed', { order: ['x desc'] }, { order: ['x', '__key__ desc'] }, 'fcdeab', 2, 'dcf', 'bae'],
      ['arrays', { order: ['tags'] }, { order: ['tags desc'] }, 'acbdfe', 2, 'b', 'fadce'],
      ['two orders', { order: ['x', 'y desc'] }, { order: ['x desc', 'y'] }, 'badcef', 2, 'dab', 'fce'],
      ['the second order', { order: ['x', 'y'] }, { order: ['x', 'y desc'] }, 'abcedf', 2, 'ef', 'badc'],
      [
        'projections',
        { projection: all, order: ['x', 'y'] },
        { projection: all, order: ['x desc', 'y desc'] },
        'abcedf',
        2,
        'ceba',
        'fd',
      ],
      [
        'projections without an order',
        { projection: all },
        { projection: all, order: ['x desc'] },
        'abcedf',
        2,
        'cedab',
        'f',
      ],
    ])('is at the same result: %s', (_, given, taken, whole, at, behind, before) => {
      expect(letter(given)).toBe(whole)
      const cursor = ask(store, { kind: 'A', ...given }, { indexes }).page.results[at]?.cursor ?? new Uint8Array()
      expect(letter({ ...taken, startCursor: cursor })).toBe(behind)
      expect(letter({ ...taken, endCursor: cursor })).toBe(before)
    })

    test('is refused where other properties are ordered', () => {
      const { endCursor } = ask(store, { kind: 'A', order: ['x'] }).page
      expect(() => ask(store, { kind: 'A', order: ['y'], startCursor: endCursor })).toThrow(
        /directions of orders may differ/,
      )
      expect(() => ask(store, { kind: 'A', startCursor: endCursor })).toThrow(/cursor does not match query/)
    })
  })

  test('without bytes is none', () => {
    expect(
      ask(storeOf(numbered(2)), { kind: 'A', startCursor: new Uint8Array(), endCursor: new Uint8Array() }).keys,
    ).toHaveLength(2)
  })
})

describe('an entity with arrays', () => {
  const store = storeOf([
    entity('A:1', { p: [5n, 1n] }),
    entity('A:2', { p: 3n }),
    entity('A:3', { p: [2n, 4n], q: 1n }),
  ])

  test.each<[string, QueryWords, string[]]>([
    ['first value upwards', { order: ['p'] }, ['A:1', 'A:3', 'A:2']],
    ['last value downwards', { order: ['p desc'] }, ['A:1', 'A:3', 'A:2']],
    ['first value that matches', { filter: where('p', '>', 2n) }, ['A:2', 'A:3', 'A:1']],
    [
      'first value that matches any part',
      { filter: or(where('p', '<', 2n), where('p', '>', 2n)) },
      ['A:1', 'A:2', 'A:3'],
    ],
    [
      'first value that matches a part whose keys include it',
      { filter: or(and(where('p', '<', 2n), where('__key__', '>', key('A:1'))), where('p', '>', 2n)) },
      ['A:2', 'A:3', 'A:1'],
    ],
    ['key, where values do not order', { filter: or(where('p', '=', 5n), where('p', '=', 1n)) }, ['A:1']],
  ])('stands at its %s', (_, words, keys) => {
    expect(ask(store, { kind: 'A', ...words }).keys).toEqual(keys)
  })

  test('has a result for each value in a projection', () => {
    expect(ask(store, { kind: 'A', projection: ['p'] }).keys).toEqual(['A:1', 'A:3', 'A:2', 'A:3', 'A:1'])
    expect(ask(store, { kind: 'A', projection: ['p'], distinctOn: ['p'], filter: where('p', '>', 4n) }).keys).toEqual([
      'A:1',
    ])
  })

  test('is read once, only then, and not again for the result', () => {
    const { ledger } = ask(store, { kind: 'A', order: ['p'] })
    expect(ledger.rowsRead).toBe(5 + 4 + 1)
  })
})

describe('between the milestones', () => {
  const before = entity('A:1', { p: 1n })
  const after = entity('A:1', { p: 9n })

  /** The entity row is written, the index rows are not. */
  function halfApplied(): MemoryKv {
    const store = storeOf([before, entity('A:2', { p: 2n })])
    for (const { table, key: rowKey, value } of entityRows(after))
      if (table === 'Entities') store.mutate({ key: rowKey, value })
    return store
  }

  test('a stale row brings the entity, as it is now, to where it was', () => {
    const { page, keys } = ask(halfApplied(), { kind: 'A', order: ['p'] })
    expect(keys).toEqual(['A:1', 'A:2'])
    const image = page.results[0]?.image
    expect(image?.properties).toEqual(ask(storeOf([after]), { kind: 'A' }).page.results[0]?.image?.properties)
    expect(ask(halfApplied(), { kind: 'A', filter: where('p', '=', 9n) }).keys).toEqual([])
  })

  test('stale rows of an array are returned as they are', () => {
    const store = storeOf([entity('A:1', { p: [1n, 2n] })])
    for (const { table, key: rowKey, value } of entityRows(after))
      if (table === 'Entities') store.mutate({ key: rowKey, value })
    expect(ask(store, { kind: 'A', order: ['p'] }).keys).toEqual(['A:1', 'A:1'])
  })

  test('a row without entity gives a key, and no entity', () => {
    const store = storeOf([before, entity('A:2', { p: [2n, 3n] })])
    for (const each of ['A:1', 'A:2']) store.mutate({ key: entityRowKeyOf(key(each)), value: undefined })
    const ordered: QueryWords = { kind: 'A', order: ['p'] }
    expect(ask(store, { ...ordered, projection: ['__key__'] }).keys).toEqual(['A:1', 'A:2', 'A:2'])
    const { page } = ask(store, { ...ordered, limit: 1 })
    expect([page.results, page.moreResults]).toEqual([[], 'noMoreResults'])
    expect(ask(store, { ...ordered, startCursor: page.endCursor }).keys).toEqual([])
  })
})

describe('cost', () => {
  test('an equality with a limit reads one index row more than results', () => {
    const store = storeOf(numbered(1000))
    const { ledger } = ask(store, { kind: 'A', filter: where('all', '=', true), limit: 20, projection: ['__key__'] })
    expect(ledger.rowsRead).toBe(21)
  })

  test('a join of a rare and a common value follows the rare one', () => {
    const many = Array.from({ length: 2000 }, (_, i) => entity(`A:${i + 1}`, { common: true, rare: i % 500 === 0 }))
    const filter = and(where('common', '=', true), where('rare', '=', true))
    const { keys, ledger } = ask(storeOf(many), { kind: 'A', filter, projection: ['__key__'] })
    expect(keys).toEqual(['A:1', 'A:501', 'A:1001', 'A:1501'])
    expect(ledger.rowsRead).toBeLessThan(30)
  })

  test('a join that goes on side by side reads on instead of seeking', () => {
    const many = Array.from({ length: 600 }, (_, i) => entity(`A:${i + 1}`, { half: i % 2 === 0, third: i % 3 === 0 }))
    let seeks = 0
    const view = new KvTableView(storeOf(many))
    const counting: TableView = {
      get: (context, table, rowKey) => view.get(context, table, rowKey),
      scan(context, table, range, options) {
        const scan = view.scan(context, table, range, options)
        return {
          next: (count) => scan.next(count),
          seek(to) {
            seeks++
            scan.seek(to)
          },
          close: () => scan.close(),
        }
      },
    }
    const filter = and(where('half', '=', true), where('third', '=', true))
    expect(ask(counting, { kind: 'A', filter, projection: ['__key__'] }).keys).toHaveLength(100)
    expect(seeks).toBeLessThan(5)
  })

  test('distinct seeks from combination to combination', () => {
    const many = Array.from({ length: 3000 }, (_, i) => entity(`A:${i + 1}`, { p: BigInt(i % 3) }))
    const { keys, ledger } = ask(storeOf(many), { kind: 'A', projection: ['p'], distinctOn: ['p'] })
    expect(keys).toEqual(['A:1', 'A:2', 'A:3'])
    expect(ledger.rowsRead).toBeLessThan(30)
  })

  test('ranges of values are passed over by a seek', () => {
    const many = Array.from({ length: 1000 }, (_, i) => entity(`A:${i + 1}`, { p: BigInt(i) }))
    const { keys, ledger } = ask(storeOf(many), {
      kind: 'A',
      filter: where('p', 'in', [1n, 500n, 998n]),
      order: ['p desc'],
    })
    expect(keys).toEqual(['A:999', 'A:501', 'A:2'])
    expect(ledger.rowsRead).toBeLessThan(100)
  })
})

test('backwards, a row on the edge of a gap does not hold up the scan', () => {
  const store = storeOf([entity('A:1'), entity('A:2'), entity('A:3')])
  const words: QueryWords = { kind: 'A', filter: where('__key__', '!=', key('A:2')), order: ['__key__ desc'] }
  expect(ask(store, words).keys).toEqual(['A:3', 'A:1'])
  const { endCursor } = ask(store, { ...words, limit: 1 }).page
  expect(ask(store, { ...words, startCursor: endCursor }).keys).toEqual(['A:1'])
})

describe('a caller who no longer waits', () => {
  test('stops a query between batches, and its scans are closed', () => {
    const view = new KvTableView(storeOf(numbered(200)))
    let now = 0
    let open = 0
    const watched: TableView = {
      get: (context, table, rowKey) => view.get(context, table, rowKey),
      scan(context, table, range, options) {
        const scan = view.scan(context, table, range, options)
        open++
        return {
          next(count) {
            now += 10
            return scan.next(count)
          },
          seek: (to) => scan.seek(to),
          close() {
            open--
            scan.close()
          },
        }
      },
    }
    const clock = { ...systemScheduler, steadyMs: () => now }
    const asked = () => ask(watched, { kind: 'A', filter: where('p', 'in', [0n, 1n]) }, {}, { clock, deadlineAt: 25 })
    expect(asked).toThrow(expect.objectContaining({ code: 'DEADLINE_EXCEEDED' }))
    expect(open).toBe(0)
  })
})

test('a projection gives values as index rows have them, and marks them', () => {
  const blob = { type: 'blob', value: Uint8Array.of(97) } as const
  const noText = { type: 'blob', value: Uint8Array.of(255) } as const
  const time = { type: 'timestamp', micros: 5n } as const
  const definition = index('A(p desc, q)')
  const entities = [
    entity('A:1', { p: blob, q: time }),
    entity('A:2', { p: 'a', q: 5n }),
    entity('A:3', { p: noText, q: 6n }),
  ]
  const store = storeOf(entities, [definition])
  const { page } = ask(store, { kind: 'A', projection: ['q', 'p'], order: ['p desc'] }, { indexes: [definition] })
  const projected = page.results.map((result) => [...decodeProperties(result.projected ?? new Uint8Array())])
  const five = ['q', { type: 'integer', value: 5n, meaning: 18 }]
  const text = ['p', { type: 'string', value: 'a', meaning: 18 }]
  expect(projected).toEqual([
    [
      ['q', { type: 'integer', value: 6n, meaning: 18 }],
      ['p', { ...noText, meaning: 18 }],
    ],
    [five, text],
    [five, text],
  ])
})

test('a full result is the entity as stored', () => {
  const stored = entity('A:1/B:"x"', { p: [1n, 'a'], q: null })
  const { page } = ask(storeOf([stored]), { kind: 'B' })
  expect(page.results[0]?.key).toEqual(stored.key)
  expect(keyCodes(page.results[0]?.key ?? stored.key)).toEqual(keyCodes(stored.key))
  expect(page.results[0]?.image).toMatchObject({ version: 7n, createTime: 1n, updateTime: 2n })
})
