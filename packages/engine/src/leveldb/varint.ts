/** Numbers in LevelDB's files: the varints of protocol buffers. */
import { WireReader } from '../encoding/wire.ts'

/** The number, and the offset behind it. @throws RangeError if the bytes end inside it, or it is too large for a file offset */
export function varintAt(bytes: Buffer, at: number): { readonly value: number; readonly next: number } {
  const reader = new WireReader(bytes, at)
  try {
    reader.varint()
  } catch {
    throw new RangeError(`the number at byte ${at} is cut off or has too many bytes`)
  }
  const value = reader.high * 0x1_0000_0000 + reader.low
  if (!Number.isSafeInteger(value)) throw new RangeError(`the number at byte ${at} is too large`)
  return { value, next: reader.position }
}
