/**
 * google.datastore.v1.CommitRequest as most clients send it: a database, a mode, perhaps a transaction, and mutations of which
 * each is an entity to write and nothing else.
 *
 *   transaction 1, mode 5, mutations 6 (insert 4, update 5, upsert 6), project_id 8, database_id 9
 *
 * A generated decoder makes two objects of each mutation before the one that the engine takes; here there is that one alone.
 *
 * Known: google/datastore/v1/datastore.proto.
 */
import { DatastoreError } from '../errors.ts'
import { internText } from './interned-text.ts'
import { WireReader, wireBytes } from './wire.ts'

const transactionField = 1
const modeTag = 5 << 3
const mutationsField = 6
const projectField = 8
const databaseField = 9

/** By the number of the field. */
const operations = { 4: 'insert', 5: 'update', 6: 'upsert' } as const

/** An entity to write, as the engine takes it. */
export interface PlainMutation {
  readonly operation: 'insert' | 'update' | 'upsert'
  /** A view of the request. */
  readonly entity: Uint8Array
}

export class PlainCommit {
  projectId = ''
  databaseId = ''
  /** As in the message; 0 without one. */
  mode = 0
  transaction: Uint8Array | undefined
  readonly mutations: PlainMutation[] = []

  private constructor() {}

  /** `undefined` for a request with more in it, and for bytes that are no message: the general decoder says what is wrong. */
  static read(bytes: Uint8Array): PlainCommit | undefined {
    try {
      const commit = new PlainCommit()
      return commit.#fields(new WireReader(bytes)) ? commit : undefined
    } catch (error) {
      if (error instanceof DatastoreError) return undefined
      throw error
    }
  }

  #fields(reader: WireReader): boolean {
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag === modeTag) {
        this.mode = reader.int32()
        continue
      }
      if ((tag & 7) !== wireBytes) return false
      const end = reader.length() + reader.position
      const field = tag >>> 3
      if (field === mutationsField) {
        const mutation = mutationOf(reader, end)
        if (mutation === undefined) return false
        this.mutations.push(mutation)
      } else if (field === projectField) {
        this.projectId = internText(reader.bytes, reader.position, end, 'project_id').text
      } else if (field === databaseField) {
        this.databaseId = internText(reader.bytes, reader.position, end, 'database_id').text
      } else if (field === transactionField) this.transaction = reader.bytes.subarray(reader.position, end)
      else return false
      reader.position = end
    }
    return true
  }
}

function mutationOf(reader: WireReader, end: number): PlainMutation | undefined {
  const tag = reader.position < end ? reader.tag() : 0
  const field = tag >>> 3
  if ((tag & 7) !== wireBytes || (field !== 4 && field !== 5 && field !== 6)) return undefined
  const entityEnd = reader.length() + reader.position
  if (entityEnd !== end) return undefined
  return { operation: operations[field], entity: reader.bytes.subarray(reader.position, end) }
}
