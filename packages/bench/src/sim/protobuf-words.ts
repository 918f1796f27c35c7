/**
 * A commit request as bytes of the wire, and those bytes in words: one line for each field, with the field's name where the message
 * belongs to the Datastore API.
 */
import { int64FromHalves, WireReader } from '@sixtables/engine/testing'
import { lengthDelimited, varintField } from './entities.ts'

type Message =
  | 'CommitRequest'
  | 'Mutation'
  | 'Entity'
  | 'Key'
  | 'PartitionId'
  | 'PathElement'
  | 'Property'
  | 'Value'
  | 'Timestamp'

type Fields = Readonly<Record<number, readonly [name: string, message?: Message]>>

/** Field numbers. Known: google/datastore/v1/datastore.proto and entity.proto. */
const messages: Readonly<Record<Message, Fields>> = {
  CommitRequest: { 5: ['mode'], 6: ['mutations', 'Mutation'], 8: ['project_id'] },
  Mutation: { 4: ['insert', 'Entity'], 5: ['update', 'Entity'], 6: ['upsert', 'Entity'] },
  Entity: { 1: ['key', 'Key'], 3: ['properties', 'Property'] },
  Key: { 1: ['partition_id', 'PartitionId'], 2: ['path', 'PathElement'] },
  PartitionId: { 2: ['project_id'], 4: ['namespace_id'] },
  PathElement: { 1: ['kind'], 2: ['id'], 3: ['name'] },
  Property: { 1: ['(name)'], 2: ['(value)', 'Value'] },
  Value: {
    1: ['boolean_value'],
    2: ['integer_value'],
    10: ['timestamp_value', 'Timestamp'],
    17: ['string_value'],
    19: ['exclude_from_indexes'],
  },
  Timestamp: { 1: ['seconds'], 2: ['nanos'] },
}

/** A non-transactional commit of one upsert. */
export function commitRequestBytes(projectId: string, entity: Uint8Array): Uint8Array {
  return Buffer.concat([
    varintField(5, 2),
    lengthDelimited(6, lengthDelimited(6, entity)),
    lengthDelimited(8, Buffer.from(projectId)),
  ])
}

/** @returns one line for each field, indented by two spaces per level */
export function protobufInWords(bytes: Uint8Array, message: Message = 'CommitRequest'): string[] {
  const fields = messages[message]
  const lines: string[] = []
  const reader = new WireReader(bytes)
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const [name, inner] = fields[tag >>> 3] ?? [`field ${tag >>> 3}`]
    if ((tag & 7) === 0) {
      reader.varint()
      lines.push(`${name}: ${BigInt.asUintN(64, int64FromHalves(reader.low, reader.high))}`)
      continue
    }
    const length = reader.length()
    const part = bytes.subarray(reader.position, reader.position + length)
    reader.position += length
    if (inner === undefined) lines.push(`${name}: ${JSON.stringify(Buffer.from(part).toString('utf8'))}`)
    else lines.push(`${name}  ${length} bytes`, ...protobufInWords(part, inner).map((line) => `  ${line}`))
  }
  return lines
}
