/**
 * Order-preserving codes of simple values: text, bytes, int64, double.
 *
 *   text, bytes   UTF-8 or raw bytes with 00 as 00 FF, then 00 01          2 bytes and more
 *   int64         big-endian, sign bit flipped                             8 bytes
 *   double        IEEE 754 big-endian; negative: all bits inverted, else the sign bit flipped; one code for all NaNs   8 bytes
 *
 * "a" is 61 00 01, 1 is 80 00 00 00 00 00 00 01, -1 is 7f ff ff ff ff ff ff ff. The order of codes is that of the values. No code is a
 * prefix of another, so codes can be concatenated, and inverted codes sort in the opposite order (test/property/ordered-codes.test.ts).
 *
 * All decoders take the whole byte string and an offset. Malformed bytes throw InvariantError, since no client wrote them.
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

/** Eight bytes that convert numbers to bits; no content outlives a function's call. */
const eight = Buffer.allocUnsafeSlow(8)
const bits = new DataView(eight.buffer, eight.byteOffset, 8)

function escapeBytes(bytes: string): string {
  return bytes.indexOf('\x00') < 0 ? bytes + terminator : bytes.replaceAll('\x00', escapedZero) + terminator
}

export function encodeText(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0 || unit > 0x7f) return escapeBytes(utf8String(text))
  }
  return text + terminator
}

/** The code of bytes, the same as that of a text with these bytes as UTF-8. */
export function encodeBytes(bytes: Uint8Array): string {
  return escapeBytes(byteString(bytes))
}

/** The offset just after the text or bytes at `offset`. @param inverted - whether the code is inverted */
export function skipText(code: string, offset: number, inverted = false): number {
  const [zero, flip] = inverted ? ['\xff', 0xff] : ['\x00', 0]
  for (let at = offset; ; ) {
    const found = code.indexOf(zero, at)
    const after = found < 0 ? Number.NaN : code.charCodeAt(found + 1)
    if (after === (0x01 ^ flip)) return found + 2
    if (after !== (0xff ^ flip)) throw new InvariantError(`the text at byte ${offset} has no proper end`)
    at = found + 2
  }
}

/** The raw bytes of the text or bytes at `offset`, as a byte string. */
export function decodeByteString(code: string, offset: number): Decoded<string> {
  const next = skipText(code, offset)
  const escaped = code.slice(offset, next - 2)
  return { value: escaped.indexOf('\x00') < 0 ? escaped : escaped.replaceAll(escapedZero, '\x00'), next }
}

/** The text at `offset`. Throws InvariantError if its bytes are not UTF-8. */
export function decodeText(code: string, offset: number): Decoded<string> {
  const { value, next } = decodeByteString(code, offset)
  const text = textOfUtf8(value)
  invariant(text !== undefined, `the bytes from ${offset} on are not UTF-8`)
  return { value: text, next }
}

export function decodeBytes(code: string, offset: number): Decoded<Uint8Array> {
  const { value, next } = decodeByteString(code, offset)
  return { value: bytesOf(value), next }
}

/** The bytes in `bits`, the first one XOR `flip`. */
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

export function int32At(code: string, offset: number): number {
  return (
    (code.charCodeAt(offset) << 24) |
    (code.charCodeAt(offset + 1) << 16) |
    (code.charCodeAt(offset + 2) << 8) |
    code.charCodeAt(offset + 3)
  )
}

/** Puts the eight bytes at `offset` into `bits`, the first one XOR `flip`. */
function putBits(code: string, offset: number, flip: number): void {
  if (offset + 8 > code.length) throw new InvariantError(`fewer than 8 bytes from byte ${offset} on`)
  bits.setInt32(0, int32At(code, offset) ^ flip)
  bits.setInt32(4, int32At(code, offset + 4))
}

/** The code of a signed 64-bit integer. A value out of range is a bug of the caller, and wraps. */
export function encodeInt64(value: bigint): string {
  bits.setBigInt64(0, value)
  return eightBytes(0x80)
}

export function decodeInt64(code: string, offset: number): bigint {
  putBits(code, offset, 0x8000_0000)
  return bits.getBigInt64(0)
}

/** Eight plain big-endian bytes, for versions and counters, which are never negative. */
export function encodeUint64(value: bigint): string {
  bits.setBigUint64(0, value)
  return eightBytes(0)
}

export function decodeUint64(code: string, offset: number): bigint {
  putBits(code, offset, 0)
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
  putBits(code, offset, 0x8000_0000)
  if (code.charCodeAt(offset) < 0x80) {
    bits.setInt32(0, bits.getInt32(0) ^ 0x7fff_ffff)
    bits.setInt32(4, ~bits.getInt32(4))
  }
  return bits.getFloat64(0)
}
