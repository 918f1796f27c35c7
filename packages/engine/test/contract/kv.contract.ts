/**
 * The contract of the store of one process (storage/kv.ts): that of every store, and batches, snapshots and deletions of ranges. Give it a
 * way to open an empty store.
 */
import { describe, expect, it } from 'vitest'
import type { Kv, KvWrite, WriteSource } from '../../src/storage/kv.ts'
import {
  bytes,
  everything,
  type KvFeatures,
  keysOf,
  type OpenedKv,
  openEach,
  plain,
  rowKvContract,
  rowsOf,
} from './row-kv.contract.ts'

export function kvContract(name: string, open: () => Promise<OpenedKv<Kv>>, features: KvFeatures): void {
  rowKvContract(name, open, features)
  describe(`${name} keeps the contract of batches, snapshots and ranges`, () => {
    let kv: Kv
    const put = openEach(open, (opened) => {
      kv = opened
    })

    it('deletes every row, and takes new ones after that', async () => {
      await put(...Array.from({ length: 300 }, (_, i) => `k${i}`))
      await kv.clear()
      expect(await keysOf(kv)).toEqual([])
      await put('again')
      expect(await keysOf(kv)).toEqual(['again'])
    })

    it('keeps the order of writes to one key, the deletion of every row among them', async () => {
      const writes = Array.from({ length: 50 }, (_, i) => kv.mutate({ key: 'a', value: bytes(i) }))
      await Promise.all([...writes, kv.clear(), kv.mutate({ key: 'a', value: bytes(99) })])
      expect(plain(await kv.get('a'))).toEqual([99])
    })

    it('kv/K2: writes all rows of a batch, where a later write to a key wins', async () => {
      await put('a', 'b')
      await kv.batch([
        { key: 'a', value: undefined },
        { key: 'c', value: bytes(1) },
        { key: 'c', value: bytes(2) },
        { key: 'd', value: bytes(3) },
        { key: 'd', value: undefined },
      ])
      expect((await rowsOf(kv)).map((row) => [row.key, ...row.value])).toEqual([
        ['b', 1, 1],
        ['c', 2],
      ])
      await kv.batch([])
    })

    it('kv/K2: writes what a source hands over as it writes a list, one row from it decided or read among them', async () => {
      await put('a')
      const rows: readonly KvWrite[] = [
        { key: 'a', value: undefined },
        { key: 'b1', value: bytes(1, 2) },
        { key: 'b2', value: bytes(3) },
      ]
      const source: WriteSource = {
        count: rows.length,
        *writeTo(sink) {
          for (const { key, value } of rows) {
            if (sink.wants?.(key.charAt(0)) !== false) sink.write(key, value)
            yield 1
          }
        },
      }
      const written = kv.batch(source)
      const taken = kv.mutateIf({ key: 'b1', value: bytes(4) }, bytes(1, 2))
      await written
      expect(await taken).toBe(true)
      expect((await rowsOf(kv)).map((row) => [row.key, ...row.value])).toEqual([
        ['b1', 4],
        ['b2', 3],
      ])
    })

    it('kv/K2: never shows half of a batch to a scan', async () => {
      const keys = Array.from({ length: 12 }, (_, i) => `k${String(i).padStart(2, '0')}`)
      let writing = true
      const writer = (async () => {
        for (let i = 0; i < 40; i++) await kv.batch(keys.map((key) => ({ key, value: bytes(i) })))
        writing = false
      })()
      do {
        const values = new Set((await rowsOf(kv, everything, {}, 5)).map((row) => row.value[0]))
        expect(values.size).toBeLessThanOrEqual(1)
        await new Promise(setImmediate)
      } while (writing)
      await writer
    })

    it('kv/K2: decides a conditional write after the batches issued before it', async () => {
      const batch = kv.batch([{ key: 'a', value: bytes(7) }])
      const refused = kv.mutateIf({ key: 'a', value: bytes(8) }, undefined)
      const taken = kv.mutateIf({ key: 'a', value: bytes(9) }, bytes(7))
      expect(await Promise.all([batch, refused, taken])).toEqual([undefined, false, true])
      expect(plain(await kv.get('a'))).toEqual([9])
    })

    it('kv/K2: a conditional write after a long batch is decided by it', async () => {
      const batch = kv.batch({
        count: 9000,
        *writeTo(sink) {
          for (let i = 0; i < 9000; i++) {
            sink.write(`k${i}`, bytes(7))
            yield 1
          }
        },
      })
      const refused = kv.mutateIf({ key: 'k8999', value: bytes(8) }, undefined)
      const taken = kv.mutateIf({ key: 'k8999', value: bytes(9) }, bytes(7))
      expect(await Promise.all([batch, refused, taken])).toEqual([undefined, false, true])
      expect(plain(await kv.get('k8999'))).toEqual([9])
    })

    it('kv/K7: writes take effect and are answered in their order', async () => {
      const answered: number[] = []
      const writes = Array.from({ length: 12 }, async (_, i) => {
        await (i % 2 === 0 ? kv.batch([{ key: 'a', value: bytes(i) }]) : kv.mutate({ key: 'a', value: bytes(i) }))
        answered.push(i)
      })
      await Promise.all(writes)
      expect(answered).toEqual(Array.from({ length: 12 }, (_, i) => i))
      expect(plain(await kv.get('a'))).toEqual([11])
    })

    it('kv/K4: a snapshot shows exactly the moment of its making', async () => {
      await put('a', 'b', 'c')
      const snapshot = kv.snapshot()
      await put('aa', 'd')
      await kv.mutate({ key: 'b', value: undefined })
      await kv.mutate({ key: 'c', value: bytes(9) })
      const second = kv.snapshot()
      await kv.clear()
      expect(await keysOf(snapshot)).toEqual(['a', 'b', 'c'])
      expect(await keysOf(snapshot, everything, { reverse: true })).toEqual(['c', 'b', 'a'])
      expect(plain(await snapshot.get('c'))).toEqual([1, 1])
      expect(await snapshot.get('d')).toBeUndefined()
      expect(await keysOf(second)).toEqual(['a', 'aa', 'c', 'd'])
      expect(plain(await second.get('c'))).toEqual([9])
      expect(await keysOf(kv)).toEqual([])
      snapshot.close()
      snapshot.close()
      expect(await keysOf(second)).toEqual(['a', 'aa', 'c', 'd'])
      second.close()
    })

    it('kv/K2: a deletion of ranges is seen whole, and spares the rows beside them', async () => {
      await put('a', 'b1', 'b2', 'c', 'd1', 'e')
      const before = kv.snapshot()
      await kv.deleteRanges([
        { start: 'b', end: 'c' },
        { start: 'd', end: 'e' },
      ])
      expect(await keysOf(kv)).toEqual(['a', 'c', 'e'])
      expect(await keysOf(before)).toEqual(['a', 'b1', 'b2', 'c', 'd1', 'e'])
      before.close()
    })

    it('kv/K7: a deletion of ranges, and one of all rows, come after a long batch before them', async () => {
      const rows = Array.from({ length: 9000 }, (_, i) => ({ key: `b${String(i).padStart(4, '0')}`, value: bytes(1) }))
      await put('a', 'c')
      await Promise.all([kv.batch(rows), kv.deleteRanges([{ start: 'b', end: 'c' }])])
      expect(await keysOf(kv)).toEqual(['a', 'c'])
      await Promise.all([kv.batch(rows), kv.clear()])
      expect(await keysOf(kv)).toEqual([])
    })
  })
}
