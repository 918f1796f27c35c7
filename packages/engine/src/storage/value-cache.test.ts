import { expect, test } from 'vitest'
import { ValueCache } from './value-cache.ts'

/** A cache over a map, with room for some four small values in either half. */
class World {
  readonly rows = new Map<string, Uint8Array>()
  readonly cache = new ValueCache(2000)
  reads = 0

  get(key: string): number | undefined {
    return this.cache.get(key, (row) => {
      this.reads++
      return this.rows.get(row)
    })?.[0]
  }

  write(key: string, value: number | undefined): void {
    const bytes = value === undefined ? undefined : Uint8Array.of(value)
    if (bytes === undefined) this.rows.delete(key)
    else this.rows.set(key, bytes)
    this.cache.write(key, bytes)
  }
}

test.each([0, 3, 6, 12])('a row is as it was written last, with %i other rows read in between', (others) => {
  for (const values of [
    [1, 2],
    [1, undefined],
    [1, undefined, 3],
    [undefined, 4],
  ]) {
    const world = new World()
    for (let i = 0; i < others; i++) world.rows.set(`o${i}`, Uint8Array.of(9))
    for (const value of values) {
      world.write('k', value)
      expect(world.get('k')).toBe(value)
      for (let i = 0; i < others; i++) world.get(`o${i}`)
    }
    expect(world.get('k')).toBe(values.at(-1))
  }
})

test('a row that was read is not read again, while it is used', () => {
  const world = new World()
  world.rows.set('k', Uint8Array.of(1))
  for (let i = 0; i < 20; i++) {
    world.get(`none${i}`)
    expect(world.get('k')).toBe(1)
  }
  expect(world.reads).toBe(21)
})

test('a written value keeps no bytes around it', () => {
  const { cache } = new World()
  const around = Buffer.alloc(8192, 7)
  cache.get('k', () => Uint8Array.of(1, 2))
  cache.write('k', around.subarray(100, 400))
  const kept = cache.get('k', () => undefined)
  expect(kept).toEqual(Buffer.alloc(300, 7))
  expect(kept?.buffer.byteLength).toBe(300)
})
