/** Reads small messages of protocols that have no descriptors here: their fields of texts and of numbers. */
import { invalidArgument } from '@sixtables/engine'

const varintWire = 0
const fixed64Wire = 1
const bytesWire = 2
const fixed32Wire = 5

/** The last text of each field that has one; other fields are passed over. @throws INVALID_ARGUMENT for broken bytes */
export function textFields(message: Buffer, name: string): ReadonlyMap<number, string> {
  const found = new Map<number, string>()
  let at = 0
  const broken = () => invalidArgument(`the bytes are not a ${name}`)
  const varint = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++]
      if (byte === undefined || factor > 2 ** 63) throw broken()
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    const wire = tag % 8
    if (wire === varintWire) varint()
    else if (wire === fixed64Wire) at += 8
    else if (wire === fixed32Wire) at += 4
    else if (wire === bytesWire) {
      const length = varint()
      const end = at + length
      if (end > message.length) throw broken()
      found.set(Math.floor(tag / 8), message.toString('utf8', at, end))
      at = end
    } else throw broken()
  }
  if (at > message.length) throw broken()
  return found
}
