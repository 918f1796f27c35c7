/**
 * google.datastore.v1.LookupRequest as most clients send it: a database and keys, and nothing else.
 *
 *   keys 3, project_id 8, database_id 9
 *
 * A generated decoder makes a byte array of each key first, which cost 25 keys a fifth of their lookup. Here the message is
 * gone through once for the database and once for the keys, which follow from it.
 *
 * Known: google/datastore/v1/datastore.proto.
 */
import { DatastoreError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Key } from '../model/key.ts'
import { internText } from './interned-text.ts'
import type { KeyDefaults } from './key-message.ts'
import { KeyRun } from './key-run.ts'
import { WireReader, wireBytes } from './wire.ts'

const keysField = 3

export class PlainLookup implements KeyDefaults {
  projectId = ''
  databaseId = ''
  readonly #bytes: Uint8Array

  private constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** `undefined` for a request with more in it or too many keys, and for bytes that are no message: the general decoder says what is wrong. */
  static read(bytes: Uint8Array): PlainLookup | undefined {
    try {
      const lookup = new PlainLookup(bytes)
      return lookup.#fields() ? lookup : undefined
    } catch (error) {
      if (error instanceof DatastoreError) return undefined
      throw error
    }
  }

  #fields(): boolean {
    const reader = new WireReader(this.#bytes)
    let count = 0
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if ((tag & 7) !== wireBytes) return false
      const end = reader.length() + reader.position
      const field = tag >>> 3
      if (field === 8) this.projectId = internText(reader.bytes, reader.position, end, 'project_id').text
      else if (field === 9) this.databaseId = internText(reader.bytes, reader.position, end, 'database_id').text
      else if (field !== keysField || ++count > limits.lookupKeysMax) return false
      reader.position = end
    }
    return true
  }

  /** The keys, with empty parts of their partitions filled from `defaults`. INVALID_ARGUMENT as of decodeKey(). */
  keys(defaults: KeyDefaults): Key[] {
    const reader = new WireReader(this.#bytes)
    const { end } = reader
    const run = new KeyRun(reader, defaults)
    const keys: Key[] = []
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      const length = reader.length()
      if (tag >>> 3 === keysField) {
        const next = reader.position + length
        reader.end = next
        keys.push(run.next())
        reader.position = next
        reader.end = end
      } else reader.position += length
    }
    return keys
  }
}
