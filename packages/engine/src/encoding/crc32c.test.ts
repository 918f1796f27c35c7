import { expect, test } from 'vitest'
import { crc32c, maskCrc } from './crc32c.ts'

test('checksums are those of the published examples', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
  expect(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i))).toBe(0x46dd794e)
  expect(crc32c(new Uint8Array(0))).toBe(0)
})

test('bytes given in parts have the checksum of the whole', () => {
  const bytes = Uint8Array.from({ length: 100 }, (_, i) => (i * 37) & 0xff)
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut))).toBe(crc32c(bytes))
  }
})

test('a masked checksum is another number that can be turned back', () => {
  const crc = crc32c(Buffer.from('foo'))
  const masked = maskCrc(crc)
  expect(masked).not.toBe(crc)
  expect(maskCrc(masked)).not.toBe(crc)
  const rotated = (masked - 0xa282ead8) >>> 0
  expect(((rotated >>> 17) | (rotated << 15)) >>> 0).toBe(crc)
})
