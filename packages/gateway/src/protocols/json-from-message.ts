/**
 * The JSON text of a message, in one pass over its bytes: texts are copied as they are, and nothing is made in between.
 *
 *   08 05 12 01 61  ─▶  {⏎  "id": "5",⏎  "name": "a"⏎}⏎
 *
 * P1  The text is that which the library's values give (json-codec.ts), but for members of maps: those stay in the order of
 *     the bytes.                                                                                   json-plain.test.ts
 * P2  Bytes that are in another order than writers leave them, or have a field twice, are left to the library (json-types/J1).
 *
 * Known: the proto3 JSON mapping, the wire format of protocol buffers. Measured: two blanks a level.
 */

import { printDouble } from './json-text.ts'
import { type JsonField, type JsonType, NotPlain, notPlain, plainDepthMax } from './json-types.ts'

const firstBufferBytes = 16 * 1024
/** Larger texts keep their buffer instead of being copied out of it. */
const copiedBytesMax = 64 * 1024
/** Shorter pieces are copied byte by byte, faster than by a call. */
const shortBytesMax = 24

const quote = 0x22
const comma = 0x2c
const blank = 0x20
const lineBreak = 0x0a

/** 0001-01-01 and 9999-12-31, in seconds. */
const secondsMin = -62_135_596_800
const secondsMax = 253_402_300_799

/** What a byte of a text becomes in JSON; `undefined` = itself. */
const escapes: readonly (Uint8Array | undefined)[] = Array.from({ length: 0x100 }, (_, code) => {
  const text = JSON.stringify(String.fromCharCode(code)).slice(1, -1)
  return text.length === 1 ? undefined : Buffer.from(text)
})

const trueText = Buffer.from('true')
const falseText = Buffer.from('false')
const nullText = Buffer.from('null')

class Printer {
  #bytes: Buffer = Buffer.alloc(0)
  #at = 0
  /** The varint read last, in halves. */
  #low = 0
  #high = 0
  #out: Buffer = Buffer.allocUnsafe(firstBufferBytes)
  #length = 0

  print(type: JsonType, bytes: Buffer): Buffer {
    this.#bytes = bytes
    this.#at = 0
    this.#length = 0
    this.#message(type, bytes.length, 0)
    this.#put(lineBreak)
    const out = this.#out
    const length = this.#length
    if (out.length > copiedBytesMax) this.#out = Buffer.allocUnsafe(firstBufferBytes)
    if (length > copiedBytesMax && length > out.length / 2) return out.subarray(0, length)
    const text = Buffer.allocUnsafe(length)
    out.copy(text, 0, 0, length)
    return text
  }

  // -- In -------------------------------------------------------------------------------------------------------------

  /** An unsigned number below 2^32: a tag or a length. */
  #varint(): number {
    const first = this.#bytes[this.#at] ?? 0x80
    if (first < 0x80) {
      this.#at++
      return first
    }
    this.#varint64()
    if (this.#high !== 0) throw notPlain
    return this.#low
  }

  /** Into {@link #low} and {@link #high}. */
  #varint64(): void {
    const bytes = this.#bytes
    let low = 0
    let high = 0
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = bytes[this.#at++]
      if (byte === undefined) throw notPlain
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= bits << (shift - 32)
      if (byte < 0x80) {
        // Longer than it need be.
        if (byte === 0 && shift > 0) throw notPlain
        this.#low = low >>> 0
        this.#high = high >>> 0
        return
      }
    }
    throw notPlain
  }

  /** Where the value ends whose length is next. */
  #endOf(limit: number): number {
    const length = this.#varint()
    const end = this.#at + length
    if (end > limit) throw notPlain
    return end
  }

  // -- Out ------------------------------------------------------------------------------------------------------------

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#out.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#out.length * 2, needed))
    this.#out.copy(larger, 0, 0, this.#length)
    this.#out = larger
  }

  #put(byte: number): void {
    this.#reserve(1)
    this.#out[this.#length++] = byte
  }

  #copy(bytes: Uint8Array): void {
    const { length } = bytes
    this.#reserve(length)
    const out = this.#out
    let to = this.#length
    this.#length = to + length
    for (let i = 0; i < length; i++) out[to++] = bytes[i] ?? 0
  }

  #ascii(text: string): void {
    const { length } = text
    this.#reserve(length)
    if (length > shortBytesMax) {
      this.#length += this.#out.write(text, this.#length, 'latin1')
      return
    }
    const out = this.#out
    let to = this.#length
    for (let i = 0; i < length; i++) out[to++] = text.charCodeAt(i)
    this.#length = to
  }

  /** @param isFirst - no comma before it */
  #line(depth: number, isFirst: boolean): void {
    this.#reserve(2 * depth + 2)
    const out = this.#out
    let to = this.#length
    if (!isFirst) out[to++] = comma
    out[to++] = lineBreak
    for (let i = 2 * depth; i > 0; i--) out[to++] = blank
    this.#length = to
  }

  /** Bytes of UTF-8 as a text of JSON. */
  #text(start: number, end: number): void {
    const bytes = this.#bytes
    this.#reserve(end - start + this.#escapeBytes(start, end) + 2)
    const out = this.#out
    let to = this.#length
    out[to++] = quote
    for (let from = start; from < end; from++) {
      const byte = bytes[from] ?? 0
      const escaped = escapes[byte]
      if (escaped === undefined) out[to++] = byte
      else {
        out.set(escaped, to)
        to += escaped.length
      }
    }
    out[to++] = quote
    this.#length = to
  }

  /** How many bytes more a text has, at most, when it is escaped. */
  #escapeBytes(start: number, end: number): number {
    if (end - start <= shortBytesMax) return shortBytesMax * 5
    let more = 0
    for (let at = start; at < end; at++) if (escapes[this.#bytes[at] ?? 0] !== undefined) more += 5
    return more
  }

  /** The varint read last, signed. */
  #integer(): void {
    this.#ascii(
      this.#high === 0 ? String(this.#low) : String(BigInt.asIntN(64, (BigInt(this.#high) << 32n) | BigInt(this.#low))),
    )
  }

  #number(value: number): void {
    if (Number.isFinite(value)) this.#ascii(printDouble(value))
    else this.#ascii(`"${value}"`)
  }

  #digits(value: number, count: number): void {
    this.#reserve(count)
    let rest = value
    for (let at = this.#length + count - 1; at >= this.#length; at--) {
      this.#out[at] = 0x30 + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    this.#length += count
  }

  // -- Both -----------------------------------------------------------------------------------------------------------

  #message(type: JsonType, end: number, depth: number): void {
    if (depth > plainDepthMax) throw notPlain
    this.#put(0x7b)
    let lastNumber = 0
    let isFirst = true
    let oneofs = 0
    while (this.#at < end) {
      const tag = this.#varint()
      const field = type.byNumber[tag >>> 3]
      if (field === undefined || field.tag !== tag || field.kind === 'other') throw notPlain
      if (field.number <= lastNumber || (oneofs & field.oneofBit) !== 0) throw notPlain
      lastNumber = field.number
      oneofs |= field.oneofBit
      if (field.isImplicit && this.#skipDefault(field)) continue
      this.#line(depth + 1, isFirst)
      isFirst = false
      this.#copy(field.label)
      if (field.isList || field.isMap) this.#all(field, end, depth + 1)
      else this.#value(field, end, depth + 1)
    }
    if (this.#at !== end) throw notPlain
    if (!isFirst) this.#line(depth, true)
    this.#put(0x7d)
  }

  /** The values of a list or the entries of a map: all that follow each other. */
  #all(field: JsonField, end: number, depth: number): void {
    this.#put(field.isMap ? 0x7b : 0x5b)
    let isFirst = true
    for (;;) {
      this.#line(depth + 1, isFirst)
      isFirst = false
      if (field.isMap) this.#entry(field, end, depth + 1)
      else this.#value(field, end, depth + 1)
      const before = this.#at
      if (before >= end) break
      if (this.#varint() !== field.tag) {
        this.#at = before
        break
      }
    }
    this.#line(depth, true)
    this.#put(field.isMap ? 0x7d : 0x5d)
  }

  /** Of a map: `{ key 1, value 2 }`, both of them there. */
  #entry(field: JsonField, limit: number, depth: number): void {
    const end = this.#endOf(limit)
    if (this.#varint() !== 0x0a) throw notPlain
    const keyEnd = this.#endOf(end)
    this.#text(this.#at, keyEnd)
    this.#at = keyEnd
    if (this.#varint() !== 0x12 || field.type === undefined) throw notPlain
    this.#put(0x3a)
    this.#put(blank)
    this.#value(field, end, depth)
    if (this.#at !== end) throw notPlain
  }

  /** Whether the next value is the default one: then it is passed. */
  #skipDefault({ kind }: JsonField): boolean {
    const bytes = this.#bytes
    // A varint of 0, and a length of 0, are one byte; a double of 0 is eight.
    const length = kind === 'double' ? 8 : 1
    for (let at = this.#at + length - 1; at >= this.#at; at--) if (bytes[at] !== 0) return false
    this.#at += length
    return true
  }

  #value(field: JsonField, limit: number, depth: number): void {
    switch (field.kind) {
      case 'int64':
        this.#varint64()
        this.#put(quote)
        this.#integer()
        this.#put(quote)
        return
      case 'int32':
        this.#varint64()
        this.#ascii(String(this.#low | 0))
        return
      case 'bool':
        this.#varint64()
        this.#copy(this.#low === 0 && this.#high === 0 ? falseText : trueText)
        return
      case 'enum': {
        this.#varint64()
        const text = field.enumTexts.get(this.#low | 0)
        if (text === undefined) throw notPlain
        this.#copy(text)
        return
      }
      case 'null':
        this.#varint64()
        this.#copy(nullText)
        return
      case 'double':
        if (this.#at + 8 > limit) throw notPlain
        this.#number(this.#bytes.readDoubleLE(this.#at))
        this.#at += 8
        return
      case 'string': {
        const end = this.#endOf(limit)
        this.#text(this.#at, end)
        this.#at = end
        return
      }
      case 'bytes': {
        const end = this.#endOf(limit)
        this.#put(quote)
        this.#ascii(this.#bytes.toString('base64', this.#at, end))
        this.#put(quote)
        this.#at = end
        return
      }
      case 'timestamp':
        this.#timestamp(this.#endOf(limit))
        return
      case 'int32Value':
      case 'other':
        throw notPlain
      case 'message':
        if (field.type === undefined) throw notPlain
        this.#message(field.type, this.#endOf(limit), depth)
        return
    }
  }

  /** `{ seconds 1, nanos 2 }` as RFC 3339 in UTC, with no, three, six or nine digits of a second. */
  #timestamp(end: number): void {
    let seconds = 0
    let nanos = 0
    if (this.#at < end && this.#bytes[this.#at] === 0x08) {
      this.#at++
      this.#varint64()
      seconds = (this.#high | 0) * 0x1_0000_0000 + this.#low
    }
    if (this.#at < end && this.#bytes[this.#at] === 0x10) {
      this.#at++
      this.#varint64()
      if (this.#high !== 0 || this.#low > 999_999_999) throw notPlain
      nanos = this.#low
    }
    if (this.#at !== end || seconds < secondsMin || seconds > secondsMax) throw notPlain
    const date = new Date(seconds * 1000)
    this.#put(quote)
    this.#digits(date.getUTCFullYear(), 4)
    this.#put(0x2d)
    this.#digits(date.getUTCMonth() + 1, 2)
    this.#put(0x2d)
    this.#digits(date.getUTCDate(), 2)
    this.#put(0x54)
    this.#digits(date.getUTCHours(), 2)
    this.#put(0x3a)
    this.#digits(date.getUTCMinutes(), 2)
    this.#put(0x3a)
    this.#digits(date.getUTCSeconds(), 2)
    if (nanos > 0) {
      this.#put(0x2e)
      if (nanos % 1_000_000 === 0) this.#digits(nanos / 1_000_000, 3)
      else if (nanos % 1000 === 0) this.#digits(nanos / 1000, 6)
      else this.#digits(nanos, 9)
    }
    this.#put(0x5a)
    this.#put(quote)
  }
}

const shared = new Printer()

/** The text as bytes of UTF-8, ended by a line break; `undefined` = the message is not plain (json-types/J1). */
export function plainJson(type: JsonType, message: Buffer): Buffer | undefined {
  try {
    return shared.print(type, message)
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}
