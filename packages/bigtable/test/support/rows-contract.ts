/**
 * The contract of every store of wide rows (row-store/RS1, row-store/RS2), as cases that each get a handle of an empty store.
 *
 *   for (const { name, run } of rowsContract) it(name, async () => run(await openEmptyStore()))
 */
import assert from 'node:assert/strict'
import { DatastoreError } from '@sixtables/engine'
import {
  type Cell,
  type CellChange,
  type Family,
  newestIs,
  type RowScan,
  type RowStore,
  rowKeyBytesMax,
  type Wanted,
} from '../../src/row-store/row-store.ts'

export interface RowsContractCase {
  readonly name: string
  /** Rejects with an AssertionError where the store does not keep the contract. The store is closed by its caller. */
  run(rows: RowStore): Promise<void>
}

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
const set = (family: Family, at: bigint, ...value: number[]): CellChange => ({
  type: 'set',
  family,
  at,
  value: bytes(...value),
})
const everything = { start: '', end: '\xff\xff\xff\xff' } as const
const allOfV: Wanted = [{ family: 'v' }]

/** Cells as `[timestamp, ...bytes]`. */
const plain = (cells: readonly Cell[] | undefined): number[][] =>
  (cells ?? []).map(({ at, value }) => [Number(at), ...value])

function on(rows: RowStore) {
  return {
    change: (key: string, ...changes: CellChange[]): Promise<void> => rows.mutateRows([{ key, changes }]),
    cellsOf: async (key: string, family: Family = 'v', wanted: Wanted = [{ family }]): Promise<number[][]> =>
      plain((await rows.readRows([key], wanted)).get(key)?.cells[family]),
    keysOf: async (scan: Partial<RowScan> = {}): Promise<string[]> =>
      (await rows.scanRows({ range: everything, limit: 100, wanted: allOfV, ...scan })).map(({ key }) => key),
  }
}

export const rowsContract: readonly RowsContractCase[] = [
  {
    name: 'row-store/RS2: gives the cells of a family, newest first, and no row where none is wanted',
    run: async (rows) => {
      const { change, cellsOf } = on(rows)
      await change('a', set('v', 5n, 1), set('v', 9n, 2), set('v', 7n), set('h', 0n, 8))
      assert.deepEqual(await cellsOf('a'), [[9, 2], [7], [5, 1]])
      assert.deepEqual(await cellsOf('a', 'h'), [[0, 8]])
      const found = await rows.readRows(['b', 'a', 'a'], [{ family: 'v' }, { family: 'h' }])
      assert.deepEqual([...found.keys()], ['a'])
      assert.deepEqual(Object.keys(found.get('a')?.cells ?? {}).sort(), ['h', 'v'])
      assert.deepEqual((await rows.readRows(['a'], [{ family: 'l' }])).size, 0)
      assert.deepEqual((await rows.readRows([], allOfV)).size, 0)
    },
  },
  {
    name: 'chooses cells by timestamp and number, with or without their values',
    run: async (rows) => {
      const { change, cellsOf } = on(rows)
      await change('a', ...[1n, 2n, 3n, 4n, 5n].map((at) => set('v', at, Number(at))))
      const chosen = (wanted: object): Promise<number[][]> => cellsOf('a', 'v', [{ family: 'v', ...wanted }])
      assert.deepEqual(await chosen({ from: 2n, until: 5n }), [
        [4, 4],
        [3, 3],
        [2, 2],
      ])
      assert.deepEqual(await chosen({ until: 5n, newest: 1 }), [[4, 4]])
      assert.deepEqual(await chosen({ from: 4n, withoutValues: true }), [[5], [4]])
      assert.deepEqual(await chosen({ from: 6n }), [])
    },
  },
  {
    name: 'keeps timestamps up to 2^53, keys of any bytes, and empty and long values',
    run: async (rows) => {
      const key = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))
      const late = 2n ** 53n
      const long = new Uint8Array(300_000).map((_, i) => i % 251)
      await rows.mutateRows([{ key, changes: [set('v', late), { type: 'set', family: 'l', at: 0n, value: long }] }])
      const row = (await rows.readRows([key], [{ family: 'v' }, { family: 'l' }])).get(key)
      assert.deepEqual(row?.cells.v?.[0]?.at, late)
      assert.deepEqual(row?.cells.v?.[0]?.value.length, 0)
      assert.deepEqual(Buffer.compare(row?.cells.l?.[0]?.value ?? bytes(), long), 0)
    },
  },
  {
    name: 'refuses a row key above the limit',
    run: async (rows) => {
      const { change, cellsOf } = on(rows)
      const key = 'k'.repeat(rowKeyBytesMax)
      await change(key, set('v', 0n, 1))
      assert.deepEqual(await cellsOf(key), [[0, 1]])
      const long = `${key}k`
      await assert.rejects(change(long, set('v', 0n, 1)), DatastoreError)
      await assert.rejects(rows.mutateRowIf(long, newestIs('v', undefined), [set('v', 0n, 1)]), /4097/)
    },
  },
  {
    name: 'replaces a cell of the same timestamp, and takes changes of a row in their order',
    run: async (rows) => {
      const { change, cellsOf } = on(rows)
      await change('a', set('v', 1n, 1), set('v', 2n, 2))
      await change('a', set('v', 1n, 9))
      assert.deepEqual(await cellsOf('a'), [
        [2, 2],
        [1, 9],
      ])
      await change('a', { type: 'delete', family: 'v', until: 2n }, set('v', 1n, 5))
      assert.deepEqual(await cellsOf('a'), [
        [2, 2],
        [1, 5],
      ])
      await change('a', set('v', 3n, 3), { type: 'delete', family: 'v', from: 2n, until: 3n })
      assert.deepEqual(await cellsOf('a'), [
        [3, 3],
        [1, 5],
      ])
    },
  },
  {
    name: 'deletes a family, and a row; deleting what is not there is no error',
    run: async (rows) => {
      const { change, cellsOf, keysOf } = on(rows)
      await change('a', set('v', 1n, 1), set('p', 4n, 2))
      await change('a', { type: 'delete', family: 'p' }, { type: 'delete', family: 'l' })
      assert.deepEqual(await cellsOf('a', 'p'), [])
      await change('a', { type: 'deleteRow' })
      await change('b', { type: 'deleteRow' })
      assert.deepEqual(await keysOf(), [])
    },
  },
  {
    name: 'scans in the order of unsigned bytes, forwards and backwards, up to a limit',
    run: async (rows) => {
      const { keysOf } = on(rows)
      const keys = ['\x00', '\x00\xff', 'a', 'a\x00', 'ab', 'b', '\x7f', '\x80', '\xfe']
      await rows.mutateRows([...keys].reverse().map((key) => ({ key, changes: [set('v', 1n, 1)] })))
      assert.deepEqual(await keysOf(), keys)
      assert.deepEqual(await keysOf({ reverse: true }), [...keys].reverse())
      assert.deepEqual(await keysOf({ limit: 2 }), keys.slice(0, 2))
      assert.deepEqual(await keysOf({ limit: 2, reverse: true }), ['\xfe', '\x80'])
      assert.deepEqual(await keysOf({ range: { start: 'a', end: 'b' } }), ['a', 'a\x00', 'ab'])
      assert.deepEqual(await keysOf({ range: { start: 'a', end: 'b' }, reverse: true, limit: 1 }), ['ab'])
      assert.deepEqual(await keysOf({ range: { start: 'b', end: 'b' } }), [])
    },
  },
  {
    name: 'leaves rows without a wanted cell out of scans, beyond the limit too',
    run: async (rows) => {
      const { change, keysOf } = on(rows)
      for (const key of ['a', 'b', 'c']) await change(key, set('h', 0n, 1))
      await change('d', set('v', 3n, 1))
      await change('e', set('v', 9n))
      assert.deepEqual(await keysOf({ limit: 1 }), ['d'])
      assert.deepEqual(await keysOf({ wanted: [{ family: 'v', from: 4n }] }), ['e'])
      assert.deepEqual(await keysOf({ wanted: [{ family: 'v', until: 4n, newest: 1 }] }), ['d'])
    },
  },
  {
    name: 'row-store/RS1: changes a row only if its newest cell has the expected value',
    run: async (rows) => {
      const { cellsOf } = on(rows)
      const is = newestIs('h', bytes(7))
      assert.deepEqual(await rows.mutateRowIf('a', is, [set('v', 1n, 1)]), false)
      assert.deepEqual(await cellsOf('a'), [])
      assert.deepEqual(await rows.mutateRowIf('a', newestIs('h', undefined), [set('h', 0n, 7), set('v', 1n, 1)]), true)
      assert.deepEqual(await rows.mutateRowIf('a', newestIs('h', undefined), [set('v', 2n, 2)]), false)
      assert.deepEqual(await rows.mutateRowIf('a', is, [set('h', 0n, 7, 0), set('p', 1n, 1)]), true)
      assert.deepEqual(await rows.mutateRowIf('a', is, [{ type: 'deleteRow' }]), false)
      assert.deepEqual(await cellsOf('a', 'p'), [[1, 1]])
      assert.deepEqual(await cellsOf('a'), [[1, 1]])
    },
  },
  {
    name: 'compares by unsigned bytes, with the start of a range and without its end',
    run: async (rows) => {
      const { change, cellsOf } = on(rows)
      await change('a', set('v', 1n, 9, 9), set('v', 2n, 0x80, 1))
      const within = (start: Uint8Array, end: Uint8Array, at?: bigint): Promise<boolean> =>
        rows.mutateRowIf('a', { family: 'v', values: { start, end }, ...(at === undefined ? {} : { at }) }, [
          set('h', 0n, 1),
        ])
      assert.deepEqual(await within(bytes(0x80, 1), bytes(0x80, 2)), true)
      assert.deepEqual(await within(bytes(0x7f), bytes(0x80, 1)), false)
      assert.deepEqual(await within(bytes(0x80), bytes(0x81)), true)
      assert.deepEqual(await within(bytes(9), bytes(10)), false)
      assert.deepEqual(await within(bytes(9), bytes(10), 1n), true)
      assert.deepEqual(await within(bytes(9), bytes(10), 3n), false)
      assert.deepEqual(await rows.mutateRowIf('a', { family: 'v', at: 3n, values: undefined }, [set('h', 0n, 2)]), true)
      assert.deepEqual(
        await rows.mutateRowIf('a', { family: 'v', at: 2n, values: undefined }, [set('h', 0n, 3)]),
        false,
      )
      assert.deepEqual(await cellsOf('a', 'h'), [[0, 2]])
    },
  },
  {
    name: 'row-store/RS1: lets one of many conditional changes of a row win',
    run: async (rows) => {
      const { cellsOf } = on(rows)
      const races = Array.from({ length: 20 }, (_, i) =>
        rows.mutateRowIf('a', newestIs('h', undefined), [set('h', 0n, i), set('l', BigInt(i), i)]),
      )
      const won = (await Promise.all(races)).map((ok, i) => (ok ? i : -1)).filter((i) => i >= 0)
      assert.equal(won.length, 1)
      assert.deepEqual(await cellsOf('a', 'l'), [[won[0], won[0]]])
    },
  },
  {
    name: 'changes and reads many rows in one call',
    run: async (rows) => {
      const { keysOf } = on(rows)
      const keys = Array.from({ length: 2500 }, (_, i) => `row ${String(i).padStart(4, '0')}`)
      await rows.mutateRows(keys.map((key, i) => ({ key, changes: [set('v', 1n, i % 256)] })))
      assert.deepEqual((await rows.readRows(keys, allOfV)).size, keys.length)
      assert.deepEqual(await keysOf({ limit: 3000 }), keys)
      await rows.mutateRows([])
    },
  },
  {
    name: 'refuses everything with UNAVAILABLE when it is closed',
    run: async (rows) => {
      const { change, keysOf } = on(rows)
      await rows.close()
      await rows.close()
      const refused = { code: 'UNAVAILABLE' }
      await assert.rejects(rows.readRows(['a'], allOfV), refused)
      await assert.rejects(keysOf(), refused)
      await assert.rejects(change('a', set('v', 0n, 1)), refused)
      await assert.rejects(rows.mutateRowIf('a', newestIs('v', undefined), []), refused)
    },
  },
]
