/** Hand-made protocol-buffer messages for tests of the entity codec: also such as no client library would send. */
import { encodeKey, encodeValue } from '../../src/encoding/entity-codec.ts'
import { WireWriter } from '../../src/encoding/wire.ts'
import type { Key, PartitionId, PathElement } from '../../src/model/key.ts'
import type { Value } from '../../src/model/value.ts'

export const request = { projectId: 'p', databaseId: '' }

/** A message of the fields that `write` writes. */
export function message(write: (writer: WireWriter) => void): Uint8Array {
  const writer = new WireWriter()
  write(writer)
  return writer.finish()
}

/** A message of one length-delimited field. */
export function field(number: number, payload: Uint8Array | string): Uint8Array {
  return message((writer) => {
    if (typeof payload === 'string') writer.text(number, payload)
    else writer.bytes(number, payload)
  })
}

/** Messages, or parts of one, one after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

export function hex(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text.replace(/\s+/g, ''), 'hex'))
}

export function keyOf(path: readonly PathElement[], partition: Partial<PartitionId> = {}): Key {
  return { partition: { projectId: 'p', databaseId: '', namespaceId: '', ...partition }, path }
}

/** The map entry of a property as one field of an Entity; the value is a Value's bytes or a model value. */
export function property(name: string, value: Value | Uint8Array): Uint8Array {
  const bytes = value instanceof Uint8Array ? value : encodeValue(value)
  return field(3, joined(field(1, name), field(2, bytes)))
}

/** An Entity of a key and property fields. */
export function entity(key: Key | undefined, ...properties: readonly Uint8Array[]): Uint8Array {
  return joined(...(key === undefined ? [] : [field(1, encodeKey(key))]), ...properties)
}

/** A Timestamp value as it can stand on the wire. */
export function timestamp(seconds: bigint, nanos: number): Uint8Array {
  return message((writer) => {
    const at = writer.open(10)
    writer.int64(1, seconds)
    writer.int64(2, BigInt(nanos))
    writer.close(at)
  })
}

export const string = (value: string, excluded = false): Value => ({
  type: 'string',
  value,
  ...(excluded ? { excludeFromIndexes: true } : {}),
})
export const integer = (value: number | bigint): Value => ({ type: 'integer', value: BigInt(value) })
export const array = (...values: readonly Value[]): Value => ({ type: 'array', values })
export const embedded = (properties: Readonly<Record<string, Value>>): Value => ({
  type: 'entity',
  properties: new Map(Object.entries(properties)),
})
export const excluded = (value: Value): Value => ({ ...value, excludeFromIndexes: true })
