/**
 * Tells whether two entities have equal properties.
 *
 * Properties are a map. A client may send the same ones in another order, and such a write changes nothing (measured on the
 * newer of Google's emulators). The order inside an array does matter. Encodings that differ in more than order, such as a
 * written default value, may count as different.
 */
import { compareBytes } from '../model/compare.ts'
import type { Key } from '../model/key.ts'
import { compareKeys, isCompleteKey } from '../model/key.ts'
import type { Properties, Value } from '../model/value.ts'
import { decodeProperties } from './entity-codec.ts'
import { asBuffer } from './wire.ts'

/** @param a, b - stored `properties` fields of an Entity */
export function sameProperties(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  if (asBuffer(a).equals(b)) return true
  // The same fields in another order have the same sum. Almost every real change has another sum, and needs no
  // decoding.
  if (sumOf(a) !== sumOf(b)) return false
  return sameMaps(decodeProperties(a), decodeProperties(b))
}

function sumOf(bytes: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum += bytes[i] as number
  return sum
}

function sameMaps(a: Properties, b: Properties): boolean {
  if (a.size !== b.size) return false
  for (const [name, value] of a) {
    const other = b.get(name)
    if (other === undefined || !sameValues(value, other)) return false
  }
  return true
}

function sameValues(a: Value, b: Value): boolean {
  if (a.meaning !== b.meaning || a.excludeFromIndexes !== b.excludeFromIndexes) return false
  switch (a.type) {
    case 'null':
      return b.type === 'null'
    case 'blob':
      return b.type === 'blob' && compareBytes(a.value, b.value) === 0
    case 'timestamp':
      return b.type === 'timestamp' && a.micros === b.micros
    case 'geoPoint':
      return b.type === 'geoPoint' && Object.is(a.latitude, b.latitude) && Object.is(a.longitude, b.longitude)
    case 'key':
      return b.type === 'key' && sameKeys(a.key, b.key)
    case 'entity':
      return b.type === 'entity' && sameKeys(a.key, b.key) && sameMaps(a.properties, b.properties)
    case 'array':
      return (
        b.type === 'array' &&
        a.values.length === b.values.length &&
        a.values.every((value, i) => sameValues(value, b.values[i] ?? nothing))
      )
    case 'boolean':
    case 'integer':
    case 'double':
    case 'string':
      return a.type === b.type && Object.is(a.value, b.value)
  }
}

const nothing: Value = { type: 'null' }

function sameKeys(a: Key | undefined, b: Key | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return isCompleteKey(a) === isCompleteKey(b) && compareKeys(a, b) === 0
}
