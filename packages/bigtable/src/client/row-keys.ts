/** Row keys: strings of one character (U+0000–U+00FF) a byte inside, bytes on the wire. */

export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'latin1')
}

export function keyOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}
