/** A reader of small protobuf messages without descriptors: their texts, by field number. */
import { invalidArgument } from '@sixtables/engine'
import protobuf from 'protobufjs/minimal.js'

const bytesWire = 2

/** The last text of each field; fields of other types are skipped. @throws INVALID_ARGUMENT for broken bytes */
export function textFields(message: Buffer, name: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  const reader = protobuf.Reader.create(message)
  try {
    while (reader.pos < reader.len) {
      const tag = reader.uint32()
      if ((tag & 7) === bytesWire) found.set(tag >>> 3, reader.string())
      else reader.skipType(tag & 7)
    }
  } catch {
    throw invalidArgument(`the bytes are not a ${name}`)
  }
  return found
}
