/**
 * Property values in the form of App Engine's v3 API, and back to ours.
 *
 *   Property        meaning 1, meaning URI 2, name 3, multiple 4, value 5 (PropertyValue)
 *   PropertyValue   int64 1, boolean 2, string 3, double 4, group 5 { latitude 6, longitude 7 }, group 8 (user),
 *                   group 12 (ReferenceValue); none of them is null
 *   user            email 9, auth domain 10, number 18 (always 0), user id 19, federated identity 21 and provider 22
 *
 * The type of a value is its member together with its meaning. An int64 of meaning 7 is a timestamp, 13 a rating; a string of 16 or 14 is a
 * blob (indexed, excluded), of 14 with the URI "ZLIB" a compressed one, of 19 an embedded entity; group 5 has meaning 9. tags = ["a", "b"] is
 * two properties `tags`, each marked `multiple`, and an empty array one of meaning 24. writeProperty() reports any other value as not
 * exact; entity-proto-v3.ts then stores the exact form too.
 *
 * Measured: all of it, on files of both of Google's emulators, which also read it back.
 */

import { timestampSecondsMax, timestampSecondsMin } from '../encoding/value-slot.ts'
import type { WireReader, WireWriter } from '../encoding/wire.ts'
import { tryReadText, wireBytes, wireFixed64, wireVarint } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import { type EntityValue, type Properties, userMeaning, type Value } from '../model/value.ts'
import { recordBytesMax } from './leveldb-log.ts'
import {
  eachField,
  groupEnd,
  groupStart,
  inMessage,
  readInt64,
  readReferenceValue,
  readString,
  writeReferenceValue,
} from './reference-v3.ts'

/** Meanings of the v3 API. */
const meaning = {
  when: 7,
  point: 9,
  rating: 13,
  blob: 14,
  text: 15,
  byteString: 16,
  entity: 19,
  emptyList: 24,
} as const
const compressedMeaning = 22
const compressedUri = 'ZLIB'

/** Meanings of strings that only describe the text; they are written unchanged. */
const stringMeanings: ReadonlySet<number> = new Set([1, 2, 8, 10, 11, 12, meaning.text, 17])

const pointStart = groupStart(5)
const pointEnd = groupEnd(5)
const userStart = groupStart(8)
const userEnd = groupEnd(8)
const keyStart = groupStart(12)
const keyEnd = groupEnd(12)

/** The fields of a user value: their names in an embedded entity, their numbers in the group. */
const userFields: readonly (readonly [name: string, field: number])[] = [
  ['email', 9],
  ['auth_domain', 10],
  ['user_id', 19],
  ['federated_identity', 21],
  ['federated_provider', 22],
]

/** A record that would be longer leaves out the arrays that make it so; their exact form is short. */
const formBytesMax = recordBytesMax / 2

/** Fields of an entity with a Property. */
export const propertyFields = { indexed: 14, excluded: 15 } as const

type OneValue = Exclude<Value, { type: 'array' }>

/** How an embedded entity is written and read. A parameter, because an entity consists of properties again. */
export interface EntityForm {
  /** @returns whether it is exact */
  write(writer: WireWriter, field: number, entity: EntityValue): boolean
  read(bytes: Buffer, start: number, end: number, depth: number): EntityValue
}

/**
 * Writes one property as its Property messages, in steps: one for each element of an array.
 *
 * @returns whether reading it back gives an equal property
 */
export function* writeProperty(
  writer: WireWriter,
  name: string,
  value: Value,
  form: EntityForm,
): Generator<number, boolean> {
  if (value.type !== 'array') return writeOne(writer, name, value, form, false)
  const isPlain = value.excludeFromIndexes !== true && !value.meaning
  if (value.values.length === 0) {
    const at = writer.open(propertyFields.indexed)
    writer.uint32(1, meaning.emptyList)
    writer.text(3, name)
    writer.uint32(4, 0)
    writer.close(writer.open(5))
    writer.close(at)
    return isPlain
  }
  // Each element repeats the name.
  if (writer.length + value.values.length * Buffer.byteLength(name) > formBytesMax) return false
  let exact = isPlain
  for (const element of value.values) {
    if (element.type === 'array') throw invalidArgument(`property ${JSON.stringify(name)}: an array holds an array`)
    exact = writeOne(writer, name, element, form, true) && exact
    yield 1
  }
  return exact
}

function writeOne(writer: WireWriter, name: string, value: OneValue, form: EntityForm, multiple: boolean): boolean {
  const excluded = value.excludeFromIndexes === true
  const at = writer.open(excluded ? propertyFields.excluded : propertyFields.indexed)
  const said = meaningOf(value)
  if (said.meaning !== 0) writer.uint32(1, said.meaning)
  if (said.uri !== undefined) writer.text(2, said.uri)
  writer.text(3, name)
  writer.uint32(4, multiple ? 1 : 0)
  const valueAt = writer.open(5)
  const exact = writeMember(writer, value, form)
  writer.close(valueAt)
  writer.close(at)
  return exact && said.exact
}

interface Meaning {
  /** 0 = none. */
  readonly meaning: number
  readonly uri?: string
  readonly exact: boolean
}

/** Whether a string keeps its meaning. Text is never indexed; if flag and meaning disagree, the flag counts. */
function isPassedOn(own: number, excluded: boolean): boolean {
  return stringMeanings.has(own) && (own !== meaning.text || excluded)
}

/** The v3 meaning of a value, and whether it expresses the value's own meaning. */
function meaningOf(value: OneValue): Meaning {
  const own = value.meaning ?? 0
  switch (value.type) {
    case 'integer':
      if (own === meaning.when || own === meaning.rating) return { meaning: own, exact: true }
      return { meaning: 0, exact: own === 0 }
    case 'timestamp':
      return { meaning: meaning.when, exact: own === 0 }
    case 'string':
      return isPassedOn(own, value.excludeFromIndexes === true)
        ? { meaning: own, exact: true }
        : { meaning: 0, exact: own === 0 }
    case 'blob': {
      if (value.excludeFromIndexes !== true) return { meaning: meaning.byteString, exact: own === 0 }
      if (own === compressedMeaning) return { meaning: meaning.blob, uri: compressedUri, exact: true }
      if (own === meaning.byteString) return { meaning: own, exact: true }
      return { meaning: meaning.blob, exact: own === 0 }
    }
    case 'geoPoint':
      return { meaning: meaning.point, exact: own === 0 }
    case 'entity':
      return own === userMeaning ? { meaning: 0, exact: true } : { meaning: meaning.entity, exact: own === 0 }
    case 'null':
    case 'boolean':
    case 'double':
    case 'key':
      return { meaning: 0, exact: own === 0 }
  }
}

function writeMember(writer: WireWriter, value: OneValue, form: EntityForm): boolean {
  switch (value.type) {
    case 'null':
      return true
    case 'boolean':
      writer.uint32(2, value.value ? 1 : 0)
      return true
    case 'integer':
      writer.int64(1, value.value)
      return true
    case 'timestamp':
      writer.int64(1, value.micros)
      return true
    case 'string':
      writer.text(3, value.value)
      return true
    case 'blob':
      writer.bytes(3, value.value)
      return true
    case 'double':
      writer.double(4, value.value)
      return true
    case 'geoPoint':
      writer.raw(pointStart)
      writer.double(6, value.latitude)
      writer.double(7, value.longitude)
      writer.raw(pointEnd)
      return true
    case 'key':
      writer.raw(keyStart)
      writeReferenceValue(writer, value.key)
      writer.raw(keyEnd)
      return true
    case 'entity':
      return value.meaning === userMeaning ? writeUser(writer, value) : form.write(writer, 3, value)
  }
}

/** Exact if the user has the fields that both of Google's emulators demand, as excluded strings. */
function writeUser(writer: WireWriter, { key, properties }: EntityValue): boolean {
  let known = 0
  writer.raw(userStart)
  for (const [name, field] of userFields) {
    const found = properties.get(name)
    const isText = found?.type === 'string'
    const isRequired = name === 'email' || name === 'auth_domain'
    if (isText && found.excludeFromIndexes === true && !found.meaning) known++
    else if (isRequired) known = Number.NaN
    if (isText || isRequired) writer.text(field, isText ? found.value : '')
    if (name === 'auth_domain') writer.uint32(18, 0)
  }
  writer.raw(userEnd)
  return key === undefined && known === properties.size
}

export interface ReadProperty {
  readonly name: string
  readonly multiple: boolean
  readonly value: Value
}

/** Reads the Property that fills [reader.position, reader.end). @param depth - number of entities around it */
export function readProperty(reader: WireReader, excluded: boolean, form: EntityForm, depth: number): ReadProperty {
  let name = ''
  let said = 0
  let uri = ''
  let multiple = false
  let start = 0
  let end = 0
  eachField(reader, 0, (tag, field) => {
    if (field === 1) said = Number(readInt64(reader, tag, 'a meaning'))
    else if (field === 2) uri = readString(reader, tag, 'the URI of a meaning')
    else if (field === 3) name = readString(reader, tag, 'a property name')
    else if (field === 4) multiple = readInt64(reader, tag, 'multiple') !== 0n
    else if (field === 5) {
      inMessage(reader, tag, 'a property value', () => {
        start = reader.position
        end = reader.end
      })
    } else reader.skip(tag)
  })
  const outer = reader.end
  const after = reader.position
  reader.position = start
  reader.end = end
  const value = withFlag(readMember(reader, form, { name, said, uri, excluded, depth }), excluded)
  reader.position = after
  reader.end = outer
  return { name, multiple, value }
}

/** @param value - just made */
function withFlag(value: { excludeFromIndexes?: boolean } & Value, excluded: boolean): Value {
  if (excluded && value.type !== 'array') value.excludeFromIndexes = true
  return value
}

interface About {
  readonly name: string
  /** The meaning in the message. */
  readonly said: number
  readonly uri: string
  readonly excluded: boolean
  readonly depth: number
}

const microsMin = BigInt(timestampSecondsMin) * 1_000_000n
const microsMax = BigInt(timestampSecondsMax + 1) * 1_000_000n - 1n

/** Reads a PropertyValue; the last of several members counts. */
function readMember(reader: WireReader, form: EntityForm, about: About): Value {
  let value: Value = about.said === meaning.emptyList ? { type: 'array', values: [] } : { type: 'null' }
  eachField(reader, 0, (tag, field) => {
    if (field === 1) value = integerOf(readInt64(reader, tag, 'an integer value'), about.said)
    else if (field === 2) {
      reader.expect(tag, wireVarint, 'a boolean value')
      value = { type: 'boolean', value: reader.bool() }
    } else if (field === 3) {
      reader.expect(tag, wireBytes, 'a string value')
      const end = reader.length() + reader.position
      value = bytesMember(reader.bytes, reader.position, end, form, about)
      reader.position = end
    } else if (field === 4) {
      reader.expect(tag, wireFixed64, 'a double value')
      value = { type: 'double', value: reader.double() }
    } else if (field === 5) value = readPoint(reader)
    else if (field === 8) value = readUser(reader)
    else if (field === 12) value = { type: 'key', key: readReferenceValue(reader, 12) }
    else reader.skip(tag)
  })
  return value
}

function integerOf(value: bigint, said: number): Value {
  if (said === meaning.when) {
    return value >= microsMin && value <= microsMax
      ? { type: 'timestamp', micros: value }
      : { type: 'integer', value, meaning: said }
  }
  if (said === meaning.rating && value >= 0n && value <= 100n) return { type: 'integer', value, meaning: said }
  return { type: 'integer', value }
}

function bytesMember(bytes: Buffer, start: number, end: number, form: EntityForm, about: About): Value {
  const { name, said, uri, excluded, depth } = about
  if (said === meaning.entity) return form.read(bytes, start, end, depth + 1)
  if (uri === compressedUri || said === compressedMeaning) {
    return { type: 'blob', value: copyOf(bytes, start, end), ...(excluded ? { meaning: compressedMeaning } : {}) }
  }
  if (said === meaning.blob || said === meaning.byteString) {
    const kept = said === meaning.byteString && excluded ? { meaning: said } : {}
    return { type: 'blob', value: copyOf(bytes, start, end), ...kept }
  }
  const text = tryReadText(bytes, start, end)
  if (text === undefined) {
    throw invalidArgument(`property ${JSON.stringify(name)}: the text at byte ${start} of the record is not UTF-8`)
  }
  return isPassedOn(said, excluded) ? { type: 'string', value: text, meaning: said } : { type: 'string', value: text }
}

function readPoint(reader: WireReader): Value {
  let latitude = 0
  let longitude = 0
  eachField(reader, 5, (tag, field) => {
    if (field !== 6 && field !== 7) {
      reader.skip(tag)
      return
    }
    reader.expect(tag, wireFixed64, 'a coordinate')
    if (field === 6) latitude = reader.double()
    else longitude = reader.double()
  })
  return { type: 'geoPoint', latitude, longitude }
}

function readUser(reader: WireReader): Value {
  const found = new Map<number, string>()
  eachField(reader, 8, (tag, field) => {
    if (userFields.some(([, number]) => number === field)) found.set(field, readString(reader, tag, 'a user value'))
    else reader.skip(tag)
  })
  const properties: [string, Value][] = []
  for (const [name, field] of userFields) {
    const value = found.get(field)
    if (value !== undefined) properties.push([name, { type: 'string', value, excludeFromIndexes: true }])
  }
  return { type: 'entity', meaning: userMeaning, properties: new Map(properties) as Properties }
}

function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end))
}
