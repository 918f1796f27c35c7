/**
 * The contract of every store that changes one row at a time (storage/kv.ts). Give it a way to open an empty store.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { DatastoreError } from '../../src/errors.ts'
import type { KvReader, KvRow, RowKey, RowKv, ScanOptions } from '../../src/storage/kv.ts'

export interface OpenedKv<T extends RowKv> {
  readonly kv: T
  readonly cleanup: () => Promise<void>
}

export interface KvFeatures {
  /** get, mutate, batch and scans never give a promise. */
  readonly answersAtOnce: boolean
}

export const everything = { start: '', end: '\xff\xff\xff\xff' } as const

export function bytes(...values: number[]): Uint8Array {
  return Uint8Array.from(values)
}

/** All rows of a range, pulled `step` at a time. */
export async function rowsOf(
  reader: KvReader,
  range: { readonly start: RowKey; readonly end: RowKey } = everything,
  options: ScanOptions = {},
  step = 7,
): Promise<KvRow[]> {
  const scan = reader.scan(range, options)
  const rows: KvRow[] = []
  for (;;) {
    const next = await scan.next(step)
    if (next.length === 0) break
    expect(next.length).toBeLessThanOrEqual(step)
    rows.push(...next)
  }
  scan.close()
  return rows
}

export async function keysOf(...args: Parameters<typeof rowsOf>): Promise<RowKey[]> {
  return (await rowsOf(...args)).map((row) => row.key)
}

export function plain(value: Uint8Array | undefined): number[] | undefined {
  return value === undefined ? undefined : [...value]
}

/** Opens an empty store for each test, for `use`. @returns what puts rows into it */
export function openEach<T extends RowKv>(
  open: () => Promise<OpenedKv<T>>,
  use: (kv: T) => void,
): (...keys: RowKey[]) => Promise<void> {
  let opened: OpenedKv<T>
  beforeEach(async () => {
    opened = await open()
    use(opened.kv)
  })
  afterEach(() => opened.cleanup())
  return async (...keys) => {
    for (const key of keys) await opened.kv.mutate({ key, value: bytes(key.length, 1) })
  }
}

export function rowKvContract(name: string, open: () => Promise<OpenedKv<RowKv>>, features: KvFeatures): void {
  describe(`${name} keeps the contract of the store`, () => {
    let kv: RowKv
    const put = openEach(open, (opened) => {
      kv = opened
    })

    it('gives back the bytes of a row, and undefined where there is none', async () => {
      await kv.mutate({ key: 'a', value: bytes(1, 0, 255) })
      await kv.mutate({ key: 'empty', value: bytes() })
      expect(plain(await kv.get('a'))).toEqual([1, 0, 255])
      expect(plain(await kv.get('empty'))).toEqual([])
      expect(await kv.get('b')).toBeUndefined()
    })

    it('replaces a row, and deletes one; deleting a missing row is no error', async () => {
      await kv.mutate({ key: 'a', value: bytes(1) })
      await kv.mutate({ key: 'a', value: bytes(2) })
      expect(plain(await kv.get('a'))).toEqual([2])
      await kv.mutate({ key: 'a', value: undefined })
      await kv.mutate({ key: 'a', value: undefined })
      expect(await kv.get('a')).toBeUndefined()
      expect(await keysOf(kv)).toEqual([])
    })

    it('gives many rows at once as it gives each', async (test) => {
      test.skip(kv.getAll === undefined, 'this body has no getAll')
      await kv.mutate({ key: 'a', value: bytes(1, 2) })
      await kv.mutate({ key: 'empty', value: bytes() })
      expect((await kv.getAll?.(['b', 'a', 'empty', 'a']))?.map(plain)).toEqual([undefined, [1, 2], [], [1, 2]])
      expect(await kv.getAll?.([])).toEqual([])
    })

    it('keeps values of any length', async () => {
      const long = new Uint8Array(300_000).map((_, i) => i % 251)
      await kv.mutate({ key: 'long', value: long })
      expect(await kv.get('long')).toEqual(expect.objectContaining({ length: long.length }))
      expect(Buffer.compare((await kv.get('long')) ?? bytes(), long)).toBe(0)
    })

    it('orders rows by the unsigned bytes of their keys', async () => {
      const sorted = [
        '\x00',
        '\x00\x00',
        '\x00\xff',
        'a',
        'a\x00',
        'a\x00\x00',
        'a\x01',
        'aa',
        'b',
        '\x7f',
        '\x80',
        '\xff',
      ]
      await put(...[...sorted].reverse())
      expect(await keysOf(kv)).toEqual(sorted)
      expect(await keysOf(kv, everything, { reverse: true })).toEqual([...sorted].reverse())
    })

    it('scans from start inclusive to end exclusive, in both directions', async () => {
      await put('a', 'b', 'c', 'd', 'e')
      const range = { start: 'b', end: 'e' }
      for (const step of [1, 2, 3, 100]) {
        expect(await keysOf(kv, range, {}, step)).toEqual(['b', 'c', 'd'])
        expect(await keysOf(kv, range, { reverse: true }, step)).toEqual(['d', 'c', 'b'])
      }
      expect(await keysOf(kv, { start: 'bb', end: 'dd' })).toEqual(['c', 'd'])
      expect(await keysOf(kv, { start: 'bb', end: 'dd' }, { reverse: true })).toEqual(['d', 'c'])
      expect(await keysOf(kv, { start: 'c', end: 'c' })).toEqual([])
      expect(await keysOf(kv, { start: 'd', end: 'b' })).toEqual([])
      expect(await keysOf(kv, { start: 'd', end: 'b' }, { reverse: true })).toEqual([])
      expect(await keysOf(kv, { start: 'f', end: 'g' }, { reverse: true })).toEqual([])
    })

    it('gives rows with their values, whatever number was expected', async () => {
      await put('a', 'bb', 'ccc')
      for (const expected of [1, 2, 50]) {
        const rows = await rowsOf(kv, everything, { expect: expected }, 2)
        expect(rows.map((row) => [row.key, ...row.value])).toEqual([
          ['a', 1, 1],
          ['bb', 2, 1],
          ['ccc', 3, 1],
        ])
      }
    })

    it('answers an exhausted scan with no rows again and again, and a closed one with none', async () => {
      await put('a', 'b')
      const scan = kv.scan(everything)
      expect((await scan.next(5)).length).toBe(2)
      expect(await scan.next(5)).toEqual([])
      expect(await scan.next(1)).toEqual([])
      scan.seek('b')
      expect((await scan.next(5)).map((row) => row.key)).toEqual(['b'])
      scan.close()
      scan.close()
      expect(await scan.next(5)).toEqual([])
    })

    it('seeks to the first row at or after a key in scan order', async () => {
      await put('a', 'c', 'e', 'g', 'i')
      const scan = kv.scan({ start: 'b', end: 'i' })
      const at = async (key: RowKey, count = 1): Promise<RowKey[]> => {
        scan.seek(key)
        return (await scan.next(count)).map((row) => row.key)
      }
      expect(await at('d')).toEqual(['e'])
      expect(await at('e')).toEqual(['e'])
      expect((await scan.next(9)).map((row) => row.key)).toEqual(['g'])
      expect(await at('c', 2)).toEqual(['c', 'e'])
      expect(await at('')).toEqual(['c'])
      expect(await at('h')).toEqual([])
      expect(await at('z')).toEqual([])
      expect(await at('f', 9)).toEqual(['g'])
      scan.close()
    })

    it('seeks to the first row at or before a key in a reverse scan', async () => {
      await put('a', 'c', 'e', 'g', 'i')
      const scan = kv.scan({ start: 'b', end: 'i' }, { reverse: true })
      const at = async (key: RowKey, count = 1): Promise<RowKey[]> => {
        scan.seek(key)
        return (await scan.next(count)).map((row) => row.key)
      }
      expect(await at('f')).toEqual(['e'])
      expect(await at('e')).toEqual(['e'])
      expect((await scan.next(9)).map((row) => row.key)).toEqual(['c'])
      expect(await at('z')).toEqual(['g'])
      expect(await at('i', 2)).toEqual(['g', 'e'])
      expect(await at('b')).toEqual([])
      expect(await at('a')).toEqual([])
      expect(await at('d', 9)).toEqual(['c'])
      scan.close()
    })

    it('seeks backwards past a row that lies right after the sought key', async () => {
      await put('a', 'b', 'b\x00', 'c')
      const scan = kv.scan(everything, { reverse: true })
      scan.seek('b')
      expect((await scan.next(1)).map((row) => row.key)).toEqual(['b'])
      expect((await scan.next(1)).map((row) => row.key)).toEqual(['a'])
      scan.seek('b\x00')
      expect((await scan.next(1)).map((row) => row.key)).toEqual(['b\x00'])
      scan.close()
    })

    it('scans rows of any length, in both directions', async () => {
      const keys = ['a', 'b', 'c', 'd', 'e']
      for (const [i, key] of keys.entries()) await kv.mutate({ key, value: new Uint8Array(700_000).fill(i) })
      for (const reverse of [false, true]) {
        const rows = await rowsOf(kv, everything, { reverse, expect: 5 }, 5)
        const ordered = reverse ? rows.toReversed() : rows
        expect(ordered.map((row) => [row.key, row.value.length, row.value[699_999]])).toEqual(
          keys.map((key, i) => [key, 700_000, i]),
        )
      }
      const scan = kv.scan(everything, { reverse: true })
      scan.seek('b\x01')
      expect((await scan.next(1))[0]?.key).toBe('b')
      scan.close()
    })

    it('kv/K3: shows an acknowledged write to every read that starts after it', async () => {
      for (let i = 0; i < 40; i++) {
        const key = `k${String(i).padStart(3, '0')}`
        await kv.mutate({ key, value: bytes(i) })
        expect(plain(await kv.get(key))).toEqual([i])
        expect((await rowsOf(kv, everything, { reverse: true, expect: 1 }, 1))[0]?.key).toBe(key)
      }
      const acknowledged = Array.from({ length: 30 }, async (_, i) => {
        await kv.mutate({ key: `p${i}`, value: bytes(i) })
        expect(plain(await kv.get(`p${i}`))).toEqual([i])
        expect(await keysOf(kv, { start: `p${i}`, end: `p${i}\x00` })).toEqual([`p${i}`])
      })
      await Promise.all(acknowledged)
    })

    it('kv/K2: changes a row only if its value is the expected one', async () => {
      expect(await kv.mutateIf({ key: 'a', value: bytes(1) }, bytes())).toBe(false)
      expect(await kv.mutateIf({ key: 'a', value: bytes(1) }, undefined)).toBe(true)
      expect(await kv.mutateIf({ key: 'a', value: bytes(2) }, undefined)).toBe(false)
      expect(await kv.mutateIf({ key: 'a', value: bytes(2) }, bytes(1, 1))).toBe(false)
      expect(await kv.mutateIf({ key: 'a', value: bytes(2) }, bytes(1))).toBe(true)
      expect(plain(await kv.get('a'))).toEqual([2])
      expect(await kv.mutateIf({ key: 'a', value: undefined }, bytes(1))).toBe(false)
      expect(await kv.mutateIf({ key: 'a', value: undefined }, bytes(2))).toBe(true)
      expect(await kv.get('a')).toBeUndefined()
    })

    it('kv/K2: lets one of many concurrent conditional writes win', async () => {
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, i) => kv.mutateIf({ key: 'log', value: bytes(i) }, undefined)),
      )
      expect(won.filter(Boolean).length).toBe(1)
      expect(plain(await kv.get('log'))).toEqual([won.indexOf(true)])
    })

    it('kv/K2: counts with conditional writes among plain ones, and loses no step', async () => {
      const step = async (): Promise<void> => {
        for (;;) {
          const old = await kv.get('counter')
          if (await kv.mutateIf({ key: 'counter', value: bytes((old?.[0] ?? 0) + 1) }, old)) return
        }
      }
      await Promise.all(Array.from({ length: 25 }, async (_, i) => [await step(), await put(`other${i}`)]))
      expect(plain(await kv.get('counter'))).toEqual([25])
    })

    it('keeps the order of writes to one key', async () => {
      const writes = Array.from({ length: 50 }, (_, i) => kv.mutate({ key: 'a', value: bytes(i) }))
      await Promise.all([...writes, kv.mutate({ key: 'a', value: bytes(99) })])
      expect(plain(await kv.get('a'))).toEqual([99])
    })

    it('kv/K4: a scan shows no write twice and no half batch, and nothing written after its end was read', async () => {
      await put('b', 'd', 'f')
      const scan = kv.scan(everything)
      const first = await scan.next(1)
      await put('a', 'c', 'e', 'g')
      await kv.mutate({ key: 'd', value: undefined })
      const rest: KvRow[] = []
      for (;;) {
        const rows = await scan.next(2)
        if (rows.length === 0) break
        rest.push(...rows)
      }
      scan.close()
      // The moment of the scan lies before the first row was answered, so none of the later writes may show.
      expect([...first, ...rest].map((row) => row.key)).toEqual(['b', 'd', 'f'])
    })

    it('refuses reads and writes once it is closed, and may be closed again', async () => {
      await put('a')
      await kv.close()
      await kv.close()
      const unavailable = expect.objectContaining({ name: 'DatastoreError', code: 'UNAVAILABLE' })
      await expect((async () => kv.get('a'))()).rejects.toEqual(unavailable)
      await expect((async () => kv.scan(everything).next(1))()).rejects.toEqual(unavailable)
      await expect((async () => kv.mutate({ key: 'b', value: bytes() }))()).rejects.toEqual(unavailable)
      await expect((async () => kv.mutateIf({ key: 'b', value: bytes() }, undefined))()).rejects.toBeInstanceOf(
        DatastoreError,
      )
    })

    it('waits for running writes when it is closed', async () => {
      const writes = Array.from({ length: 10 }, (_, i) => (async () => kv.mutate({ key: `k${i}`, value: bytes(i) }))())
      const closed = kv.close()
      const settled = await Promise.allSettled(writes)
      await closed
      // Taken before the close or refused by it, but never left hanging.
      expect(settled.length).toBe(10)
    })

    it('answers at once, or by promise, as it says', async () => {
      const isPromise = (value: unknown): boolean => value instanceof Promise
      const written = kv.mutate({ key: 'a', value: bytes() })
      const got = [written, kv.get('a'), kv.scan(everything).next(1)]
      await Promise.all(got)
      if (features.answersAtOnce) expect(got.some(isPromise)).toBe(false)
    })
  })
}
