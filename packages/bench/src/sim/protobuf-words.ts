/** A commit request in words: one line for each field, with the field's name where the message belongs to the Datastore API. */
import { fieldsOf } from './messages.ts'

type Fields = Readonly<Record<number, readonly [name: string, message?: string]>>

/** Field numbers. Known: google/datastore/v1/datastore.proto and entity.proto. */
const messages: Readonly<Record<string, Fields>> = {
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

/** @returns one line for each field, indented by two spaces per level */
export function protobufInWords(bytes: Uint8Array, message = 'CommitRequest'): string[] {
  const fields = messages[message] ?? {}
  const lines: string[] = []
  for (const [number, value] of fieldsOf(bytes)) {
    const [name, inner] = fields[number] ?? [`field ${number}`]
    if (typeof value === 'bigint') lines.push(`${name}: ${value}`)
    else if (inner === undefined) lines.push(`${name}: ${JSON.stringify(Buffer.from(value).toString('utf8'))}`)
    else lines.push(`${name}  ${value.length} bytes`, ...protobufInWords(value, inner).map((line) => `  ${line}`))
  }
  return lines
}
