/**
 * Decompresses Snappy, in which LevelDB stores blocks if that makes them smaller.
 *
 *   length of the text as a varint, then (literal | copy)*, told apart by the two low bits of a tag byte:
 *   0 literal   length - 1 in the upper six bits, or in 1–4 bytes after it if they are 60–63
 *   1 copy      4 + three bits of length, three bits and one byte of distance
 *   2, 3 copy   1 + six bits of length, two or four bytes of distance
 *
 * Known: Snappy's public format description.
 */
import { varintAt } from './varint.ts'

/** @throws RangeError for bytes that are not Snappy */
export function unsnap(bytes: Buffer): Buffer {
  const length = varintAt(bytes, 0)
  const text = Buffer.alloc(length.value)
  let to = 0
  for (let at = length.next; at < bytes.length; ) {
    const tag = bytes.readUInt8(at++)
    if ((tag & 3) === 0) {
      const short = tag >>> 2
      const extra = short < 60 ? 0 : short - 59
      const size = (extra === 0 ? short : bytes.readUIntLE(at, extra)) + 1
      at += extra
      if (at + size > bytes.length || to + size > text.length) throw new RangeError('a literal is too long')
      bytes.copy(text, to, at, at + size)
      at += size
      to += size
      continue
    }
    const isNear = (tag & 3) === 1
    const extra = isNear ? 1 : (tag & 3) === 2 ? 2 : 4
    const size = isNear ? 4 + ((tag >>> 2) & 7) : 1 + (tag >>> 2)
    const distance = bytes.readUIntLE(at, extra) + (isNear ? (tag >>> 5) << 8 : 0)
    at += extra
    if (distance === 0 || distance > to || to + size > text.length) throw new RangeError('a copy is out of bounds')
    for (const end = to + size; to < end; to++) text[to] = text.readUInt8(to - distance)
  }
  if (to !== text.length) throw new RangeError('the text is too short')
  return text
}
