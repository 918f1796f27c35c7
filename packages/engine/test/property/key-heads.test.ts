import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstNotBelow, headOf, headsOf, longRest } from '../../src/storage/key-parts.ts'

// Few different bytes, so that keys often begin alike, and zeros, which also fill up the heads of short rests.
const key = fc
  .array(fc.constantFrom(0, 1, 0x41, 0x7f, 0x80, 0xff), { maxLength: 9 })
  .map((bytes) => String.fromCharCode(...bytes))

/** Two keys, of which mostly one begins as the other does. */
const pair = fc.oneof(
  fc.tuple(key, key),
  fc.tuple(key, key, key).map(([same, one, other]) => [same + one, same + other] as const),
)

it('of two rests with different heads the one with the lesser head comes first', () => {
  fc.assert(
    fc.property(pair, fc.nat({ max: 3 }), ([one, other], start) => {
      const [a, b] = [headOf('x'.repeat(start) + one, start), headOf(`yyy${other}`, 3)]
      if (a < b) expect(one < other).toBe(true)
      else if (a > b) expect(one > other).toBe(true)
    }),
    { numRuns: 2000 },
  )
})

it('rests of up to six bytes with equal heads are equal, and longer ones begin alike', () => {
  fc.assert(
    fc.property(pair, ([one, other]) => {
      if (headOf(one, 0) !== headOf(other, 0)) expect(one).not.toBe(other)
      else if (one.length < longRest) expect(one).toBe(other)
      else expect(one.slice(0, 6)).toBe(other.slice(0, 6))
    }),
    { numRuns: 2000 },
  )
})

it('finds the first head that is not below another', () => {
  fc.assert(
    fc.property(fc.uniqueArray(key, { maxLength: 70 }), key, (keys, wanted) => {
      const heads = headsOf(keys.toSorted(), 0)
      const head = headOf(wanted, 0)
      const found = heads.findIndex((other) => other >= head)
      expect(firstNotBelow(heads, head)).toBe(found === -1 ? heads.length : found)
    }),
    { numRuns: 300 },
  )
})
