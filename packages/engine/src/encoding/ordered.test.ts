import { expect, test } from 'vitest'
import { InvariantError } from '../invariant.ts'
import { byteString, bytesOf, fromHex, hexOf, invert, prefixEnd, textOfUtf8, utf8String } from './bytes.ts'
import {
  decodeBytes,
  decodeDouble,
  decodeInt64,
  decodeText,
  encodeDouble,
  encodeInt64,
  encodeText,
  skipText,
} from './ordered.ts'

test('U+FFFF sorts before U+1F600, unlike their UTF-16 units', () => {
  expect(encodeText('\uffff') < encodeText('\u{1f600}')).toBe(true)
  expect('\uffff' < '\u{1f600}').toBe(false)
})

test('a text sorts before the same text with a zero byte, and that before one with a one byte', () => {
  const codes = ['a', 'a\u0000', 'a\u0000\u0000', 'a\u0000\u0001', 'a\u0001', 'aa'].map(encodeText)
  expect([...codes].sort()).toEqual(codes)
})

test('a text that takes more than the scratch space is encoded like a short one', () => {
  const long = 'é'.repeat(5000)
  expect(decodeText(encodeText(long), 0)).toEqual({ value: long, next: 10_002 })
  expect(invert(invert(encodeText(long)))).toBe(encodeText(long))
})

test('a lone surrogate, which protocol buffers cannot carry, becomes U+FFFD', () => {
  expect(encodeText('\ud800')).toBe(encodeText('\ufffd'))
})

test('a byte order mark is text like any other', () => {
  expect(decodeText(encodeText('\ufeffa'), 0).value).toBe('\ufeffa')
})

test('negative numbers sort before zero, zero before positive ones', () => {
  const integers = [-(2n ** 63n), -256n, -1n, 0n, 1n, 255n, 256n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n]
  const codes = integers.map(encodeInt64)
  expect([...codes].sort()).toEqual(codes)
  expect(codes.map((code) => decodeInt64(code, 0))).toEqual(integers)
})

test('-0.0 sorts just before 0.0, NaN after Infinity', () => {
  const doubles = [-Infinity, -1, -Number.MIN_VALUE, -0, 0, Number.MIN_VALUE, 1, Infinity, Number.NaN]
  const codes = doubles.map(encodeDouble)
  expect([...codes].sort()).toEqual(codes)
  expect(codes.map((code) => decodeDouble(code, 0))).toEqual(doubles)
})

test('broken codes are an invariant broken, not an answer', () => {
  const noEnd = encodeText('abc').slice(0, -1)
  expect(() => skipText(noEnd, 0)).toThrow(InvariantError)
  expect(() => skipText(invert(noEnd), 0, true)).toThrow(InvariantError)
  expect(() => skipText('a\x00\x02\x00\x01', 0)).toThrow(InvariantError)
  expect(() => decodeText('\xff\x00\x01', 0)).toThrow(InvariantError)
  expect(decodeBytes('\xff\x00\x01', 0).value).toEqual(Uint8Array.of(0xff))
  expect(() => decodeInt64('\x80\x00\x00', 0)).toThrow(InvariantError)
  expect(() => decodeDouble('', 0)).toThrow(InvariantError)
})

test('byte strings and byte arrays turn into each other', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)
  expect(bytesOf(byteString(bytes))).toEqual(bytes)
  expect(byteString(bytes.subarray(10, 12))).toBe('\x0a\x0b')
  expect(byteString(Buffer.from(bytes).subarray(254))).toBe('\xfe\xff')
})

test('hex is read as it is written', () => {
  expect(hexOf('\x00\xffa')).toBe('00 ff 61')
  expect(fromHex('00 ff  61')).toBe('\x00\xffa')
  expect(() => fromHex('0')).toThrow(InvariantError)
})

test('the end of a prefix is the first string after all that start with it', () => {
  expect(prefixEnd('ab')).toBe('ac')
  expect(prefixEnd('a\xff\xff')).toBe('b')
  expect('a\xff\xff\xff' < prefixEnd('a\xff\xff')).toBe(true)
})

test('what is not UTF-8 is told from what is', () => {
  expect(textOfUtf8(utf8String('é😀'))).toBe('é😀')
  expect(textOfUtf8('\xc3')).toBeUndefined()
  expect(textOfUtf8('\xed\xa0\x80')).toBeUndefined()
})
