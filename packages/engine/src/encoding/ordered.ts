/**
 * Order-preserving codes of the simple things: text, bytes, int64, double.
 *
 *   text, bytes   UTF-8 or raw bytes with 00 as 00 FF, then 00 01          2 bytes and more
 *   int64         big-endian, sign bit flipped                             8 bytes
 *   double        IEEE 754 big-endian; negative: all bits inverted, else the sign bit flipped; one code for all NaNs   8 bytes
 *
 * O1  The order of codes is the order of what they stand for.        test/property/ordered-codes.test.ts
 * O2  No code is a proper prefix of another, so codes concatenate,
 *     and inverted codes stand in the opposite order.                same
 * O3  Decoding gives back what was encoded.                          same
 *
 * All decoders take the whole byte string and an offset. Broken bytes throw InvariantError: they are never a client's
 * doing. Ours: the codes; the idea of a terminated, escaped text is common to ordered stores.
 */
import { Buffer } from 'node:buffer'
import { InvariantError, invariant } from '../invariant.ts'
import { byteString, bytesOf, textOfUtf8, utf8String } from './bytes.ts'

/** The result of a decoder, and the offset just after its bytes. */
export interface Decoded<T> {
  readonly value: T
  readonly next: number
}

const terminator = '\x00\x01'
const escapedZero = '\x00\xff'

/** Eight bytes through which numbers become bits; free again as soon as a function returns. */
const eight = Buffer.allocUnsafeSlow(8)
const bits = new DataView(eight.buffer, eight.byteOffset, 8)

function escapeBytes(bytes: string): string {
  return bytes.indexOf('\x00') < 0 ? bytes + terminator : bytes.replaceAll('\x00', escapedZero) + terminator
}

/** The code of a text. */
export function encodeText(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0 || unit > 0x7f) return escapeBytes(utf8String(text))
  }
  return text + terminator
}

/** The code of bytes: that of a text with the same UTF-8. */
export function encodeBytes(bytes: Uint8Array): string {
  return escapeBytes(byteString(bytes))
}

/** Where the text or bytes at `offset` end: the offset just after the terminator. */
export function skipText(code: string, offset: number): number {
  let at = offset
  for (;;) {
    const zero = code.indexOf('\x00', at)
    const after = zero < 0 ? Number.NaN : code.charCodeAt(zero + 1)
    if (after === 0x01) return zero + 2
    if (after !== 0xff) throw new InvariantError(`O3: the text at byte ${offset} has no proper end`)
    at = zero + 2
  }
}

/** {@link skipText} for inverted codes. */
export function skipInvertedText(code: string, offset: number): number {
  let at = offset
  for (;;) {
    const zero = code.indexOf('\xff', at)
    const after = zero < 0 ? Number.NaN : code.charCodeAt(zero + 1)
    if (after === 0xfe) return zero + 2
    if (after !== 0x00) throw new InvariantError(`O3: the inverted text at byte ${offset} has no proper end`)
    at = zero + 2
  }
}

/** The raw bytes of the text or bytes at `offset`, as a byte string. */
export function decodeByteString(code: string, offset: number): Decoded<string> {
  const next = skipText(code, offset)
  const escaped = code.slice(offset, next - 2)
  return { value: escaped.indexOf('\x00') < 0 ? escaped : escaped.replaceAll(escapedZero, '\x00'), next }
}

/** The text at `offset`. Throws InvariantError when its bytes are not UTF-8. */
export function decodeText(code: string, offset: number): Decoded<string> {
  const { value, next } = decodeByteString(code, offset)
  const text = textOfUtf8(value)
  invariant(text !== undefined, `O3: the bytes from ${offset} on are not UTF-8`)
  return { value: text, next }
}

/** The bytes at `offset`. */
export function decodeBytes(code: string, offset: number): Decoded<Uint8Array> {
  const { value, next } = decodeByteString(code, offset)
  return { value: bytesOf(value), next }
}

/** The eight bytes now in `bits`, the first one XOR `flip`. */
function eightBytes(flip: number): string {
  return String.fromCharCode(
    bits.getUint8(0) ^ flip,
    bits.getUint8(1),
    bits.getUint8(2),
    bits.getUint8(3),
    bits.getUint8(4),
    bits.getUint8(5),
    bits.getUint8(6),
    bits.getUint8(7),
  )
}

/** Four bytes of `code` at `offset` as a signed 32-bit number. */
function int32At(code: string, offset: number): number {
  return (
    (code.charCodeAt(offset) << 24) |
    (code.charCodeAt(offset + 1) << 16) |
    (code.charCodeAt(offset + 2) << 8) |
    code.charCodeAt(offset + 3)
  )
}

function requireEight(code: string, offset: number): void {
  if (offset + 8 > code.length) throw new InvariantError(`O3: fewer than 8 bytes from byte ${offset} on`)
}

/** The code of a signed 64-bit integer; values outside are a fault of the caller and wrap. */
export function encodeInt64(value: bigint): string {
  bits.setBigInt64(0, value)
  return eightBytes(0x80)
}

export function decodeInt64(code: string, offset: number): bigint {
  requireEight(code, offset)
  bits.setInt32(0, int32At(code, offset) ^ 0x8000_0000)
  bits.setInt32(4, int32At(code, offset + 4))
  return bits.getBigInt64(0)
}

/** Eight plain big-endian bytes: versions and counters, which are never negative. */
export function encodeUint64(value: bigint): string {
  bits.setBigUint64(0, value)
  return eightBytes(0)
}

export function decodeUint64(code: string, offset: number): bigint {
  requireEight(code, offset)
  bits.setInt32(0, int32At(code, offset))
  bits.setInt32(4, int32At(code, offset + 4))
  return bits.getBigUint64(0)
}

/** The code of a double. -0.0 sorts before 0.0; every NaN is the positive quiet one, after Infinity. */
export function encodeDouble(value: number): string {
  bits.setFloat64(0, value)
  if (Number.isNaN(value)) {
    bits.setUint32(0, 0x7ff8_0000)
    bits.setUint32(4, 0)
  } else if (bits.getUint8(0) >= 0x80) {
    bits.setInt32(0, ~bits.getInt32(0))
    bits.setInt32(4, ~bits.getInt32(4))
    return eightBytes(0)
  }
  return eightBytes(0x80)
}

export function decodeDouble(code: string, offset: number): number {
  requireEight(code, offset)
  const high = int32At(code, offset)
  const low = int32At(code, offset + 4)
  if (high < 0) {
    bits.setInt32(0, high ^ 0x8000_0000)
    bits.setInt32(4, low)
  } else {
    bits.setInt32(0, ~high)
    bits.setInt32(4, ~low)
  }
  return bits.getFloat64(0)
}
