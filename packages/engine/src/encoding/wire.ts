/**
 * The wire form of protocol buffers, as far as entities need it: a reader over bytes and a growing writer.
 *
 *   message  = field*            field = tag payload          tag = varint(field number << 3 | wire type)
 *   payload  = varint (0) | 8 bytes (1) | length, bytes (2) | group … end (3, 4) | 4 bytes (5)
 *
 * A 64-bit number is read as two unsigned halves, so that callers which only move bits need no bigint. Unknown fields are
 * skipped, groups too. Malformed bytes throw INVALID_ARGUMENT with the offset and the expected form; no input causes any
 * other error (test/property/entity-fuzz.test.ts).
 *
 * Known: the public description of the wire format.
 */
import { Buffer, isUtf8 } from 'node:buffer'
import { type DatastoreError, invalidArgument } from '../errors.ts'
import { checkPartCount, partLimits } from '../part-limits.ts'

export const wireVarint = 0
export const wireFixed64 = 1
export const wireBytes = 2
const wireGroup = 3
const wireGroupEnd = 4
const wireFixed32 = 5

/** Entities have no groups, so deeper nesting is an attack. */
const groupDepthMax = 100

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Whether bytes [start, end) are all below 0x80. For short runs this loop costs less than a call into the runtime. */
function isAscii(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if ((bytes[i] as number) > 0x7f) return false
  return true
}

const shortRunBytesMax = 48

/** Whether bytes [start, end) are well-formed UTF-8 (no lone surrogates, no overlong forms). */
export function isWellFormedText(bytes: Buffer, start: number, end: number): boolean {
  if (end - start <= shortRunBytesMax && isAscii(bytes, start, end)) return true
  return isUtf8(bytes.subarray(start, end))
}

/** The error for bytes [start, end) that are not UTF-8. `what` names the field: `the kind of a key`. */
export function notText(start: number, end: number, what: string): DatastoreError {
  return invalidArgument(`${what} is not valid UTF-8 (${end - start} bytes at byte ${start} of the message)`)
}

/** Bytes [start, end) as text; `undefined` unless they are UTF-8. For callers to which the field's name is expensive. */
export function tryReadText(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start <= shortRunBytesMax && isAscii(bytes, start, end)) return bytes.toString('latin1', start, end)
  return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : undefined
}

/** Bytes [start, end) as text; INVALID_ARGUMENT unless they are UTF-8. */
export function readText(bytes: Buffer, start: number, end: number, what: string): string {
  const text = tryReadText(bytes, start, end)
  if (text === undefined) throw notText(start, end, what)
  return text
}

/** Walks one message. `position` is the next byte, `end` the end of the innermost message entered. */
export class WireReader {
  readonly bytes: Buffer
  position: number
  end: number
  /** Unsigned halves of the last varint or fixed64. */
  low = 0
  high = 0
  #skipped = 0

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length) {
    this.bytes = asBuffer(bytes)
    this.position = start
    this.end = end
  }

  malformed(offset: number, what: string): DatastoreError {
    return invalidArgument(`malformed protocol buffer at byte ${offset} of the message: ${what}`)
  }

  /** The next tag, field number << 3 | wire type; 0 at the end of the message. */
  tag(): number {
    if (this.position >= this.end) return 0
    const start = this.position
    const first = this.bytes[start] as number
    if (first < 0x80) {
      this.position = start + 1
      if (first < 8) throw this.malformed(start, 'a field number is 0')
      return first
    }
    this.varint()
    if (this.high !== 0 || this.low < 8) throw this.malformed(start, 'a field number is out of range')
    return this.low
  }

  varint(): void {
    const { bytes, end } = this
    const start = this.position
    let position = start
    let low = 0
    let high = 0
    for (let shift = 0; ; shift += 7) {
      if (position >= end) throw this.malformed(start, 'a varint is cut off')
      const byte = bytes[position++] as number
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= bits << (shift - 32)
      if (byte < 0x80) break
      if (shift === 63) throw this.malformed(start, 'a varint is longer than 10 bytes')
    }
    this.low = low >>> 0
    this.high = high >>> 0
    this.position = position
  }

  /** The number in a field whose tag was read; higher bits are dropped, as the format requires. */
  int32(tag: number, what: string): number {
    this.expect(tag, wireVarint, what)
    this.varint()
    return this.low | 0
  }

  bool(tag: number, what: string): boolean {
    this.expect(tag, wireVarint, what)
    this.varint()
    return this.low !== 0 || this.high !== 0
  }

  /** Reads the length of a length-delimited field and checks that its bytes are there. */
  length(): number {
    const start = this.position
    const first = start < this.end ? (this.bytes[start] as number) : 0x80
    let length = first
    if (first < 0x80) this.position = start + 1
    else {
      this.varint()
      length = this.high === 0 ? this.low : Number.POSITIVE_INFINITY
    }
    if (length > this.end - this.position) {
      throw this.malformed(start, `a length is beyond the end, ${this.end - this.position} bytes are left`)
    }
    return length
  }

  /** Skips 8 bytes and returns their offset. */
  fixed64(): number {
    const start = this.position
    if (this.end - start < 8) throw this.malformed(start, 'expected 8 bytes, the message ends before')
    this.position = start + 8
    return start
  }

  double(tag: number, what: string): number {
    this.expect(tag, wireFixed64, what)
    return this.bytes.readDoubleLE(this.fixed64())
  }

  /** The text of a field whose tag was read. @param what - its name in error messages */
  text(tag: number, what: string): string {
    this.expect(tag, wireBytes, what)
    const end = this.length() + this.position
    const text = readText(this.bytes, this.position, end, what)
    this.position = end
    return text
  }

  int64(tag: number, what: string): bigint {
    this.expect(tag, wireVarint, what)
    this.varint()
    return int64FromHalves(this.low, this.high)
  }

  expect(tag: number, wireType: number, what: string): void {
    if ((tag & 7) !== wireType) {
      throw this.malformed(this.position, `${what} (field ${tag >>> 3}) has wire type ${tag & 7}, expected ${wireType}`)
    }
  }

  /** @throws INVALID_ARGUMENT for more unknown fields than an entity may have */
  skip(tag: number, depth = 0): void {
    checkPartCount(partLimits.unknownFields, ++this.#skipped)
    switch (tag & 7) {
      case wireVarint:
        this.varint()
        return
      case wireFixed64:
        this.fixed64()
        return
      case wireBytes: {
        const length = this.length()
        this.position += length
        return
      }
      case wireFixed32:
        if (this.end - this.position < 4) {
          throw this.malformed(this.position, 'expected 4 bytes, the message ends before')
        }
        this.position += 4
        return
      case wireGroup:
        this.#skipGroup(tag, depth)
        return
      default:
        throw this.malformed(this.position, `field ${tag >>> 3} has wire type ${tag & 7}, which cannot start a field`)
    }
  }

  #skipGroup(tag: number, depth: number): void {
    const start = this.position
    if (depth >= groupDepthMax) throw this.malformed(start, `groups are nested deeper than ${groupDepthMax}`)
    const endTag = ((tag & ~7) | wireGroupEnd) >>> 0
    for (;;) {
      const inner = this.tag()
      if (inner === 0) throw this.malformed(start, `the group of field ${tag >>> 3} is not closed`)
      if (inner === endTag) return
      this.skip(inner, depth + 1)
    }
  }
}

export function int64FromHalves(low: number, high: number): bigint {
  // If the number fits in a double, one conversion is enough.
  const signedHigh = high | 0
  if (signedHigh >= -0x20_0000 && signedHigh < 0x20_0000) return BigInt(signedHigh * 0x1_0000_0000 + low)
  return (BigInt(signedHigh) << 32n) | BigInt(low)
}

/** Builds one message. Nested messages are written in place; see {@link WireWriter.open}. */
export class WireWriter {
  #buffer: Buffer = Buffer.allocUnsafe(256)
  #length = 0

  get length(): number {
    return this.#length
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }

  #varint32(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#buffer[this.#length++] = rest
  }

  /** Writes an unsigned number below 2^32. */
  uint32(field: number, value: number): void {
    this.#reserve(10)
    this.#varint32(field << 3)
    this.#varint32(value)
  }

  /** Negative numbers take ten bytes, as the format requires for int32 and int64. */
  int64(field: number, value: bigint): void {
    this.#reserve(15)
    this.#varint32(field << 3)
    if (value >= 0n && value <= Number.MAX_SAFE_INTEGER) {
      let rest = Number(value)
      while (rest > 0x7f_ffff) {
        this.#buffer[this.#length++] = (rest & 0x7f) | 0x80
        rest = Math.floor(rest / 128)
      }
      this.#varint32(rest)
      return
    }
    let rest = BigInt.asUintN(64, value)
    while (rest > 0x7fn) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#buffer[this.#length++] = Number(rest)
  }

  double(field: number, value: number): void {
    this.#reserve(13)
    this.#varint32((field << 3) | wireFixed64)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
  }

  text(field: number, value: string): void {
    const bytes = Buffer.byteLength(value)
    this.#reserve(bytes + 10)
    this.#varint32((field << 3) | wireBytes)
    this.#varint32(bytes)
    this.#length += this.#buffer.write(value, this.#length, 'utf8')
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(value.length + 10)
    this.#varint32((field << 3) | wireBytes)
    this.#varint32(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  /** Appends bytes that are complete fields. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
  }

  /** Starts a nested message; pass the result to {@link close} when its fields are written. */
  open(field: number): number {
    this.#reserve(6)
    this.#varint32((field << 3) | wireBytes)
    this.#length += 1
    return this.#length
  }

  /** Ends the nested message whose content starts at `start`, and writes its length there. */
  close(start: number): void {
    const length = this.#length - start
    let lengthBytes = 1
    for (let rest = length >>> 7; rest > 0; rest >>>= 7) lengthBytes++
    if (lengthBytes > 1) {
      this.#reserve(lengthBytes - 1)
      this.#buffer.copyWithin(start + lengthBytes - 1, start, this.#length)
    }
    this.#length = start - 1
    this.#varint32(length)
    this.#length += length
  }

  finish(): Uint8Array {
    const message = Buffer.allocUnsafe(this.#length)
    this.#buffer.copy(message, 0, 0, this.#length)
    return message
  }
}
