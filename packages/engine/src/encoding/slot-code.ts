/**
 * Value codes directly from wire bytes, equal to those that value-codec.ts makes from decoded values
 * (test/property/entity-index.test.ts). An index entry of "ada" copies its UTF-8 and makes no string. Only keys and users, which are
 * rare, are decoded.
 */
import { InvariantError, invariant } from '../invariant.ts'
import type { EntityValue } from '../model/value.ts'
import { type KeyDefaults, readKey } from './key-message.ts'
import { encodeDouble } from './ordered.ts'
import { falseCode, nullCode, trueCode, valueCode } from './value-codec.ts'
import { readerOf, readGeoPoint, type ValueSlot } from './value-slot.ts'
import { valueField } from './value-types.ts'
import { binaryText, type WireReader } from './wire.ts'

function int64Code(low: number, high: number): string {
  return String.fromCharCode(
    0x18,
    (high >>> 24) ^ 0x80,
    (high >>> 16) & 0xff,
    (high >>> 8) & 0xff,
    high & 0xff,
    low >>> 24,
    (low >>> 16) & 0xff,
    (low >>> 8) & 0xff,
    low & 0xff,
  )
}

/** The code of a timestamp. Microseconds need 58 bits, so they are computed in parts that a double holds exactly. */
function timestampCode(seconds: number, nanos: number): string {
  const upper = Math.floor(seconds / 0x1_0000)
  const rest = (seconds - upper * 0x1_0000) * 1_000_000 + Math.floor(nanos / 1000)
  const above16 = upper * 1_000_000 + Math.floor(rest / 0x1_0000)
  const high = Math.floor(above16 / 0x1_0000)
  const low = (above16 - high * 0x1_0000) * 0x1_0000 + (rest % 0x1_0000)
  return int64Code(low >>> 0, high >>> 0)
}

function bytesCode(slot: ValueSlot): string {
  const bytes = binaryText(slot.bytes, slot.start, slot.end)
  return bytes.indexOf('\x00') < 0 ? `\x28${bytes}\x00\x01` : `\x28${bytes.replaceAll('\x00', '\x00\xff')}\x00\x01`
}

/**
 * The code of the value in `slot`. It must be set and no array. A timestamp's `seconds` and `nanos` must be read already; the
 * only entity allowed is a user, which is given decoded in `user`.
 *
 * @param defaults - the request's database, for a key that names none
 */
export function slotCode(
  slot: ValueSlot,
  outer: WireReader,
  defaults: KeyDefaults,
  user: EntityValue | undefined,
): string {
  switch (slot.member) {
    case valueField.boolean:
      return slot.low !== 0 || slot.high !== 0 ? trueCode : falseCode
    case valueField.integer:
      return int64Code(slot.low, slot.high)
    case valueField.timestamp:
      return timestampCode(slot.seconds, slot.nanos)
    case valueField.string:
    case valueField.blob:
      return bytesCode(slot)
    case valueField.double:
      return `\x30${encodeDouble(slot.bytes.readDoubleLE(slot.start))}`
    case valueField.geoPoint:
      return valueCode({ type: 'geoPoint', ...readGeoPoint(slot, outer, undefined) })
    case valueField.key:
      return valueCode({ type: 'key', key: readKey(readerOf(slot, outer), defaults) })
    case valueField.null:
      return nullCode
    case valueField.entity:
      invariant(user !== undefined, 'of entities only users have a code')
      return valueCode(user)
    case valueField.array:
    case 0:
      throw new InvariantError(`a value with member ${slot.member} has no code`)
  }
}
