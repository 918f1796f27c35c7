/**
 * Tells whether two entities have equal properties.
 *
 * Properties are a map. A client may send the same ones in another order, and such a write changes nothing (measured on the
 * newer of Google's emulators). The order inside an array does matter. Encodings that differ in more than order, such as a
 * written default value, may count as different.
 */
import type { Properties, Value } from '../model/value.ts'
import { decodeProperties, encodeProperties } from './entity-codec.ts'
import { asBuffer } from './wire.ts'

/** @param a, b - stored `properties` fields of an Entity */
export function sameProperties(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  if (asBuffer(a).equals(b)) return true
  // The same fields in another order have the same sum. Almost every real change has another sum, and needs no decoding.
  return sumOf(a) === sumOf(b) && asBuffer(sortedBytes(a)).equals(sortedBytes(b))
}

function sumOf(bytes: Uint8Array): number {
  let sum = 0
  for (let i = 0; i < bytes.length; i++) sum += bytes[i] as number
  return sum
}

/** The properties encoded in the order of their names, in embedded entities too. */
function sortedBytes(properties: Uint8Array): Uint8Array {
  return encodeProperties(sorted(decodeProperties(properties)))
}

function sorted(properties: Properties): Properties {
  const named = [...properties].sort(([a], [b]) => (a < b ? -1 : 1))
  return new Map(named.map(([name, value]) => [name, sortedValue(value)]))
}

function sortedValue(value: Value): Value {
  if (value.type === 'entity') return { ...value, properties: sorted(value.properties) }
  return value.type === 'array' ? { ...value, values: value.values.map(sortedValue) } : value
}
