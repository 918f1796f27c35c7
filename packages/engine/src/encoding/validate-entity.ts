/**
 * Preparation of a written entity in one walk over its bytes: validation, canonical form, index entries.
 *
 *   client's Entity bytes → prepareEntity → key (perhaps incomplete) + property bytes to store + index entries
 *
 * The stored property bytes are the client's, except that a timestamp is floored to microseconds, a key value without project or
 * database gets the request's, and of a property that is named twice the last value stays. Preparing stored bytes again changes
 * nothing. Size limits of indexed values hold for each value without an exclude flag of its own, also inside an excluded entity.
 *
 * Measured on Google's emulators: every rule and its code, by the newer one where they differ, since it has production's limits.
 * Documented: the sizes (limits.ts). All errors are INVALID_ARGUMENT.
 */
import { type DatastoreError, invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Key } from '../model/key.ts'
import { userMeaning, type Value, vectorMeaning } from '../model/value.ts'
import {
  decodeProperties,
  decodeValue,
  encodeProperties,
  encodeValue,
  noDefaults,
  splitEntity,
  writeProperty,
} from './entity-codec.ts'
import { type IndexEntry, type IndexOptions, IndexWalk, indexEntries, type WalkChecks } from './index-entries.ts'
import { fillKey, type KeyDefaults, readKey } from './key-message.ts'
import { isReserved, validateKey, validateNameBytes } from './validate-key.ts'
import {
  type ByteRange,
  labelOf,
  type PropertyEntry,
  readerOf,
  readGeoPoint,
  readTimestamp,
  readValue,
  shorten,
  timestampSecondsMax,
  timestampSecondsMin,
  ValueSlot,
} from './value-slot.ts'
import { typeOfMember, valueField } from './value-types.ts'
import { readDoubles } from './vector.ts'
import { int64FromHalves, isWellFormedText, notText, WireReader, WireWriter } from './wire.ts'

export const entityTooLarge: string = `maximum entity size is ${limits.entityBytesMax} bytes`

/** Such an entity is refused unread. The error for a smaller one names the value that is too large, if one is. */
const farTooLarge = 4 * limits.entityBytesMax

export interface PreparedEntity extends PreparedProperties {
  /** In the request's database; its last element may be incomplete. */
  readonly key: Key
}

export interface PreparedProperties {
  /** `properties` fields of an Entity, to be stored. May be a view of the given bytes. */
  readonly properties: Uint8Array
  /** Equal to the entries that indexEntries() finds in `properties`. */
  readonly entries: readonly IndexEntry[]
}

/**
 * Validates and indexes a google.datastore.v1.Entity of a client. Its key must be in the database of the request, or name none.
 *
 * @throws DatastoreError INVALID_ARGUMENT for malformed bytes and all that may not be written
 */
export function prepareEntity(bytes: Uint8Array, request: KeyDefaults, options: IndexOptions = {}): PreparedEntity {
  if (bytes.length > farTooLarge) throw tooLarge(bytes.length)
  const { key, properties } = splitEntity(bytes, request)
  if (key === undefined)
    throw invalidArgument('an entity has no key; it needs at least a kind', 'Entity is missing key.')
  validateKey(key, 'write', request)
  const prepared = prepareProperties(properties, request, options)
  if (bytes.length > limits.entityBytesMax) throw tooLarge(bytes.length)
  return { key, properties: prepared.properties, entries: prepared.entries }
}

function tooLarge(bytes: number | string): DatastoreError {
  return invalidArgument(`the entity has ${bytes} bytes, at most ${limits.entityBytesMax} are allowed`, entityTooLarge)
}

/** {@link prepareEntity} for what a mask or a transform left: the size is checked without the key. */
export function prepareProperties(
  properties: Uint8Array,
  request: KeyDefaults,
  options: IndexOptions = {},
): PreparedProperties {
  const checks = new EntityChecks(request)
  const walk = new IndexWalk(options, checks, request)
  walk.properties(new WireReader(properties), '', true, 0)
  const stored = checks.canonical(properties)
  // The walk saw the first value of a repeated name too, so that its entries cannot be used.
  const entries = checks.repeatedName ? indexEntries(stored, options) : walk.finish()
  if (entries.length > limits.indexEntriesMax) {
    throw invalidArgument(
      `the entity has ${entries.length} indexed values, at most ${limits.indexEntriesMax} are allowed; ` +
        'exclude properties from indexes',
      'Too many indexed properties',
    )
  }
  if (stored.length > limits.entityBytesMax) throw tooLarge(`over ${stored.length}`)
  return { properties: stored, entries }
}

/** Checks a value against the limits of indexed values. Throws INVALID_ARGUMENT. */
export function validateIndexedValue(property: string, value: Value): void {
  const bytes = Buffer.from(encodeValue(value))
  const reader = new WireReader(bytes)
  const slot = new ValueSlot(bytes)
  readValue(reader, slot)
  new EntityChecks(noDefaults).value(slot, reader, property, false)
}

/** The checks during the walk; they also collect the properties to encode again. */
class EntityChecks implements WalkChecks {
  readonly #request: KeyDefaults
  /** Top-level properties that must be encoded again. */
  readonly #changed: { fieldStart: number; fieldEnd: number; name: string; value: Uint8Array }[] = []
  /** Whether a value within the current top-level property must change. */
  #changes = false
  repeatedName = false

  constructor(request: KeyDefaults) {
    this.#request = request
  }

  name(name: string, property: string, siblings: Set<string>): void {
    if (name === '')
      throw invalidArgument(
        `a property name is empty${property === '' ? '' : ` (in ${property})`}`,
        'The property.name is the empty string.',
      )
    if (name.length * 3 > limits.propertyNameBytesMax) {
      validateNameBytes(name, limits.propertyNameBytesMax, `the property name ${labelOf(name).slice(9)}`)
    }
    if (isReserved(name))
      throw invalidArgument(
        `${labelOf(property)}: names like __this__ are reserved`,
        `The property.name ${JSON.stringify(shorten(name))} is reserved.`,
      )
    const before = siblings.size
    if (siblings.add(name).size === before) this.repeatedName = true
  }

  value(slot: ValueSlot, outer: WireReader, property: string, inArray: boolean): void {
    if (slot.meaning !== 0) checkMeaning(slot, property)
    switch (slot.member) {
      case 0:
        throw invalidArgument(
          `${labelOf(property)} has no value type set; for null, set null_value`,
          `The value ${labelOf(property).slice(9)} does not contain a value.`,
        )
      case valueField.string:
        checkSize(slot, property)
        if (!isWellFormedText(slot.bytes, slot.start, slot.end)) {
          throw notText(slot.start, slot.end, labelOf(property))
        }
        return
      case valueField.blob:
        checkSize(slot, property)
        return
      case valueField.timestamp:
        readTimestamp(slot, outer, property)
        if (slot.nanos % 1000 !== 0) this.#changes = true
        return
      case valueField.geoPoint:
        readGeoPoint(slot, outer, property)
        return
      case valueField.key:
        this.key(slot, outer, 'value')
        return
      case valueField.array:
        checkArray(slot, property, inArray)
        return
      case valueField.null:
      case valueField.boolean:
      case valueField.integer:
      case valueField.double:
      case valueField.entity:
        return
      default:
        slot.member satisfies never
    }
  }

  key(range: ByteRange, outer: WireReader, use: 'value' | 'embedded'): void {
    const key = readKey(readerOf(range, outer))
    const filled = fillKey(key, this.#request)
    validateKey(filled, use, undefined)
    if (filled !== key) this.#changes = true
  }

  propertyEnd(fieldStart: number, fieldEnd: number, entry: PropertyEntry, name: string): void {
    if (!this.#changes) return
    this.#changes = false
    this.#changed.push({ fieldStart, fieldEnd, name, value: entry.bytes.subarray(entry.start, entry.end) })
  }

  /** The property bytes to store; the given ones if nothing has to change. */
  canonical(properties: Uint8Array): Uint8Array {
    if (this.repeatedName) return encodeProperties(decodeProperties(properties, this.#request))
    if (this.#changed.length === 0) return properties
    const writer = new WireWriter()
    let copied = 0
    for (const { fieldStart, fieldEnd, name, value } of this.#changed) {
      writer.raw(properties.subarray(copied, fieldStart))
      writeProperty(writer, name, decodeValue(value, this.#request, name))
      copied = fieldEnd
    }
    writer.raw(properties.subarray(copied))
    return writer.finish()
  }
}

function checkSize(slot: ValueSlot, property: string): void {
  const bytes = slot.end - slot.start
  const bytesMax = slot.excluded ? limits.unindexedValueBytesMax : limits.indexedValueBytesMax
  if (bytes <= bytesMax) return
  const limit = slot.excluded ? 'are allowed' : 'can be indexed; shorten it or exclude it from indexes'
  throw invalidArgument(
    `${labelOf(property)} has ${bytes} bytes, at most ${bytesMax} ${limit}`,
    `The value of ${labelOf(property)} is longer than ${bytesMax} bytes.`,
  )
}

function checkArray(slot: ValueSlot, property: string, inArray: boolean): void {
  if (inArray)
    throw invalidArgument(
      `${labelOf(property)}: an array cannot hold another array`,
      'list_value cannot contain a Value containing another list_value.',
    )
  if (slot.meaning === vectorMeaning) {
    checkVector(slot, property)
    return
  }
  if (slot.excluded) {
    throw invalidArgument(
      `${labelOf(property)}: exclude_from_indexes belongs to the elements of an array, not to the array`,
      'Exclude from indexes cannot be set on a list value',
    )
  }
  if (slot.meaning !== 0) {
    throw invalidArgument(
      `${labelOf(property)}: a meaning belongs to the elements of an array, not to the array`,
      'A Value containing a list_value cannot specify a meaning.',
    )
  }
}

const noRoom = new Float64Array(0)

/** The walk skips vectors, so their elements are checked here. */
function checkVector(slot: ValueSlot, property: string): void {
  if (!slot.excluded) {
    throw invalidArgument(
      `${labelOf(property)}: a vector (meaning 31) must be excluded from indexes; set exclude_from_indexes on it`,
      "Vector's must be excluded from indexes.",
    )
  }
  const dimensions = readDoubles(slot, noRoom)
  if (dimensions === undefined)
    throw invalidArgument(
      `${labelOf(property)}: a vector (meaning 31) holds doubles only`,
      "Vector must only contain values of type 'double'.",
    )
  if (dimensions === 0)
    throw invalidArgument(
      `${labelOf(property)}: the vector has no dimensions; give at least one`,
      'Cannot have a zero length vector.',
    )
  if (dimensions > limits.vectorDimensionsMax) {
    throw invalidArgument(
      `${labelOf(property)}: the vector has ${dimensions} dimensions, at most ${limits.vectorDimensionsMax} are allowed`,
    )
  }
}

/** Meanings that only tell how to interpret a value, each with the one type that it may have. */
const plainMeanings: ReadonlyMap<number, number> = new Map([
  ...[1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 17].map((meaning): [number, number] => [meaning, valueField.string]),
  [16, valueField.blob],
  [30, valueField.integer],
])

function checkMeaning(slot: ValueSlot, property: string): void {
  const { meaning, member, excluded } = slot
  if (member === valueField.array) return
  const plain = plainMeanings.get(meaning)
  const refuse = (why: string, known?: string): never => {
    throw invalidArgument(`${labelOf(property)}: ${why}`, known)
  }
  if (plain !== undefined) {
    if (plain !== member) refuse(`meaning ${meaning} goes with a ${typeOfMember[plain]} only`)
    return
  }
  switch (meaning) {
    case 15:
    case 22: {
      const [own, words] = meaning === 15 ? (['string', '15 (text)'] as const) : (['blob', '22 (compressed)'] as const)
      if (member !== valueField[own]) refuse(`meaning ${words} goes with a ${own} only`)
      if (!excluded)
        refuse(`a value of meaning ${words} must be excluded from indexes`, `Indexed value has meaning ${meaning}.`)
      return
    }
    case 13: {
      const rating = int64FromHalves(slot.low, slot.high)
      if (member !== valueField.integer || rating < 0n || rating > 100n) {
        refuse('a value of meaning 13 (rating) must be an integer from 0 to 100')
      }
      return
    }
    case userMeaning:
      if (member !== valueField.entity) refuse('a value of meaning 20 (user) must be an entity')
      return
    case 18:
      refuse(
        'meaning 18 marks values of a projection, which cannot be written back',
        'Projection property cannot be used.',
      )
      break
    case 7: {
      const micros = int64FromHalves(slot.low, slot.high)
      const [from, to] = [BigInt(timestampSecondsMin) * 1_000_000n, BigInt(timestampSecondsMax + 1) * 1_000_000n]
      if (member === valueField.integer && (micros < from || micros >= to)) return
      refuse('meaning 7 is for integers outside the range of timestamps; use timestamp_value')
      break
    }
    default:
      refuse(`unknown meaning ${meaning}`, `Unknown value meaning ${meaning}.`)
  }
}
