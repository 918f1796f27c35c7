/**
 * Texts that come again and again: property names, kinds, namespaces, project ids.
 *
 * A small table from UTF-8 bytes to the string they stand for, so that a name seen before is neither checked nor decoded
 * nor stored again. A slot holds the newest text that hashed to it; losing one costs a decode and nothing else.
 *
 * N1  A text in the table is well-formed UTF-8.     checked in readText() before it enters
 */
import { fnvStart, fnvStep } from '../fnv.ts'
import { readText } from './wire.ts'

export interface InternedText {
  readonly text: string
  /** Whether the text has a dot in it: as a property name it may then equal a nested path. */
  readonly dotted: boolean
  readonly bytes: Uint8Array
}

const slotCount = 1024
const bytesMax = 64
const slots: (InternedText | undefined)[] = new Array<InternedText | undefined>(slotCount).fill(undefined)

/** Bytes [start, end) as text; INVALID_ARGUMENT unless they are UTF-8. `what` names the field for that message. */
export function internText(bytes: Buffer, start: number, end: number, what: string): InternedText {
  if (end - start > bytesMax) return decode(bytes, start, end, what)
  let hash = fnvStart
  for (let i = start; i < end; i++) hash = fnvStep(hash, bytes[i] as number)
  const slot = (hash ^ (hash >>> 15)) & (slotCount - 1)
  const known = slots[slot]
  if (known !== undefined && equals(known.bytes, bytes, start, end)) return known
  const interned = decode(bytes, start, end, what)
  slots[slot] = interned
  return interned
}

function equals(known: Uint8Array, bytes: Buffer, start: number, end: number): boolean {
  if (known.length !== end - start) return false
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false
  return true
}

function decode(bytes: Buffer, start: number, end: number, what: string): InternedText {
  const text = readText(bytes, start, end, what)
  return { text, dotted: text.includes('.'), bytes: Uint8Array.prototype.slice.call(bytes, start, end) }
}
