import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scatterId } from '../ids/scatter.ts'
import { LargeMap } from './large-map.ts'

test('does as a Map does, with few and with many keys', () => {
  const key = fc.integer({ min: 0, max: 30 }).map((id) => `ToDo:${id}`)
  const step = fc.oneof(
    fc.record({ key, value: fc.record({ n: fc.nat() }) }),
    fc.record({ key, value: fc.constant(undefined) }),
  )
  fc.assert(
    fc.property(fc.nat({ max: 12 }), fc.array(step, { maxLength: 60 }), (firstMax, steps) => {
      const large = new LargeMap<{ readonly n: number }>(firstMax)
      const model = new Map<string, { readonly n: number }>()
      for (const { key, value } of steps) {
        if (value === undefined) {
          large.delete(key)
          model.delete(key)
        } else {
          large.set(key, value)
          model.set(key, value)
        }
        expect(large.size).toBe(model.size)
        const ids = Array.from({ length: 31 }, (_, id) => `ToDo:${id}`)
        expect(ids.map((id) => large.get(id))).toEqual(ids.map((id) => model.get(id)))
      }
    }),
  )
})

test.each([
  ['sequential ids', (i: number) => `p\x00ToDo\x00${i}\x00\x01`],
  ['scattered ids', (i: number) => `p\x00ToDo\x00${scatterId(BigInt(i))}\x00\x01`],
  ['long names that differ in front', (i: number) => `p\x00ToDo\x00${i}${'x'.repeat(40)}\x00\x01`],
  ['very long names that differ at the end', (i: number) => `p\x00ToDo\x00${'x'.repeat(1400)}${i}\x00\x01`],
])('no map has more than the first 100 of 5,000 keys with %s', (_, keyOf) => {
  const { set } = Map.prototype
  let largest = 0
  Map.prototype.set = function (this: Map<unknown, unknown>, key, value) {
    set.call(this, key, value)
    if (this.size > largest) largest = this.size
    return this
  }
  try {
    const large = new LargeMap<object>(100)
    const value = {}
    for (let i = 0; i < 5_000; i++) large.set(keyOf(i), value)
    expect([large.size, largest]).toEqual([5_000, 100])
  } finally {
    Map.prototype.set = set
  }
})
