/**
 * The checksum of a row on disk, over key and value; it is behind the value.
 *
 *   stored = value                              a value of fewer than 8 bytes
 *          | value, checksum 4 (big-endian)     any other: CRC-32C over the row key and the value
 *
 * LevelDB merges its tables without comparing their checksums, so a changed byte can get a new checksum in the next table. This one
 * is made once and stays with the row. Short values are those of index rows, by far the most; `check` compares them with their entities.
 *
 * P1  A row with a checksum is answered as it was written, or not at all.        row-proof.test.ts,
 *     contract/damaged-store.test.ts
 */
import { Buffer } from 'node:buffer'
import { int32Of } from '../encoding/bytes.ts'
import { crc32c } from '../encoding/crc32c.ts'

/** A shorter value has no checksum. */
const provenBytesMin = 8
const proofBytes = 4

/** Space for the stored form; rows of entities are rarely longer. */
const room = Buffer.allocUnsafeSlow(1 << 14)

/** The bytes to store for a value. They are valid until the next call, so copy them at once, as a batch of LevelDB does. */
export function withProof(key: Uint8Array, value: Uint8Array): Uint8Array {
  const { length } = value
  if (length < provenBytesMin) return value
  const size = length + proofBytes
  const stored = size <= room.length ? room.subarray(0, size) : Buffer.allocUnsafe(size)
  stored.set(value, 0)
  stored.writeUInt32BE(crc32c(value, 0, length, crc32c(key)), length)
  return stored
}

/** The value in stored bytes, maybe a view of them; `undefined` if they are not what was written under this key. */
export function provenValue(key: Uint8Array, stored: Uint8Array): Uint8Array | undefined {
  if (stored.length < provenBytesMin) return stored
  const length = stored.length - proofBytes
  if (length < provenBytesMin) return undefined
  return int32Of(stored, length) >>> 0 === crc32c(stored, 0, length, crc32c(key))
    ? stored.subarray(0, length)
    : undefined
}
