/**
 * google.datastore.v1 Value and Entity: from bytes to the model and back. Keys are in key-message.ts.
 *
 *   Entity     key 1, properties 3 (map entries: name 1, value 2)        Value      value-slot.ts
 *   Timestamp  seconds 1, nanos 2        LatLng  latitude 1, longitude 2        ArrayValue  values 1
 *
 * Decoding checks the form only: well-formed bytes and UTF-8, a type for each value, timestamps and geo points in range. As in
 * every protocol-buffer reader, a repeated message field merges, and the last one of a repeated scalar counts. Encoding writes fields by
 * number, so that equal values give equal bytes; decoding them gives the value back (test/property/entity-codec.test.ts).
 *
 * Known: google/datastore/v1/entity.proto.
 */
import { invalidArgument } from '../errors.ts'
import type { Key } from '../model/key.ts'
import type { Properties, Value } from '../model/value.ts'
import { EntityWalk, entityField } from './entity-walk.ts'
import { type KeyDefaults, noDefaults, readKey, writeKey } from './key-message.ts'
import {
  type ByteRange,
  eachElement,
  labelOf,
  merge,
  readerOf,
  readGeoPoint,
  readTimestamp,
  readValue,
  ValueSlot,
} from './value-slot.ts'
import { valueField } from './value-types.ts'
import { int64FromHalves, notText, tryReadText, WireReader, WireWriter, wireBytes } from './wire.ts'

export { decodeKey, encodeKey, type KeyDefaults, noDefaults } from './key-message.ts'

/** The nesting limit of common protocol-buffer readers. Valid entities are far flatter. */
const messageDepthMax = 100

/** @param property - the property for error messages; `undefined` for a value outside of any */
function valueIn(
  range: ByteRange,
  outer: WireReader,
  property: string | undefined,
  defaults: KeyDefaults,
  depth = 0,
): Value {
  if (depth > messageDepthMax) throw invalidArgument(`${labelOf(property)}: nested deeper than ${messageDepthMax}`)
  const reader = readerOf(range, outer)
  const slot = new ValueSlot(reader.bytes)
  readValue(reader, slot)
  return flagged(memberIn(slot, reader, property, defaults, depth), slot)
}

/** The value of a property of stored bytes, in steps of some elements if it is an array. */
function* valueInSteps(range: ByteRange, outer: WireReader, property: string): Generator<number, Value> {
  const reader = readerOf(range, outer)
  const slot = new ValueSlot(reader.bytes)
  readValue(reader, slot)
  if (slot.member !== valueField.array) return flagged(memberIn(slot, reader, property, noDefaults, 0), slot)
  const elements: ByteRange[] = []
  const inside = readerOf(slot, reader)
  eachElement(inside, (element) => elements.push(element))
  const values: Value[] = []
  for (const element of elements) {
    values.push(valueIn(element, inside, property, noDefaults, 1))
    if (values.length % elementsOfStep === 0) yield elementsOfStep
  }
  return flagged({ type: 'array', values }, slot)
}

/** The value in `slot`, without its flags. @param outer - a reader of the bytes around it */
export function memberIn(
  slot: ValueSlot,
  outer: WireReader,
  property: string | undefined,
  defaults: KeyDefaults,
  depth: number,
): Value {
  switch (slot.member) {
    case valueField.null:
      return { type: 'null' }
    case valueField.boolean:
      return { type: 'boolean', value: slot.low !== 0 || slot.high !== 0 }
    case valueField.integer:
      return { type: 'integer', value: int64FromHalves(slot.low, slot.high) }
    case valueField.double:
      return { type: 'double', value: slot.bytes.readDoubleLE(slot.start) }
    case valueField.string: {
      const text = tryReadText(slot.bytes, slot.start, slot.end)
      if (text === undefined) throw notText(slot.start, slot.end, labelOf(property))
      return { type: 'string', value: text }
    }
    case valueField.blob:
      return { type: 'blob', value: new Uint8Array(slot.bytes.subarray(slot.start, slot.end)) }
    case valueField.timestamp:
      readTimestamp(slot, outer, property)
      return { type: 'timestamp', micros: BigInt(slot.seconds) * 1_000_000n + BigInt(Math.floor(slot.nanos / 1000)) }
    case valueField.geoPoint:
      return { type: 'geoPoint', ...readGeoPoint(slot, outer, property) }
    case valueField.key:
      return { type: 'key', key: readKey(readerOf(slot, outer), defaults) }
    case valueField.entity: {
      const { key, properties } = entityIn(slot, outer, property, defaults, depth + 1)
      return key === undefined ? { type: 'entity', properties } : { type: 'entity', key, properties }
    }
    case valueField.array:
      return { type: 'array', values: arrayIn(slot, outer, property, defaults, depth + 1) }
    case 0:
      throw invalidArgument(`${labelOf(property)} has no value type set; for null, set null_value`)
  }
}

function arrayIn(
  range: ByteRange,
  outer: WireReader,
  property: string | undefined,
  defaults: KeyDefaults,
  depth: number,
): Value[] {
  const reader = readerOf(range, outer)
  const values: Value[] = []
  eachElement(reader, (element) => values.push(valueIn(element, reader, property, defaults, depth)))
  return values
}

function entityIn(
  range: ByteRange,
  outer: WireReader,
  within: string | undefined,
  defaults: KeyDefaults,
  depth: number,
): { key: Key | undefined; properties: Map<string, Value> } {
  const reader = readerOf(range, outer)
  const { bytes } = reader
  const walk = new EntityWalk(reader)
  const properties = new Map<string, Value>()
  let keyRange: ByteRange | undefined
  for (let field = walk.next(); field !== 0; field = walk.next()) {
    if (field === entityField.key) {
      const found = { bytes, start: reader.position, end: walk.fieldEnd }
      keyRange = keyRange === undefined ? found : merge(keyRange, found)
    } else if (field === entityField.properties) {
      const name = walk.name().text
      const property = within === undefined ? name : `${within}.${name}`
      properties.set(name, valueIn(walk.entry, reader, property, defaults, depth))
    }
  }
  if (keyRange === undefined) return { key: undefined, properties }
  return { key: readKey(readerOf(keyRange, reader), defaults), properties }
}

const elementsOfStep = 64

/** The value, which was just made, with its flags. (A copy of it takes V8 1 µs, and an array has 140,000 elements.) */
function flagged(value: { meaning?: number; excludeFromIndexes?: boolean } & Value, slot: ValueSlot): Value {
  if (slot.meaning !== 0) value.meaning = slot.meaning
  if (slot.excluded) value.excludeFromIndexes = true
  return value
}

/** Decodes a google.datastore.v1.Value; timestamps are floored to microseconds. INVALID_ARGUMENT if it is invalid. */
export function decodeValue(bytes: Uint8Array, defaults: KeyDefaults, property?: string): Value {
  const reader = new WireReader(bytes)
  return valueIn(wholeOf(reader), reader, property, defaults)
}

function wholeOf({ bytes }: WireReader): ByteRange {
  return { bytes, start: 0, end: bytes.length }
}

export function decodeArrayValue(bytes: Uint8Array, defaults: KeyDefaults, property?: string): Value[] {
  const reader = new WireReader(bytes)
  return arrayIn(wholeOf(reader), reader, property, defaults, 1)
}

const microsPerSecond = 1_000_000n

export function writeValue(writer: WireWriter, value: Value): void {
  // Fields are written by number: string and blob come after `meaning`, the other members before it.
  if (value.type !== 'string' && value.type !== 'blob') writeMember(writer, value)
  if (value.meaning !== undefined && value.meaning !== 0) writer.int64(valueField.meaning, BigInt(value.meaning))
  if (value.type === 'string') writer.text(valueField.string, value.value)
  else if (value.type === 'blob') writer.bytes(valueField.blob, value.value)
  if (value.excludeFromIndexes === true) writer.uint32(valueField.excludeFromIndexes, 1)
}

function writeMember(writer: WireWriter, value: Exclude<Value, { type: 'string' | 'blob' }>): void {
  switch (value.type) {
    case 'null':
      writer.uint32(valueField.null, 0)
      return
    case 'boolean':
      writer.uint32(valueField.boolean, value.value ? 1 : 0)
      return
    case 'integer':
      writer.int64(valueField.integer, value.value)
      return
    case 'double':
      writer.double(valueField.double, value.value)
      return
  }
  const at = writer.open(valueField[value.type])
  switch (value.type) {
    case 'timestamp':
      writeTimestamp(writer, value.micros)
      break
    case 'geoPoint':
      if (!Object.is(value.latitude, 0)) writer.double(1, value.latitude)
      if (!Object.is(value.longitude, 0)) writer.double(2, value.longitude)
      break
    case 'key':
      writeKey(writer, value.key)
      break
    case 'entity':
      if (value.key !== undefined) {
        const key = writer.open(entityField.key)
        writeKey(writer, value.key)
        writer.close(key)
      }
      writeProperties(writer, value.properties)
      break
    case 'array':
      for (const element of value.values) {
        const elementAt = writer.open(1)
        writeValue(writer, element)
        writer.close(elementAt)
      }
      break
    default:
      value satisfies never
  }
  writer.close(at)
}

function writeTimestamp(writer: WireWriter, micros: bigint): void {
  const fraction = ((micros % microsPerSecond) + microsPerSecond) % microsPerSecond
  const seconds = (micros - fraction) / microsPerSecond
  if (seconds !== 0n) writer.int64(1, seconds)
  if (fraction !== 0n) writer.uint32(2, Number(fraction) * 1000)
}

export function encodeValue(value: Value): Uint8Array {
  const writer = new WireWriter()
  writeValue(writer, value)
  return writer.finish()
}

/**
 * Splits a google.datastore.v1.Entity into its key, if it has one, and its `properties` fields (tag 3) as received; a view of the
 * message where they are contiguous. Unknown fields are dropped.
 */
export function splitEntity(
  bytes: Uint8Array,
  defaults: KeyDefaults,
): { readonly key: Key | undefined; readonly properties: Uint8Array } {
  const reader = new WireReader(bytes)
  const buffer = reader.bytes
  let keyRange: ByteRange | undefined
  // The current run of adjacent property fields, and the runs before it.
  let runStart = 0
  let runEnd = 0
  let runs: Buffer[] | undefined
  for (;;) {
    const fieldStart = reader.position
    const tag = reader.tag()
    if (tag === 0) break
    const field = tag >>> 3
    if (field === entityField.properties) {
      reader.expect(tag, wireBytes, 'a property')
      const length = reader.length()
      reader.position += length
      if (runEnd !== fieldStart) {
        if (runEnd > runStart) {
          runs ??= []
          runs.push(buffer.subarray(runStart, runEnd))
        }
        runStart = fieldStart
      }
      runEnd = reader.position
    } else if (field === entityField.key) {
      reader.expect(tag, wireBytes, 'the key of an entity')
      const length = reader.length()
      const found = { bytes: buffer, start: reader.position, end: reader.position + length }
      keyRange = keyRange === undefined ? found : merge(keyRange, found)
      reader.position = found.end
    } else reader.skip(tag)
  }
  const lastRun = buffer.subarray(runStart, runEnd)
  const properties = runs === undefined ? lastRun : Buffer.concat([...runs, lastRun])
  if (keyRange === undefined) return { key: undefined, properties }
  return { key: readKey(readerOf(keyRange, reader), defaults), properties }
}

/** The properties by name, in order of first appearance, with the last value of each. Other fields are skipped. */
export function decodeProperties(properties: Uint8Array, defaults: KeyDefaults = noDefaults): Map<string, Value> {
  const reader = new WireReader(properties)
  return entityIn(wholeOf(reader), reader, undefined, defaults, 0).properties
}

/** One property of stored bytes; the values of others are not decoded. */
export function decodeProperty(properties: Uint8Array, name: string): Value | undefined {
  const walk = new EntityWalk(new WireReader(properties))
  while (walk.nextProperty()) {
    if (walk.name().text === name) return valueIn(walk.entry, walk.reader, name, noDefaults)
  }
  return undefined
}

/** {@link decodeProperties} of stored bytes, in steps: each yields the number of its values. */
export function* decodePropertiesInSteps(properties: Uint8Array): Generator<number, Map<string, Value>> {
  const walk = new EntityWalk(new WireReader(properties))
  const found = new Map<string, Value>()
  while (walk.nextProperty()) {
    const { text } = walk.name()
    found.set(text, yield* valueInSteps(walk.entry, walk.reader, text))
    yield 1
  }
  return found
}

export function writeProperty(writer: WireWriter, name: string, value: Value): void {
  const at = writer.open(entityField.properties)
  if (name !== '') writer.text(1, name)
  const valueAt = writer.open(2)
  writeValue(writer, value)
  writer.close(valueAt)
  writer.close(at)
}

function writeProperties(writer: WireWriter, properties: Properties): void {
  for (const [name, value] of properties) writeProperty(writer, name, value)
}

export function encodeProperties(properties: Properties): Uint8Array {
  const writer = new WireWriter()
  writeProperties(writer, properties)
  return writer.finish()
}
