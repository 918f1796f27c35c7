/**
 * CRC-32C (Castagnoli): the checksum in LevelDB's log files, and the masked form in which they store it. The mask (rotated
 * right by 15 bits, plus a constant) is there because a checksum over bytes that contain checksums is weak.
 *
 * Known: the polynomial (reflected 82F63B78) and the mask, from LevelDB's public format description.
 */
const polynomial = 0x82f63b78
const maskDelta = 0xa282ead8

type Eight<T> = [T, T, T, T, T, T, T, T]

/** Eight tables, so that one step processes eight bytes. Table k is for a byte with k more bytes behind it. */
const [t0, t1, t2, t3, t4, t5, t6, t7] = makeTables() as Eight<Uint32Array>

function makeTables(): Uint32Array[] {
  const first = new Uint32Array(256)
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte
    for (let bit = 0; bit < 8; bit++) rest = (rest & 1) === 1 ? (rest >>> 1) ^ polynomial : rest >>> 1
    first[byte] = rest
  }
  const made = [first]
  for (let k = 1; k < 8; k++) {
    const before = made[k - 1] as Uint32Array
    made.push(before.map((rest) => (first[rest & 0xff] as number) ^ (rest >>> 8)))
  }
  return made
}

/** The checksum of bytes [start, end), unsigned. @param before - the checksum of the parts before */
export function crc32c(bytes: Uint8Array, start = 0, end: number = bytes.length, before = 0): number {
  let crc = ~before
  let at = start
  for (const wholeEnd = end - 7; at < wholeEnd; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24))
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number)
  }
  for (; at < end; at++) crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8)
  return ~crc >>> 0
}

export function maskCrc(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + maskDelta) >>> 0
}
