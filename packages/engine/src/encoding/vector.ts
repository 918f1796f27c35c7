/**
 * Vectors on the wire: an array value of meaning 31 whose elements are doubles.
 *
 *   element   0a 09 19 <8 bytes, little-endian>      ArrayValue.values 1, length 9, Value.double_value 3
 *
 * Almost every encoder writes elements in this form, which is read without parsing tags; others are read like any value.
 *
 * Known: google/datastore/v1/entity.proto for the numbers.
 */
import { type ByteRange, eachElement, readValue, ValueSlot } from './value-slot.ts'
import { valueField } from './value-types.ts'
import { WireReader } from './wire.ts'

const elementBytes = 11

/** Reads the doubles of an ArrayValue; those beyond `into` are only counted. `undefined` if an element is no double. */
export function readDoubles(range: ByteRange, into: Float64Array): number | undefined {
  const { bytes, start, end } = range
  let count = readPlain(range, into)
  if (start + count * elementBytes === end) return count
  const reader = new WireReader(bytes, start + count * elementBytes, end)
  const slot = new ValueSlot(bytes)
  let areDoubles = true
  eachElement(reader, (element) => {
    readValue(new WireReader(bytes, element.start, element.end), slot)
    areDoubles &&= slot.member === valueField.double
    // A typed array ignores writes past its end.
    if (areDoubles) into[count++] = slot.bytes.readDoubleLE(slot.start)
  })
  return areDoubles ? count : undefined
}

function readPlain({ bytes, start, end }: ByteRange, into: Float64Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const room = into.length
  let count = 0
  for (let at = start; at + elementBytes <= end; at += elementBytes) {
    if (bytes[at] !== 0x0a || bytes[at + 1] !== 9 || bytes[at + 2] !== 0x19) break
    if (count < room) into[count] = view.getFloat64(at + 3, true)
    count++
  }
  return count
}
