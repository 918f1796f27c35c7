/**
 * Messages of protocol buffers by the numbers of their fields.
 *
 *   {3: {1: 'ToDo'}, 12: {1: 5}}  ─▶  1a 06 0a 04 "ToDo"  62 02 08 05  ─▶  [3, bytes], [12, bytes]
 */
import { int64FromHalves, WireReader, WireWriter } from '@sixtables/engine/testing'

export interface Message {
  readonly [field: number]: Part
}

/** A number, a text, bytes, a message, or a list for a field that is repeated. An undefined field is left out. */
type Part = number | bigint | string | Uint8Array | Message | readonly Part[] | undefined

/** Its fields are in the order of their numbers. */
export function bytesOf(message: Message): Uint8Array {
  const writer = new WireWriter()
  for (const [field, part] of Object.entries(message)) writePart(writer, Number(field), part)
  return writer.finish()
}

function writePart(writer: WireWriter, field: number, part: Part): void {
  if (part === undefined) return
  if (typeof part === 'number' || typeof part === 'bigint') writer.int64(field, BigInt(part))
  else if (typeof part === 'string') writer.text(field, part)
  else if (part instanceof Uint8Array) writer.bytes(field, part)
  else if (isList(part)) for (const one of part) writePart(writer, field, one)
  else writer.bytes(field, bytesOf(part))
}

function isList(part: Message | readonly Part[]): part is readonly Part[] {
  return Array.isArray(part)
}

/** The fields of a message with their numbers, those of the varint type as unsigned numbers and the others as bytes. */
export function* fieldsOf(message: Uint8Array): Generator<readonly [field: number, value: bigint | Uint8Array]> {
  const reader = new WireReader(message)
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if ((tag & 7) === 0) {
      reader.varint()
      yield [tag >>> 3, BigInt.asUintN(64, int64FromHalves(reader.low, reader.high))]
    } else {
      const end = reader.length() + reader.position
      yield [tag >>> 3, message.subarray(reader.position, end)]
      reader.position = end
    }
  }
}

/** The messages, texts or bytes in a field, in order. */
export function contentsOf(message: Uint8Array, field: number): Uint8Array[] {
  return Array.from(fieldsOf(message), ([number, value]) => (number === field ? value : 0n)).filter(
    (value) => typeof value === 'object',
  )
}

/** The number in a field; 0 if it is absent. */
export function numberOf(message: Uint8Array, field: number): bigint {
  for (const [number, value] of fieldsOf(message)) if (number === field && typeof value === 'bigint') return value
  return 0n
}
