/**
 * The bytes of a message, in one pass over its JSON value.
 *
 *   { id: "5", name: "a" }  ─▶  08 05 12 01 61
 *
 * P3  The bytes are those which the library gives for the value (json-codec.ts).                   json-plain.test.ts
 * P4  Whatever is refused, or has another form than most clients send, is left to the library (json-types/J1): so there is one place
 *     that says why a body is no message.
 *
 * Known: the proto3 JSON mapping, the wire format of protocol buffers.
 */
import { messageOf } from '../call.ts'
import { type AnswerWriter, writeAnswer } from '../convert/answer-writer.ts'
import type { Json } from './json-text.ts'
import { type JsonField, type JsonType, NotPlain, notPlain, plainDepthMax } from './json-types.ts'

/** The message, written back to front; `undefined` = the value is not plain (json-types/J1). Texts in it have no half surrogates. */
export function plainMessage(type: JsonType, json: Json): Buffer | undefined {
  try {
    return messageOf(writeAnswer((writer) => writeMembers(writer, type, json, 0)))
  } catch (error) {
    if (error instanceof NotPlain) return undefined
    throw error
  }
}

interface Member {
  readonly field: JsonField
  readonly value: Json
}

/** The fields of a message in falling order, for they are written from the last to the first. */
function writeMembers(writer: AnswerWriter, type: JsonType, json: Json, depth: number): void {
  const object = objectOf(json)
  if (depth > plainDepthMax) throw notPlain
  const members: Member[] = []
  let oneofs = 0
  for (const name of Object.keys(object)) {
    const field = type.byName.get(name)
    const value = object[name]
    if (field === undefined || value === undefined || (oneofs & field.oneofBit) !== 0) throw notPlain
    oneofs |= field.oneofBit
    members.push({ field, value })
  }
  if (members.length > 1) members.sort((a, b) => b.field.number - a.field.number)
  let lastNumber = 0
  for (const { field, value } of members) {
    if (field.number === lastNumber) throw notPlain
    lastNumber = field.number
    if (field.isList) {
      if (!Array.isArray(value)) throw notPlain
      for (let i = value.length - 1; i >= 0; i--) writeValue(writer, field, value[i], depth)
    } else if (field.isMap) writeMap(writer, field, objectOf(value), depth)
    else if (!field.isImplicit || !isDefault(field, value)) writeValue(writer, field, value, depth)
  }
}

function objectOf(json: Json | undefined): { [name: string]: Json } {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) throw notPlain
  return json
}

/** Whether a field that is not there would have this value too; those of enums and long integers are known later. */
function isDefault({ kind }: JsonField, value: Json): boolean {
  switch (kind) {
    case 'string':
    case 'bytes':
      return value === ''
    case 'bool':
      return value === false
    case 'int32':
    case 'double':
      return Object.is(value, 0)
    default:
      return false
  }
}

/** Entries `{ key 1, value 2 }`, in the order of the object. */
function writeMap(writer: AnswerWriter, field: JsonField, object: { [name: string]: Json }, depth: number): void {
  const { type } = field
  if (type === undefined) throw notPlain
  const names = Object.keys(object)
  for (let i = names.length - 1; i >= 0; i--) {
    const name = names[i] ?? ''
    const entryMark = writer.mark()
    const valueMark = writer.mark()
    writeMembers(writer, type, object[name] ?? null, depth + 1)
    writer.head(2, valueMark)
    writer.text(1, name)
    writer.head(field.number, entryMark)
  }
}

const int32Max = 0x7fff_ffff
const int64Max = 2n ** 63n - 1n

function writeValue(writer: AnswerWriter, field: JsonField, value: Json | undefined, depth: number): void {
  const { kind, number } = field
  switch (kind) {
    case 'int64':
      writeInt64(writer, field, int64Of(value))
      return
    case 'int32':
      writer.uint32(number, naturalOf(value))
      return
    case 'bool':
      if (typeof value !== 'boolean') throw notPlain
      writer.uint32(number, value ? 1 : 0)
      return
    case 'enum': {
      const of = typeof value === 'string' ? field.enumNumbers.get(value) : undefined
      if (of === undefined || of < 0) throw notPlain
      if (of > 0 || !field.isImplicit) writer.uint32(number, of)
      return
    }
    case 'null':
      if (value !== null && value !== 'NULL_VALUE') throw notPlain
      writer.uint32(number, 0)
      return
    case 'double':
      if (typeof value !== 'number') throw notPlain
      writer.raw(doubleBytes(field.tag, value))
      return
    case 'string':
      if (typeof value !== 'string') throw notPlain
      writer.text(number, value)
      return
    case 'bytes':
      writer.bytes(number, bytesOf(value))
      return
    case 'timestamp': {
      const end = writer.mark()
      writeTimestamp(writer, value)
      writer.head(number, end)
      return
    }
    case 'int32Value': {
      const end = writer.mark()
      const natural = naturalOf(value)
      if (natural !== 0) writer.uint32(1, natural)
      writer.head(number, end)
      return
    }
    case 'message': {
      if (field.type === undefined) throw notPlain
      const end = writer.mark()
      writeMembers(writer, field.type, value ?? null, depth + 1)
      writer.head(number, end)
      return
    }
    case 'other':
      throw notPlain
  }
}

function writeInt64(writer: AnswerWriter, { number, isImplicit }: JsonField, value: bigint): void {
  if (value !== 0n || !isImplicit) writer.int64(number, value)
}

function int64Of(value: Json | undefined): bigint {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value)) throw notPlain
    return BigInt(value)
  }
  if (typeof value !== 'string' || !/^-?\d{1,19}$/.test(value)) throw notPlain
  const integer = BigInt(value)
  if (integer > int64Max || integer < -int64Max) throw notPlain
  return integer
}

/** An int32 that is not negative. */
function naturalOf(value: Json | undefined): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > int32Max) throw notPlain
  if (Object.is(value, -0)) throw notPlain
  return value
}

/** A field of a double: its tag and eight bytes. Overwritten by the next. */
function doubleBytes(tag: number, value: number): Uint8Array {
  if (tag > 0x7f) throw notPlain
  doubleScratch[0] = tag
  doubleScratch.writeDoubleLE(value, 1)
  return doubleScratch
}

const doubleScratch = Buffer.alloc(9)

/** Base64 of one alphabet (measured), padded or not. */
function bytesOf(value: Json | undefined): Buffer {
  if (typeof value !== 'string') throw notPlain
  const unpadded = value.endsWith('=') ? value.replace(/={1,2}$/, '') : value
  const isPadded = unpadded.length < value.length
  if ((isPadded && value.length % 4 !== 0) || unpadded.length % 4 === 1) throw notPlain
  if (!/^(?:[A-Za-z0-9+/]*|[A-Za-z0-9_-]*)$/.test(unpadded)) throw notPlain
  return Buffer.from(unpadded, 'base64')
}

const utcTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,9}))?Z$/

/** `{ seconds 1, nanos 2 }` from RFC 3339 in UTC. */
function writeTimestamp(writer: AnswerWriter, value: Json | undefined): void {
  const match = typeof value === 'string' ? utcTime.exec(value) : null
  if (typeof value !== 'string' || match === null) throw notPlain
  const seconds = Date.parse(`${value.slice(0, 19)}Z`) / 1000
  // The years before 1 are the library's; there are none after 9999 of four digits.
  if (Number.isNaN(seconds) || value.startsWith('0000')) throw notPlain
  const nanos = Number((match[1] ?? '').padEnd(9, '0'))
  if (nanos !== 0) writer.uint32(2, nanos)
  if (seconds !== 0) writer.int64(1, BigInt(seconds))
}
