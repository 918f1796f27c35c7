import { encodeKey, encodeValue, type Key } from '@sixtables/engine'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { messageOf } from '../call.ts'
import { type AnswerWriter, emptyAnswer, writeAnswer } from './answer-writer.ts'

/** The bytes that `write` makes. */
function message(write: (writer: AnswerWriter) => void): Buffer {
  return messageOf(writeAnswer(write))
}

/** The content of a message's first field, which is length-delimited and shorter than 2 MiB. */
function content(bytes: Buffer): Buffer {
  let at = 1
  while ((bytes[at] ?? 0) > 0x7f) at++
  return bytes.subarray(at + 1)
}

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'binary', maxLength: 60 }))
const int64 = fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.bigInt({ min: -5n, max: 300n }))

const keys: fc.Arbitrary<Key> = fc.record({
  partition: fc.record({ projectId: text, databaseId: text, namespaceId: text }),
  path: fc.array(
    fc.oneof(fc.record({ kind: text, id: int64 }), fc.record({ kind: text, name: text }), fc.record({ kind: text })),
    { minLength: 1, maxLength: 5 },
  ),
})

describe('the writer from back to front', () => {
  test('writes keys as the engine does', () => {
    fc.assert(
      fc.property(keys, (key) => {
        expect(content(message((writer) => writer.key(1, key)))).toEqual(Buffer.from(encodeKey(key)))
      }),
      { numRuns: 300 },
    )
  })

  test('writes integers as the engine does', () => {
    fc.assert(
      fc.property(int64, (value) => {
        // Value.integer_value is field 2.
        const expected = Buffer.from(encodeValue({ type: 'integer', value }))
        expect(message((writer) => writer.int64(2, value))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test('writes a number that is exact as it writes a bigint', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const expected = message((writer) => writer.int64(2, BigInt(value)))
        expect(message((writer) => writer.safeInt64(2, value))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test('writes the end of some bytes as it writes a view of it, and leaves answers before alone', () => {
    const fields = fc.array(fc.tuple(fc.uint8Array({ maxLength: 3000 }), fc.nat(40)), { maxLength: 40 })
    fc.assert(
      fc.property(fields, fields, (one, other) => {
        const written = (parts: typeof one, write: (writer: AnswerWriter, bytes: Uint8Array, at: number) => void) =>
          message((writer) => {
            for (const [bytes, at] of parts) {
              const mark = writer.mark()
              write(writer, bytes, Math.min(at, bytes.length))
              writer.head(1, mark)
            }
          })
        const before = written(one, (writer, bytes, at) => writer.rawFrom(bytes, at))
        written(other, (writer, bytes, at) => writer.rawFrom(bytes, at))
        expect(before).toEqual(written(one, (writer, bytes, at) => writer.raw(bytes.subarray(at))))
      }),
      { numRuns: 100 },
    )
  })

  test('writes timestamps as the engine does', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(
      fc.property(micros, (at) => {
        const expected = Buffer.from(encodeValue({ type: 'timestamp', micros: at }))
        // Numbers are exact up to 2^53 microseconds, the year 2255; answers have no later times.
        fc.pre(at < 2n ** 53n && at > -(2n ** 53n))
        expect(message((writer) => writer.timestamp(10, Number(at)))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  test('writes 32-bit numbers as varints', () => {
    for (const [value, bytes] of [
      [0, [0x08, 0]],
      [127, [0x08, 127]],
      [128, [0x08, 0x80, 1]],
      [0xffff_ffff, [0x08, 0xff, 0xff, 0xff, 0xff, 0x0f]],
    ] as const) {
      expect([...message((writer) => writer.uint32(1, value))]).toEqual(bytes)
    }
  })

  test('gives rising fields when they are written falling, nested to any depth', () => {
    const bytes = message((writer) => {
      const end = writer.mark()
      writer.uint32(2, 7)
      const inner = writer.mark()
      writer.text(3, 'x')
      writer.head(1, inner)
      writer.head(4, end)
    })
    expect([...bytes]).toEqual([0x22, 7, 0x0a, 3, 0x1a, 1, 0x78, 0x10, 7])
  })

  test('grows without losing what it has, and is empty again afterwards', () => {
    for (const size of [10, 20_000, 70_000, 3_000_000]) {
      const large = Buffer.alloc(size, 7)
      const bytes = message((writer) => {
        writer.bytes(2, large)
        writer.text(1, 'lead')
      })
      expect(bytes.subarray(0, 6)).toEqual(Buffer.from([0x0a, 4, ...Buffer.from('lead')]))
      // `toEqual` would compare megabytes element by element.
      expect(bytes.subarray(bytes.length - size).equals(large)).toBe(true)
    }
    expect(message(() => {})).toHaveLength(0)
  })

  test('never gives the same memory to two answers', () => {
    const first = writeAnswer((writer) => writer.text(1, 'first'))
    const second = writeAnswer((writer) => writer.text(1, 'other'))
    expect(messageOf(first).toString()).toContain('first')
    expect(messageOf(second).toString()).toContain('other')
    expect(emptyAnswer()).toHaveLength(5)
  })

  test('is empty again when writing failed', () => {
    expect(() =>
      writeAnswer((writer) => {
        writer.text(1, 'half')
        throw new Error('broken off')
      }),
    ).toThrow('broken off')
    expect(message((writer) => writer.uint32(1, 1))).toHaveLength(2)
  })
})
