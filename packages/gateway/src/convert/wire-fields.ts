/**
 * Messages that are read without their descriptors, field by field:
 *
 *   0a 03 "ada"  10 07     ─▶   field 1 with the content "ada", field 2 with the number 7
 */
import { invalidArgument } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'

export interface WireField {
  readonly number: number
  /** Whether it has a content of any length: a message, bytes or a text. */
  readonly hasContent: boolean
  /** Its tag and what follows it. */
  readonly bytes: Uint8Array
}

export function* fieldsOf(message: Uint8Array): Generator<WireField> {
  const reader = protobuf.Reader.create(message)
  while (reader.pos < reader.len) {
    const start = reader.pos
    const tag = reader.uint32()
    reader.skipType(tag & 7)
    yield { number: tag >>> 3, hasContent: (tag & 7) === 2, bytes: message.subarray(start, reader.pos) }
  }
}

/** The same, up to bytes that are no field. */
export function* wholeFieldsOf(message: Uint8Array): Generator<WireField> {
  try {
    for (const field of fieldsOf(message)) {
      if (field.number === 0) return
      yield field
    }
  } catch {
    // The caller finds the rest behind the last field.
  }
}

/** The tag and the length before a content of so many bytes. */
export function headOf(number: number, length: number): Uint8Array {
  return protobuf.Writer.create()
    .uint32(number * 8 + 2)
    .uint32(length)
    .finish()
}

/** The contents of all fields with a number. */
export function contentsOf(message: Uint8Array, number: number): readonly Buffer[] {
  return [...fieldsOf(message)].filter((field) => field.number === number).map(({ bytes }) => contentOf(bytes))
}

/** The value, below 2^32, of the first field with a number; 0 without one. */
export function numberOf(message: Uint8Array, number: number): number {
  for (const field of fieldsOf(message)) {
    if (field.number !== number) continue
    const reader = protobuf.Reader.create(field.bytes)
    reader.uint32()
    return reader.uint32()
  }
  return 0
}

/** The message, bytes or text in a field. */
export function contentOf(field: Uint8Array): Buffer {
  const reader = protobuf.Reader.create(field)
  reader.uint32()
  const { buffer, byteOffset, byteLength } = reader.bytes()
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The last text of each field; fields of other types are skipped. @throws INVALID_ARGUMENT for broken bytes */
export function textFields(message: Buffer, name: string): ReadonlyMap<number, string> {
  try {
    const fields = [...fieldsOf(message)].filter(({ hasContent }) => hasContent)
    return new Map(fields.map(({ number, bytes }) => [number, contentOf(bytes).toString()]))
  } catch {
    throw invalidArgument(`the bytes are not a ${name}`)
  }
}
