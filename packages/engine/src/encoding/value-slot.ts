/**
 * One google.datastore.v1.Value on the wire, located but not decoded: the member that is set, the bounds of its payload,
 * meaning and exclude flag. The decoder, the index walk and validation all read values with it, so that they agree.
 *
 * As the wire format says, the last member of the oneof wins, and a message field that appears twice in a row is merged: its
 * payloads are concatenated.
 *
 * Known: google/datastore/v1/entity.proto for the numbers; the wire format's rules on repeated fields. Measured: the ranges
 * of timestamps and geo points.
 */
import { Buffer } from 'node:buffer'
import { invalidArgument } from '../errors.ts'
import type { GeoPointValue } from '../model/value.ts'
import { payloadOfMember, type ValueMember, valueField } from './value-types.ts'
import { WireReader, wireBytes, wireFixed64, wireVarint } from './wire.ts'

/** The result of {@link readValue}. One slot is used again for all values of a level. */
export class ValueSlot {
  /** The member's field number; 0 = none is set. */
  member: ValueMember | 0 = 0
  /** The bytes that contain the payload: those of the message, or a copy if parts had to be merged. */
  bytes: Buffer
  /** Payload of double, string, blob and messages. */
  start = 0
  end = 0
  /** Payload of boolean and integer, as unsigned halves. */
  low = 0
  high = 0
  /** 0 = none. */
  meaning = 0
  excluded = false

  /** Set by {@link readTimestamp}: whole seconds since the epoch, and nanoseconds 0–999,999,999. */
  seconds = 0
  nanos = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
}

export interface ByteRange {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Two parts of one message as one: concatenation is merging in this format. */
export function merge(first: ByteRange, second: ByteRange): ByteRange {
  const bytes = Buffer.concat([
    first.bytes.subarray(first.start, first.end),
    second.bytes.subarray(second.start, second.end),
  ])
  return { bytes, start: 0, end: bytes.length }
}

/** A reader of a range: the given one, moved, if the range is in its bytes. Save its position before if you need it. */
export function readerOf(range: ByteRange, reader: WireReader): WireReader {
  if (range.bytes !== reader.bytes) return new WireReader(range.bytes, range.start, range.end)
  reader.position = range.start
  reader.end = range.end
  return reader
}

/** Reads the Value that fills [reader.position, reader.end) into `slot`. */
export function readValue(reader: WireReader, slot: ValueSlot): void {
  slot.member = 0
  slot.bytes = reader.bytes
  slot.meaning = 0
  slot.excluded = false
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    const payload = payloadOfMember[field]
    if (payload === undefined) {
      readFlag(reader, slot, tag)
      continue
    }
    const member = field as ValueMember
    if (payload === 'varint') {
      reader.expect(tag, wireVarint, 'a value')
      reader.varint()
      slot.low = reader.low
      slot.high = reader.high
    } else if (payload === 'fixed64') {
      reader.expect(tag, wireFixed64, 'a double value')
      slot.bytes = reader.bytes
      slot.start = reader.fixed64()
      slot.end = reader.position
    } else {
      reader.expect(tag, wireBytes, 'a value')
      readBytesMember(reader, slot, payload === 'message' && slot.member === member)
    }
    slot.member = member
  }
}

function readFlag(reader: WireReader, slot: ValueSlot, tag: number): void {
  switch (tag >>> 3) {
    case valueField.meaning:
      slot.meaning = reader.int32(tag, 'meaning')
      return
    case valueField.excludeFromIndexes:
      slot.excluded = reader.bool(tag, 'exclude_from_indexes')
      return
    default:
      reader.skip(tag)
  }
}

/** @param isMerged - whether the field before was the same message */
function readBytesMember(reader: WireReader, slot: ValueSlot, isMerged: boolean): void {
  const length = reader.length()
  const start = reader.position
  const end = start + length
  reader.position = end
  if (isMerged) {
    const merged = merge(slot, { bytes: reader.bytes, start, end })
    slot.bytes = merged.bytes
    slot.start = merged.start
    slot.end = merged.end
  } else {
    slot.bytes = reader.bytes
    slot.start = start
    slot.end = end
  }
}

/** Gives `look` the bounds of each Value of the ArrayValue in the reader, which it may move. @returns their number */
export function eachElement(reader: WireReader, look: (element: ByteRange) => void): number {
  const { bytes, end } = reader
  let count = 0
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag >>> 3 !== 1) {
      reader.skip(tag)
      continue
    }
    reader.expect(tag, wireBytes, 'an array element')
    const elementEnd = reader.length() + reader.position
    count++
    look({ bytes, start: reader.position, end: elementEnd })
    reader.position = elementEnd
    reader.end = end
  }
  return count
}

/** A map entry of an Entity. `start` and `end` bound the value's message. */
export interface PropertyEntry {
  bytes: Buffer
  nameStart: number
  nameEnd: number
  start: number
  end: number
}

/**
 * Reads the map entry that fills [reader.position, reader.end). A missing name is the empty one, and a missing value has no
 * type; validation refuses both. The name is always in the reader's bytes.
 */
export function readPropertyEntry(reader: WireReader, entry: PropertyEntry): void {
  const { end } = reader
  entry.bytes = reader.bytes
  entry.nameStart = end
  entry.nameEnd = end
  entry.start = end
  entry.end = end
  let hasValue = false
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 1) {
      reader.expect(tag, wireBytes, 'a property name')
      const length = reader.length()
      entry.nameStart = reader.position
      entry.nameEnd = reader.position += length
    } else if (field === 2) {
      reader.expect(tag, wireBytes, 'a property value')
      const length = reader.length()
      const start = reader.position
      reader.position = start + length
      if (hasValue) Object.assign(entry, merge(entry, { bytes: reader.bytes, start, end: reader.position }))
      else {
        entry.start = start
        entry.end = reader.position
      }
      hasValue = true
    } else reader.skip(tag)
  }
}

/** The name of a value in error messages: its property, if it has one. */
export function labelOf(property: string | undefined): string {
  return property === undefined ? 'the value' : `property ${JSON.stringify(shorten(property))}`
}

/** Cuts a client's text for an error message. */
export function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 100)}…`
}

/** 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z. */
export const timestampSecondsMin = -62_135_596_800
export const timestampSecondsMax = 253_402_300_799

/** Reads the google.protobuf.Timestamp in `slot` into its `seconds` and `nanos`; INVALID_ARGUMENT if out of range. */
export function readTimestamp(slot: ValueSlot, outer: WireReader, property: string | undefined): void {
  const reader = readerOf(slot, outer)
  let seconds = 0
  let nanos = 0
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 1) {
      reader.expect(tag, wireVarint, 'seconds')
      reader.varint()
      // Not exact for huge numbers, but those are far out of range.
      seconds = (reader.high | 0) * 0x1_0000_0000 + reader.low
    } else if (field === 2) nanos = reader.int32(tag, 'nanos')
    else reader.skip(tag)
  }
  if (seconds < timestampSecondsMin || seconds > timestampSecondsMax) {
    throw invalidArgument(
      `${labelOf(property)}: the timestamp's seconds are ${seconds}, ` +
        `allowed are ${timestampSecondsMin} (year 1) to ${timestampSecondsMax} (year 9999)`,
      'Timestamp seconds exceeds limit for field',
    )
  }
  if (nanos < 0 || nanos > 999_999_999) {
    throw invalidArgument(
      `${labelOf(property)}: the timestamp's nanos are ${nanos}, allowed are 0 to 999999999`,
      'Timestamp nanos exceeds limit for field',
    )
  }
  slot.seconds = seconds
  slot.nanos = nanos
}

/** Reads the google.type.LatLng in `slot`; INVALID_ARGUMENT if out of range. */
export function readGeoPoint(
  slot: ValueSlot,
  outer: WireReader,
  property: string | undefined,
): Pick<GeoPointValue, 'latitude' | 'longitude'> {
  const reader = readerOf(slot, outer)
  let latitude = 0
  let longitude = 0
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 1) latitude = reader.double(tag, 'latitude')
    else if (field === 2) longitude = reader.double(tag, 'longitude')
    else reader.skip(tag)
  }
  checkDegrees('latitude', latitude, 90, property)
  checkDegrees('longitude', longitude, 180, property)
  return { latitude, longitude }
}

function checkDegrees(name: string, degrees: number, max: number, property: string | undefined): void {
  // NaN is refused too.
  if (Math.abs(degrees) <= max) return
  throw invalidArgument(
    `${labelOf(property)}: the ${name} is ${degrees}, allowed are -${max} to ${max}`,
    `Geo point ${name} outside permitted range -${max}.0 to ${max}.0.`,
  )
}
