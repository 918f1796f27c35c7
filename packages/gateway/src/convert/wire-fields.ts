/**
 * Messages that are read without their descriptors, field by field:
 *
 *   0a 03 "ada"  10 07     ─▶   field 1 with the content "ada", field 2 with the number 7
 */
import protobuf from 'protobufjs/minimal.js'

export interface WireField {
  readonly number: number
  /** Whether it has a content of any length: a message, bytes or a text. */
  readonly hasContent: boolean
  /** Its tag and what follows it. */
  readonly bytes: Uint8Array
}

/** @throws Error for bytes that are no message */
export function* fieldsOf(message: Uint8Array): Generator<WireField> {
  const reader = protobuf.Reader.create(message)
  while (reader.pos < reader.len) {
    const start = reader.pos
    const tag = reader.uint32()
    reader.skipType(tag & 7)
    yield { number: tag >>> 3, hasContent: (tag & 7) === 2, bytes: message.subarray(start, reader.pos) }
  }
}

/** The message, bytes or text in a field. */
export function contentOf(field: Uint8Array): Buffer {
  const reader = protobuf.Reader.create(field)
  reader.uint32()
  const { buffer, byteOffset, byteLength } = reader.bytes()
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** The number in a field: a varint below 2^32. */
export function numberIn(field: Uint8Array): number {
  const reader = protobuf.Reader.create(field)
  reader.uint32()
  return reader.uint32()
}
