/** Little-endian numbers of seven bits a byte, as LevelDB's files have them. */

export interface Varint {
  readonly value: number
  /** Where the next thing begins. */
  readonly next: number
}

/** @throws RangeError when the bytes end in it, or it is too large for a file offset */
export function varintAt(bytes: Buffer, at: number): Varint {
  let value = 0
  for (let i = 0, scale = 1; i < 8; i++, scale *= 128) {
    const byte = bytes.readUInt8(at + i)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, next: at + i + 1 }
  }
  throw new RangeError('a number has too many bytes')
}
