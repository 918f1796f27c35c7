import { systemScheduler } from '@sixtables/engine'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Call } from '../call.ts'
import { cutMessage } from './pieces.ts'

const call = (): Call => new Call({ clock: systemScheduler })

/** A length-delimited field, or a varint. */
function field(number: number, value: Uint8Array | number): Buffer {
  if (typeof value === 'number') return Buffer.from([...varint(number * 8), ...varint(value)])
  return Buffer.from([...varint(number * 8 + 2), ...varint(value.length), ...value])
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))]
}

const list = 6
const fields = fc.array(
  fc.record({
    number: fc.constantFrom(list, list, list, 1, 200),
    value: fc.oneof(fc.nat(), fc.uint8Array({ maxLength: 9000 })),
  }),
  { maxLength: 60 },
)

test('pieces/B1: pieces and rest are the fields of the message, each list in its order', async () => {
  await fc.assert(
    fc.asyncProperty(fields, fc.uint8Array({ maxLength: 3 }), async (made, tail) => {
      // Three bytes with the continuation bit are no field.
      const broken = Buffer.from(tail.map((byte) => byte | 0x80))
      const bytes = made.map(({ number, value }) => field(number, value))
      const { rest, pieces } = await cutMessage(call(), Buffer.concat([...bytes, broken]), list)
      const listed = bytes.filter((_, i) => made[i]?.number === list)
      const others = bytes.filter((_, i) => made[i]?.number !== list)
      expect(Buffer.concat(pieces).equals(Buffer.concat([...listed, broken]))).toBe(true)
      expect(rest.equals(Buffer.concat(others))).toBe(true)
    }),
  )
})

test('a long list makes many pieces, none much longer than an element and 16 KiB', async () => {
  const element = field(list, new Uint8Array(1000))
  const { pieces } = await cutMessage(call(), Buffer.concat(Array.from({ length: 200 }, () => element)), list)
  expect(pieces.length).toBeGreaterThan(10)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(18_000)
})
