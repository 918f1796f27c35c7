/**
 * Vectors as they lie on the wire: an array value of meaning 31 whose elements are doubles.
 *
 *   element   0a 09 19 <8 bytes, little-endian>      ArrayValue.values 1, length 9, Value.double_value 3
 *
 * Almost every encoder writes elements so, and they are read without a look at tags; others are read like any value.
 *
 * Known: google/datastore/v1/entity.proto for the numbers.
 */
import { type ByteRange, readValue, ValueSlot, valueField } from './value-slot.ts'
import { WireReader, wireBytes } from './wire.ts'

const elementBytes = 11
const plainHead = 0x19_09_0a

/**
 * Hands each element to `take`, in order.
 *
 * @param range - an ArrayValue
 * @returns how many there are; `undefined` when one is no double, after which `take` has had some of them
 */
export function eachDouble(range: ByteRange, take: (value: number, i: number) => void): number | undefined {
  const { bytes, start, end } = range
  const plain = plainElements(range)
  for (let i = 0; i < plain; i++) take(bytes.readDoubleLE(start + i * elementBytes + 3), i)
  if (start + plain * elementBytes === end) return plain
  const reader = new WireReader(bytes, start + plain * elementBytes, end)
  const slot = new ValueSlot(bytes)
  let count = plain
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag >>> 3 !== 1) {
      reader.skip(tag)
      continue
    }
    reader.expect(tag, wireBytes, 'an array element')
    const elementEnd = reader.length() + reader.position
    readValue(new WireReader(bytes, reader.position, elementEnd), slot)
    if (slot.member !== valueField.double) return undefined
    take(slot.bytes.readDoubleLE(slot.start), count++)
    reader.position = elementEnd
  }
  return count
}

/** How many elements at the beginning are written plainly. */
function plainElements({ bytes, start, end }: ByteRange): number {
  let count = 0
  for (let at = start; at + elementBytes <= end && bytes.readUIntLE(at, 3) === plainHead; at += elementBytes) count++
  return count
}
