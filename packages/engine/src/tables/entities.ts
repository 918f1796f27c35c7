/**
 * Entities: one row per entity; an entity group is one contiguous range, each entity before its descendants in key order
 * (test/property/table-order.test.ts).
 *
 *   E partition path   → version(8, big-endian) createTime(8) updateTime(8) properties
 *
 * Known: the row name is app and path, the entity is one protocol buffer. Ours: the value does not repeat the key, and version and times
 * are before the property bytes.
 */
import { Buffer } from 'node:buffer'
import { int32Of } from '../encoding/bytes.ts'
import { keyRow, keyRows } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { RowReader } from '../encoding/row-reader.ts'
import { invariant } from '../invariant.ts'
import type { EntityImage } from '../model/entity.ts'
import type { Key } from '../model/key.ts'
import type { RowKey } from '../storage/kv.ts'

const headBytes = 24
const tooShort = 'the value of an Entities row has at least 24 bytes'

/** Space for decoding the head of an image; no content outlives a function's call. */
const head = new Uint8Array(headBytes)
const headView = new DataView(head.buffer)

export function entityRowKey(partitionCode: string, pathCode: string): RowKey {
  return keySpaces.Entities + partitionCode + pathCode
}

/** The row key of an entity from its key code, or of a group's root from the group's code. */
export function entityRowOf(keyCode: string): RowKey {
  return keySpaces.Entities + keyCode
}

export function entityRowKeyOf(key: Key): RowKey {
  return keyRow(keySpaces.Entities, key)
}

export function entityRowKeysOf(keys: readonly Key[]): RowKey[] {
  return keyRows(keySpaces.Entities, keys)
}

/** Throws InvariantError for rows of other tables. */
export function parseEntityRowKey(rowKey: RowKey): Key {
  invariant(rowKey.startsWith(keySpaces.Entities), 'not a row of Entities')
  const row = new RowReader(rowKey)
  return { partition: row.partition(), path: row.lastPath() }
}

export function encodeImage(image: EntityImage): Uint8Array {
  headView.setBigUint64(0, image.version)
  headView.setBigInt64(8, image.createTime)
  headView.setBigInt64(16, image.updateTime)
  const bytes = Buffer.allocUnsafe(headBytes + image.properties.length)
  bytes.set(head, 0)
  bytes.set(image.properties, headBytes)
  return bytes
}

/** The image in the value of an entity row; its properties are a view of `bytes`. */
export function decodeImage(bytes: Uint8Array): EntityImage {
  readHead(bytes)
  return {
    version: headView.getBigUint64(0),
    createTime: headView.getBigInt64(8),
    updateTime: headView.getBigInt64(16),
    properties: bytes.subarray(headBytes),
  }
}

/** An image that is decoded when a member is read: copying bytes to the wire makes no bigints (0.2 µs, not 0.7). */
export class StoredImage implements EntityImage {
  /** The offset of the properties in {@link row}. */
  static readonly propertiesAt: number = headBytes
  readonly row: Uint8Array
  readonly propertiesBytes: number

  constructor(row: Uint8Array) {
    invariant(row.length >= headBytes, tooShort)
    this.row = row
    this.propertiesBytes = row.length - headBytes
  }

  get version(): bigint {
    readHead(this.row)
    return headView.getBigUint64(0)
  }

  get createTime(): bigint {
    readHead(this.row)
    return headView.getBigInt64(8)
  }

  get updateTime(): bigint {
    readHead(this.row)
    return headView.getBigInt64(16)
  }

  get properties(): Uint8Array {
    return this.row.subarray(headBytes)
  }

  /** The version or a time as a number: exact below 2^53, until the year 2255. */
  numberOf(field: keyof typeof headFields): number {
    const at = headFields[field]
    return int32Of(this.row, at) * 0x1_0000_0000 + (int32Of(this.row, at + 4) >>> 0)
  }
}

/** Offsets in the head of a row; each field has eight bytes. */
const headFields = { version: 0, createTime: 8, updateTime: 16 } as const

export function propertiesBytes(image: EntityImage): number {
  return image instanceof StoredImage ? image.propertiesBytes : image.properties.length
}

/** The property bytes in the value of an entity row, as a view of `bytes`. */
export function propertiesOfImage(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(headBytes)
}

function readHead(bytes: Uint8Array): void {
  invariant(bytes.length >= headBytes, tooShort)
  for (let i = 0; i < headBytes; i++) head[i] = bytes[i] as number
}
