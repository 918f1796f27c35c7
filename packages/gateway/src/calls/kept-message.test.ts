import fc from 'fast-check'
import protobuf from 'protobufjs/minimal.js'
import { expect, test } from 'vitest'
import { keptBytesMax, keptMessage } from './request-recorder.ts'

function message(...fields: readonly (readonly [number, Uint8Array])[]): Buffer {
  const writer = protobuf.Writer.create()
  for (const [number, bytes] of fields) writer.uint32((number << 3) | 2).bytes(bytes)
  return Buffer.from(writer.finish())
}
function fieldsOf(bytes: Uint8Array): readonly (readonly [number, number])[] {
  const reader = protobuf.Reader.create(bytes)
  const fields: (readonly [number, number])[] = []
  while (reader.pos < bytes.length) {
    const tag = reader.uint32()
    fields.push([tag >>> 3, reader.bytes().length])
  }
  return fields
}

test('a message that is not large stays as it is', () => {
  const whole = message([8, Buffer.from('demo')], [3, Buffer.alloc(10)])
  expect(keptMessage('Lookup', 'request', whole)).toEqual({ bytes: whole, size: whole.length })
})

test('a large message keeps its other fields and the first elements of its list', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 8, maxLength: 60 })
  fc.assert(
    fc.property(sizes, (lengths) => {
      const elements = lengths.map((length) => [6, Buffer.alloc(length)] as const)
      const whole = message([8, Buffer.from('demo')], ...elements, [1, Buffer.from('t')])
      const { bytes, size, cut } = keptMessage('Commit', 'request', whole)
      expect(size).toBe(whole.length)
      expect(cut === undefined).toBe(whole.length <= keptBytesMax)
      if (cut === undefined) return
      const fields = fieldsOf(bytes)
      expect(bytes.length).toBeLessThanOrEqual(keptBytesMax)
      expect(fields.filter(([number]) => number !== 6)).toEqual([
        [8, 4],
        [1, 1],
      ])
      expect(cut).toEqual({ kept: fields.length - 2, of: lengths.length })
    }),
  )
})

test('a list inside is cut in its place, and one element that is too large is kept alone', () => {
  const batch = message([1, Buffer.from('x')], ...Array.from({ length: 30 }, () => [2, Buffer.alloc(5000)] as const))
  const inner = keptMessage('RunQuery', 'answer', message([1, batch], [5, Buffer.from('t')]))
  expect(inner.cut).toEqual({ kept: 12, of: 30 })
  expect(fieldsOf(inner.bytes).map(([number]) => number)).toEqual([1, 5])
  const single = keptMessage('Commit', 'request', message([6, Buffer.alloc(500_000)], [6, Buffer.alloc(500_000)]))
  expect(single.cut).toEqual({ kept: 1, of: 2 })
})

test('bytes that are no message are not kept', () => {
  const { bytes, size } = keptMessage('Commit', 'request', Buffer.alloc(100_000, 0xff))
  expect([bytes.length, size]).toEqual([0, 100_000])
})
