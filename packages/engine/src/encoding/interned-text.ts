/**
 * A small cache from UTF-8 bytes to strings, for texts that repeat: property names, kinds, namespaces, project ids. A cached
 * text is neither checked nor decoded nor allocated again.
 *
 * Each slot holds the newest text with its hash. A text enters only after its UTF-8 was checked.
 */
import { readText, type WireReader, wireBytes } from './wire.ts'

export interface InternedText {
  readonly text: string
  /** Whether the text contains a dot: as a property name it may equal a nested path. */
  readonly dotted: boolean
  readonly bytes: Uint8Array
}

const slotCount = 1024
const bytesMax = 64
const slots: (InternedText | undefined)[] = new Array<InternedText | undefined>(slotCount).fill(undefined)

/** Bytes [start, end) as text; INVALID_ARGUMENT unless they are UTF-8. @param what - their name in the error */
export function internText(bytes: Buffer, start: number, end: number, what: string): InternedText {
  if (end - start > bytesMax) return decode(bytes, start, end, what)
  let hash = 0
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193)
  const slot = (hash ^ (hash >>> 15)) & (slotCount - 1)
  const known = slots[slot]
  if (known?.bytes.length === end - start) {
    let at = 0
    while (at < known.bytes.length && known.bytes[at] === bytes[start + at]) at++
    if (at === known.bytes.length) return known
  }
  const interned = decode(bytes, start, end, what)
  slots[slot] = interned
  return interned
}

export function internField(reader: WireReader, tag: number, what: string): string {
  reader.expect(tag, wireBytes, what)
  const end = reader.length() + reader.position
  const { text } = internText(reader.bytes, reader.position, end, what)
  reader.position = end
  return text
}

function decode(bytes: Buffer, start: number, end: number, what: string): InternedText {
  const text = readText(bytes, start, end, what)
  return { text, dotted: text.includes('.'), bytes: Uint8Array.prototype.slice.call(bytes, start, end) }
}
