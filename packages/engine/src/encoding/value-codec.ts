/**
 * Order-preserving codes of the values in index rows, and the byte beside them that tells their type.
 *
 *   10          null                              30 double
 *   18 int64    integers, timestamps (µs)         38 double double    geo points: latitude, longitude
 *   20 | 21     false | true                      40 text × 5         users: the fields by which they sort
 *   28 text     strings (UTF-8), blobs            48 partition path   keys
 *
 * "ada" is 28 61 64 61 00 01. The order of codes is that of the values (head of model/value.ts), so the first byte orders values of different types. An integer
 * and an equal timestamp share a code because Datastore orders them as equal, and so do a string and a blob; the row's value byte keeps
 * which it was (low bits), and whether the property has more than one entry in the entity (bit 7). Code and byte give the value back,
 * except meanings and other fields of users (test/property/value-order.test.ts).
 *
 * Known: order across types (measured, both of Google's emulators). Ours: the bytes, and -0.0 before 0.0.
 */
import { InvariantError, invariant } from '../invariant.ts'
import { type IndexableValue, userFields, userMeaning, userSortFields, type Value } from '../model/value.ts'
import { textOfUtf8 } from './bytes.ts'
import { decodeKeyCode, keyCode, skipPartition, skipPath } from './key-codec.ts'
import {
  type Decoded,
  decodeByteString,
  decodeBytes,
  decodeDouble,
  decodeInt64,
  decodeText,
  encodeBytes,
  encodeDouble,
  encodeInt64,
  encodeText,
  skipText,
} from './ordered.ts'
import { classOfByte, firstTypeOf, typeBytes, type ValueClass, valueClasses } from './value-types.ts'

const multiBit = 0x80
const typeMask = 0x7f

export const nullCode = '\x10'

export function valueCode(value: IndexableValue): string {
  switch (value.type) {
    case 'null':
      return nullCode
    case 'integer':
      return `\x18${encodeInt64(value.value)}`
    case 'timestamp':
      return `\x18${encodeInt64(value.micros)}`
    case 'boolean':
      return value.value ? '\x21' : '\x20'
    case 'string':
      return `\x28${encodeText(value.value)}`
    case 'blob':
      return `\x28${encodeBytes(value.value)}`
    case 'double':
      return `\x30${encodeDouble(value.value)}`
    case 'geoPoint':
      return `\x38${encodeDouble(value.latitude)}${encodeDouble(value.longitude)}`
    case 'entity':
      return `\x40${userSortFields(value).map(encodeText).join('')}`
    case 'key':
      return `\x48${keyCode(value.key)}`
  }
}

/** @returns the offset just after the value */
export function skipValue(code: string, offset: number, inverted = false): number {
  const { body } = valueClasses[classOf(code.charCodeAt(offset) ^ (inverted ? 0xff : 0), offset)]
  switch (body) {
    case 'text':
      return skipText(code, offset + 1, inverted)
    case 'user':
      return userFields.reduce((at) => skipText(code, at, inverted), offset + 1)
    case 'key':
      return skipPath(code, skipPartition(code, offset + 1, inverted), inverted)
    case 0:
    case 8:
    case 16:
      return offset + 1 + body
  }
}

/** Whether the value at `offset` has an inverted code: class bytes are below 80, so inverted ones are above. */
export function isInvertedValue(code: string, offset: number): boolean {
  return code.charCodeAt(offset) >= 0x80
}

function classOf(byte: number, offset: number): ValueClass {
  const found = classOfByte[byte]
  if (found === undefined) throw new InvariantError(`byte ${offset} is not a class of values`)
  return found
}

/** A guess of the type from the code alone: integer rather than timestamp, string rather than blob if it is UTF-8. */
export function likelyType(code: string, offset: number): number {
  const type = firstTypeOf[classOf(code.charCodeAt(offset), offset)]
  const isText = type !== 'string' || textOfUtf8(decodeByteString(code, offset + 1).value) !== undefined
  return isText ? typeBytes[type] : typeBytes.blob
}

/** The value at `offset`. @param typeByte - an index row's value byte */
export function decodeValueCode(code: string, offset: number, typeByte: number): Decoded<IndexableValue> {
  const type = typeByte & typeMask
  const payload = offset + 1
  const name = classOf(code.charCodeAt(offset), offset)
  switch (name) {
    case 'null':
      return { value: { type: 'null' }, next: payload }
    case 'int64': {
      const number = decodeInt64(code, payload)
      if (type === typeBytes.timestamp) return { value: { type: 'timestamp', micros: number }, next: offset + 9 }
      return { value: { type: 'integer', value: number }, next: offset + 9 }
    }
    case 'false':
    case 'true':
      return { value: { type: 'boolean', value: name === 'true' }, next: payload }
    case 'bytes': {
      if (type === typeBytes.blob) {
        const bytes = decodeBytes(code, payload)
        return { value: { type: 'blob', value: bytes.value }, next: bytes.next }
      }
      const text = decodeText(code, payload)
      return { value: { type: 'string', value: text.value }, next: text.next }
    }
    case 'double':
      return { value: { type: 'double', value: decodeDouble(code, payload) }, next: offset + 9 }
    case 'geoPoint': {
      const latitude = decodeDouble(code, payload)
      const longitude = decodeDouble(code, offset + 9)
      return { value: { type: 'geoPoint', latitude, longitude }, next: offset + 17 }
    }
    case 'user':
      return decodeUser(code, payload)
    case 'key': {
      const key = decodeKeyCode(code, payload)
      return { value: { type: 'key', key: key.value }, next: key.next }
    }
  }
}

function decodeUser(code: string, offset: number): Decoded<IndexableValue> {
  const properties = new Map<string, Value>()
  let at = offset
  for (const name of userFields) {
    const field = decodeText(code, at)
    if (field.value !== '') properties.set(name, { type: 'string', value: field.value })
    at = field.next
  }
  return { value: { type: 'entity', meaning: userMeaning, properties }, next: at }
}

const rowValues: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

/** The value byte of an index row for a type of {@link typeBytes}, as a shared array that must not be changed. */
export function indexRowValue(type: number, multi: boolean): Uint8Array {
  const value = rowValues[multi ? type | multiBit : type]
  invariant(value !== undefined, `there is no type ${type}`)
  return value
}

export function isMulti(typeByte: number): boolean {
  return (typeByte & multiBit) !== 0
}

export function typeOf(typeByte: number): number {
  return typeByte & typeMask
}

export function typeByteOf(type: number, multi: boolean): number {
  return multi ? type | multiBit : type
}
