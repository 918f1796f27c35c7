/** The order of codes, and that they give back what was encoded. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteString, invert } from '../../src/encoding/bytes.ts'
import {
  decodeBytes,
  decodeDouble,
  decodeInt64,
  decodeText,
  decodeUint64,
  encodeBytes,
  encodeDouble,
  encodeInt64,
  encodeText,
  encodeUint64,
  skipText,
} from '../../src/encoding/ordered.ts'
import { anyTexts, byteArrays, doubles, int64s } from '../support/arbitraries.ts'
import { compareBytes, compareDoubles, compareUtf8 } from './model-order.ts'
import { compareText, holdsFor } from './order-laws.ts'

const compareNumbers = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)

describe('text', () => {
  test('codes of texts obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: anyTexts, encode: encodeText, compare: compareUtf8 })
  })

  test('codes are bytes and sort as UTF-8 bytes do', () => {
    fc.assert(
      fc.property(anyTexts, anyTexts, (a, b) => {
        expect([...encodeText(a)].every((c) => c.charCodeAt(0) < 256)).toBe(true)
        const bytes = compareBytes(Buffer.from(a), Buffer.from(b))
        expect(Math.sign(compareText(encodeText(a), encodeText(b)))).toBe(Math.sign(bytes))
      }),
    )
  })

  test('a text is decoded and skipped from among other codes', () => {
    fc.assert(
      fc.property(anyTexts, anyTexts, anyTexts, (before, text, after) => {
        const start = encodeText(before)
        const code = start + encodeText(text) + encodeText(after)
        expect(decodeText(code, start.length)).toEqual({ value: text, next: start.length + encodeText(text).length })
        expect(skipText(code, start.length)).toBe(start.length + encodeText(text).length)
        expect(skipText(invert(code), start.length, true)).toBe(start.length + encodeText(text).length)
      }),
    )
  })
})

describe('bytes', () => {
  test('codes of bytes obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: byteArrays, encode: encodeBytes, compare: compareBytes })
  })

  test('bytes are decoded as they were', () => {
    fc.assert(
      fc.property(byteArrays, (bytes) => {
        const code = encodeBytes(bytes)
        expect(decodeBytes(code, 0)).toEqual({ value: bytes, next: code.length })
      }),
    )
  })

  test('a text and its UTF-8 bytes have one code', () => {
    fc.assert(
      fc.property(anyTexts, (text) => {
        expect(encodeBytes(Buffer.from(text))).toBe(encodeText(text))
      }),
    )
  })
})

describe('int64', () => {
  test('codes of integers obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: int64s, encode: encodeInt64, compare: compareNumbers })
  })

  test('integers are decoded as they were, and plain big-endian ones too', () => {
    fc.assert(
      fc.property(int64s, anyTexts, (value, before) => {
        const start = encodeText(before)
        expect(decodeInt64(start + encodeInt64(value), start.length)).toBe(value)
        const unsigned = BigInt.asUintN(64, value)
        expect(decodeUint64(start + encodeUint64(unsigned), start.length)).toBe(unsigned)
      }),
    )
  })

  test('plain big-endian numbers sort as numbers', () => {
    const unsigned = int64s.map((value) => BigInt.asUintN(64, value))
    holdsFor({ values: unsigned, encode: encodeUint64, compare: compareNumbers })
  })
})

describe('double', () => {
  test('codes of doubles obey the laws of order, prefix-freeness and inversion', () => {
    holdsFor({ values: doubles, encode: encodeDouble, compare: compareDoubles })
  })

  test('doubles are decoded as they were, with the sign of zero', () => {
    fc.assert(
      fc.property(doubles, (value) => {
        expect(decodeDouble(encodeDouble(value), 0)).toBe(value)
      }),
    )
  })

  test('every NaN has the code of the positive quiet one', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 51n - 1n }), fc.boolean(), (payload, negative) => {
        const bytes = new DataView(new ArrayBuffer(8))
        bytes.setBigUint64(0, (negative ? 0xfff0n << 48n : 0x7ff0n << 48n) | payload)
        expect(encodeDouble(bytes.getFloat64(0))).toBe(byteString(Uint8Array.of(0xff, 0xf8, 0, 0, 0, 0, 0, 0)))
      }),
    )
  })
})
