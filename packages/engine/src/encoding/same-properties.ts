/**
 * Whether two entities' property bytes say the same.
 *
 * Properties are a map: clients send them in any order, some in another one each time, and a write that changes nothing but
 * the order changes nothing (measured on the newer of Google's emulators). The order of an array does matter.
 *
 * SP1  sameProperties(encode(a), encode(b)) holds exactly if a and b are equal maps.   test/property/same-properties.test.ts
 *
 * Two encodings of one map may differ in more than order (a default written out). Then nothing is promised: they may count as
 * different.
 */
import { compareBytes } from '../model/compare.ts'
import type { Key } from '../model/key.ts'
import { compareKeys, isCompleteKey } from '../model/key.ts'
import type { Properties, Value } from '../model/value.ts'
import { decodeProperties } from './entity-codec.ts'
import { asBuffer } from './wire.ts'

/** @param a, b - `properties` fields of an Entity, as they are stored */
export function sameProperties(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  if (asBuffer(a).equals(b)) return true
  // Another order of the same fields has the same sum; almost every real change has not, and is not decoded.
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
