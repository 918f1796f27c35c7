/**
 * Entities in the form of App Engine's v3 API, which are the records of an export, and back to ours.
 *
 *   EntityProto     key 13 (Reference), indexed property 14*, excluded property 15*, entity group 16 (Path)
 *                   exact form 50001*       of a property that v3 cannot express: its entry in a google.datastore.v1.Entity
 *   Property        meaning 1, meaning URI 2, name 3, multiple 4, value 5 (PropertyValue)
 *   PropertyValue   int64 1, boolean 2, string 3, double 4, group 5 { latitude 6, longitude 7 }, group 8 (user),
 *                   group 12 (ReferenceValue); none of them is null
 *   user            email 9, auth domain 10, number 18 (always 0), user id 19, federated identity 21 and provider 22
 *
 * The type of a value is its member together with its meaning. An int64 of meaning 7 is a timestamp, 13 a rating; a string of 16 or 14 is a
 * blob (indexed, excluded), of 14 with the URI "ZLIB" a compressed one, of 19 an embedded entity; group 5 has meaning 9. tags = ["a", "b"] is
 * two properties `tags`, each marked `multiple`, and an empty array one of meaning 24. Any other value is written twice: other readers ignore
 * field 50001 and read the v3 form; ours prefers the exact form, so that nothing is lost (test/property/entity-proto-v3.test.ts).
 *
 * Measured: all of it, on files of both of Google's emulators, which also read it back, and ignore 50001. Ours: 50001, in a range for private use.
 */
import { decodeProperties, writeProperty as writePropertyEntry } from '../encoding/entity-codec.ts'
import { timestampSecondsMax, timestampSecondsMin } from '../encoding/value-slot.ts'
import { tryReadText, WireReader, WireWriter } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import type { Key } from '../model/key.ts'
import { type EntityValue, type Properties, userMeaning, type Value } from '../model/value.ts'
import { runAtOnce } from '../slices.ts'
import { recordBytesMax } from './leveldb-log.ts'
import {
  eachField,
  inMessage,
  readReference,
  readReferenceValue,
  writeEntityGroup,
  writeGroup,
  writeReference,
  writeReferenceValue,
} from './reference-v3.ts'

const exactField = 50_001

/** Valid entities nest at most 20 deep; deeper ones than this are not read. */
const depthMax = 100

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

const propertyFields = { indexed: 14, excluded: 15 } as const

type OneValue = Exclude<Value, { type: 'array' }>

export interface DecodedEntity {
  readonly key: Key
  readonly properties: Properties
}

/** The record of an entity, in steps that yield the number of their values. */
export function* encodeEntityProto(key: Key, properties: Properties): Generator<number, Uint8Array> {
  const writer = new WireWriter()
  for (const [name, value] of yield* writeEntity(writer, key, properties)) {
    // The entry is a field of an Entity; its content is stored.
    const at = writer.open(exactField)
    writePropertyEntry(writer, name, value)
    writer.close(at)
  }
  return writer.finish()
}

/** @returns the properties whose v3 form is not exact */
function* writeEntity(
  writer: WireWriter,
  key: Key | undefined,
  properties: Properties,
): Generator<number, readonly (readonly [string, Value])[]> {
  const inexact: [string, Value][] = []
  const keyAt = writer.open(13)
  writeReference(writer, key)
  writer.close(keyAt)
  for (const [name, value] of properties) {
    if (!(yield* writeProperty(writer, name, value))) inexact.push([name, value])
  }
  const groupAt = writer.open(16)
  writeEntityGroup(writer, key)
  writer.close(groupAt)
  return inexact
}

/** Writes one property, in steps: a Property for each element of an array. @returns whether reading it back gives an equal property */
function* writeProperty(writer: WireWriter, name: string, value: Value): Generator<number, boolean> {
  if (value.type !== 'array') return writeOne(writer, name, value, false)
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
    exact = writeOne(writer, name, element, true) && exact
    yield 1
  }
  return exact
}

function writeOne(writer: WireWriter, name: string, value: OneValue, multiple: boolean): boolean {
  const excluded = value.excludeFromIndexes === true
  const at = writer.open(excluded ? propertyFields.excluded : propertyFields.indexed)
  const said = meaningOf(value)
  if (said.meaning !== 0) writer.uint32(1, said.meaning)
  if (said.uri !== undefined) writer.text(2, said.uri)
  writer.text(3, name)
  writer.uint32(4, multiple ? 1 : 0)
  const valueAt = writer.open(5)
  const isExact = (members[value.type] as WriteMember<OneValue['type']>)(writer, value) !== false
  writer.close(valueAt)
  writer.close(at)
  return isExact && said.exact
}

interface Meaning {
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
  const excluded = value.excludeFromIndexes === true
  const kept = { meaning: own, exact: true }
  const plain = (said: number): Meaning => ({ meaning: said, exact: own === 0 })
  switch (value.type) {
    case 'integer':
      return own === meaning.when || own === meaning.rating ? kept : plain(0)
    case 'timestamp':
      return plain(meaning.when)
    case 'string':
      return isPassedOn(own, excluded) ? kept : plain(0)
    case 'blob':
      if (!excluded) return plain(meaning.byteString)
      if (own === compressedMeaning) return { meaning: meaning.blob, uri: compressedUri, exact: true }
      return own === meaning.byteString ? kept : plain(meaning.blob)
    case 'geoPoint':
      return plain(meaning.point)
    case 'entity':
      return own === userMeaning ? { meaning: 0, exact: true } : plain(meaning.entity)
    default:
      return plain(0)
  }
}

type WriteMember<T> = (writer: WireWriter, value: Extract<OneValue, { type: T }>) => unknown

/** Writers of a PropertyValue; the result is false if the value is not exact. */
const members: { readonly [T in OneValue['type']]: WriteMember<T> } = {
  null: () => {},
  boolean: (writer, { value }) => writer.uint32(2, value ? 1 : 0),
  integer: (writer, { value }) => writer.int64(1, value),
  timestamp: (writer, { micros }) => writer.int64(1, micros),
  string: (writer, { value }) => writer.text(3, value),
  blob: (writer, { value }) => writer.bytes(3, value),
  double: (writer, { value }) => writer.double(4, value),
  geoPoint: (writer, { latitude, longitude }) =>
    writeGroup(writer, 5, () => {
      writer.double(6, latitude)
      writer.double(7, longitude)
    }),
  key: (writer, { key }) => writeGroup(writer, 12, () => writeReferenceValue(writer, key)),
  entity: (writer, value) => (value.meaning === userMeaning ? writeUser : writeEmbedded)(writer, value),
}

/** Exact if all of its properties are: the exact forms are those of the whole property. */
function writeEmbedded(writer: WireWriter, { key, properties }: EntityValue): boolean {
  const at = writer.open(3)
  const inexact = runAtOnce(writeEntity(writer, key, properties))
  writer.close(at)
  return inexact.length === 0
}

/** Exact if the user has the fields that both of Google's emulators demand, as excluded strings. */
function writeUser(writer: WireWriter, { key, properties }: EntityValue): boolean {
  let known = 0
  writeGroup(writer, 8, () => {
    for (const [name, field] of userFields) {
      const found = properties.get(name)
      const isText = found?.type === 'string'
      const isRequired = name === 'email' || name === 'auth_domain'
      if (isText && found.excludeFromIndexes === true && !found.meaning) known++
      else if (isRequired) known = Number.NaN
      if (isText || isRequired) writer.text(field, isText ? found.value : '')
      if (name === 'auth_domain') writer.uint32(18, 0)
    }
  })
  return key === undefined && known === properties.size
}

/** The entity of a record, in steps that yield the number of their values. @throws DatastoreError INVALID_ARGUMENT for malformed bytes */
export function* decodeEntityProto(record: Uint8Array): Generator<number, DecodedEntity> {
  const { key, properties } = yield* readEntity(new WireReader(record), 0)
  if (key === undefined) throw invalidArgument('the entity has no key')
  return { key, properties }
}

interface ReadEntity {
  readonly key: Key | undefined
  readonly properties: Map<string, Value>
}

function* readEntity(reader: WireReader, depth: number): Generator<number, ReadEntity> {
  let key: Key | undefined
  const collector = new PropertyCollector()
  const { properties } = collector
  const kept: Uint8Array[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 13) key = inMessage(reader, tag, 'the key of an entity', () => readReference(reader))
    else if (field === propertyFields.indexed || field === propertyFields.excluded) {
      const excluded = field === propertyFields.excluded
      const property = inMessage(reader, tag, 'a property', () => readProperty(reader, excluded, depth))
      collector.add(property.name, property.value, property.multiple)
    } else if (field === exactField) {
      kept.push(inMessage(reader, tag, 'a kept property', () => reader.bytes.subarray(reader.position, reader.end)))
    } else reader.skip(tag)
    yield 1
  }
  if (kept.length > 0) for (const [name, value] of decodeProperties(Buffer.concat(kept))) properties.set(name, value)
  return { key, properties }
}

/** Values by property name, in order. A repeated name is an array, marked or not. */
class PropertyCollector {
  readonly properties: Map<string, Value> = new Map()
  readonly #arrays = new Map<string, Value[]>()

  add(name: string, value: Value, multiple: boolean): void {
    const before = this.properties.get(name)
    if (before === undefined && !(multiple && value.type !== 'array')) {
      this.properties.set(name, value)
      return
    }
    let elements = this.#arrays.get(name)
    if (elements === undefined) {
      elements = before === undefined ? [] : before.type === 'array' ? [...before.values] : [before]
      this.#arrays.set(name, elements)
      this.properties.set(name, { type: 'array', values: elements })
    }
    if (value.type === 'array') elements.push(...value.values)
    else elements.push(value)
  }
}

interface About {
  name: string
  said: number
  uri: string
  readonly excluded: boolean
  readonly depth: number
}

/** Reads the Property that fills [reader.position, reader.end). @param depth - number of entities around it */
function readProperty(reader: WireReader, excluded: boolean, depth: number) {
  const about: About = { name: '', said: 0, uri: '', excluded, depth }
  let multiple = false
  let range: [start: number, end: number] = [0, 0]
  eachField(reader, 0, (tag, field) => {
    if (field === 1) about.said = Number(reader.int64(tag, 'a meaning'))
    else if (field === 2) about.uri = reader.text(tag, 'the URI of a meaning')
    else if (field === 3) about.name = reader.text(tag, 'a property name')
    else if (field === 4) multiple = reader.int64(tag, 'multiple') !== 0n
    else if (field === 5) range = inMessage(reader, tag, 'a property value', () => [reader.position, reader.end])
    else reader.skip(tag)
  })
  const value: { excludeFromIndexes?: boolean } & Value = readMember(new WireReader(reader.bytes, ...range), about)
  if (excluded && value.type !== 'array') value.excludeFromIndexes = true
  return { name: about.name, multiple, value }
}

const microsMin = BigInt(timestampSecondsMin) * 1_000_000n
const microsMax = BigInt(timestampSecondsMax + 1) * 1_000_000n - 1n

/** Reads a PropertyValue; the last of several members counts. */
function readMember(reader: WireReader, about: About): Value {
  let value: Value = about.said === meaning.emptyList ? { type: 'array', values: [] } : { type: 'null' }
  eachField(reader, 0, (tag, field) => {
    if (field === 1) value = integerOf(reader.int64(tag, 'an integer value'), about.said)
    else if (field === 2) value = { type: 'boolean', value: reader.bool(tag, 'a boolean value') }
    else if (field === 3) value = inMessage(reader, tag, 'a string value', () => bytesMember(reader, about))
    else if (field === 4) value = { type: 'double', value: reader.double(tag, 'a double value') }
    else if (field === 5) value = readPoint(reader)
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

function bytesMember({ bytes, position: start, end }: WireReader, about: About): Value {
  const { name, said, uri, excluded, depth } = about
  if (said === meaning.entity) return readEmbedded(new WireReader(bytes, start, end), depth + 1)
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

function readEmbedded(reader: WireReader, depth: number): EntityValue {
  if (depth > depthMax) throw invalidArgument(`entities are nested deeper than ${depthMax}`)
  const { key, properties } = runAtOnce(readEntity(reader, depth))
  return key === undefined ? { type: 'entity', properties } : { type: 'entity', key, properties }
}

function readPoint(reader: WireReader): Value {
  let latitude = 0
  let longitude = 0
  eachField(reader, 5, (tag, field) => {
    if (field === 6) latitude = reader.double(tag, 'a coordinate')
    else if (field === 7) longitude = reader.double(tag, 'a coordinate')
    else reader.skip(tag)
  })
  return { type: 'geoPoint', latitude, longitude }
}

function readUser(reader: WireReader): Value {
  const found = new Map<number, string>()
  eachField(reader, 8, (tag, field) => {
    if (userFields.some(([, number]) => number === field)) found.set(field, reader.text(tag, 'a user value'))
    else reader.skip(tag)
  })
  const properties = new Map<string, Value>()
  for (const [name, field] of userFields) {
    const value = found.get(field)
    if (value !== undefined) properties.set(name, { type: 'string', value, excludeFromIndexes: true })
  }
  return { type: 'entity', meaning: userMeaning, properties }
}

function copyOf(bytes: Buffer, start: number, end: number): Uint8Array {
  return new Uint8Array(bytes.subarray(start, end))
}
