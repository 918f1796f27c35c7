/**
 * The two digests that the engine makes, for a browser, whose own are asynchronous: MD5, and HMAC of SHA-256.
 *
 *   createHash('md5').update(text).digest()      createHmac('sha256', secret).update(text).digest()
 *
 * Known: RFC 1321, RFC 2104, FIPS 180-4. Compared with Node's in test/ports.test.ts.
 */
import { Buffer } from './buffer.ts'

interface Digest {
  update(text: string): Digest
  digest(): InstanceType<typeof Buffer>
}

export function createHash(_algorithm: 'md5'): Digest {
  return digestOf(md5)
}

export function createHmac(_algorithm: 'sha256', secret: string): Digest {
  const given = Buffer.from(secret)
  const key = new Uint8Array(blockBytes)
  key.set(given.length > blockBytes ? sha256(given) : given)
  const pad = (byte: number): Uint8Array => key.map((one) => one ^ byte)
  return digestOf((bytes) => sha256(Buffer.concat([pad(0x5c), sha256(Buffer.concat([pad(0x36), bytes]))])))
}

function digestOf(hash: (bytes: Uint8Array) => Uint8Array): Digest {
  let whole = ''
  const digest: Digest = {
    update(text) {
      whole += text
      return digest
    },
    digest: () => Buffer.from(hash(Buffer.from(whole))),
  }
  return digest
}

const blockBytes = 64

/** The message, a bit, zeros, and its length in bits in the last eight bytes of a block. */
function padded(bytes: Uint8Array, isLittleEndian: boolean): DataView {
  const blocks = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / blockBytes) * blockBytes))
  new Uint8Array(blocks.buffer).set(bytes)
  blocks.setUint8(bytes.length, 0x80)
  blocks.setBigUint64(blocks.byteLength - 8, BigInt(bytes.length) * 8n, isLittleEndian)
  return blocks
}

const md5Shifts = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
const md5Sines = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0)

function md5(bytes: Uint8Array): Uint8Array {
  const blocks = padded(bytes, true)
  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476])
  for (let block = 0; block < blocks.byteLength; block += blockBytes) {
    let [a, b, c, d] = state as unknown as [number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const round = i >> 4
      const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round] as number
      const word = [i, 5 * i + 1, 3 * i + 5, 7 * i][round] as number
      const sum = (a + mixed + (md5Sines[i] as number) + blocks.getInt32(block + (word % 16) * 4, true)) | 0
      const shift = md5Shifts[round * 4 + (i % 4)] as number
      ;[a, d, c, b] = [d, c, b, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0]
    }
    for (const [i, value] of [a, b, c, d].entries()) state[i] = (state[i] as number) + value
  }
  const digest = new DataView(new ArrayBuffer(16))
  for (const [i, word] of state.entries()) digest.setInt32(i * 4, word, true)
  return new Uint8Array(digest.buffer)
}

const primes = Array.from({ length: 310 }, (_, i) => i + 2).filter((n) => {
  for (let factor = 2; factor * factor <= n; factor++) if (n % factor === 0) return false
  return true
})
/** The first 32 bits of a root's fraction. */
const fraction = (root: number): number => Math.floor((root % 1) * 2 ** 32) | 0
const sha256Roots = primes.slice(0, 64).map((prime) => fraction(Math.cbrt(prime)))
const sha256Start = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))

const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits))

function sha256(bytes: Uint8Array): Uint8Array {
  const blocks = padded(bytes, false)
  const state = new Int32Array(sha256Start)
  const words = new Int32Array(64)
  for (let block = 0; block < blocks.byteLength; block += blockBytes) {
    for (let i = 0; i < 64; i++) {
      if (i < 16) words[i] = blocks.getInt32(block + i * 4)
      else {
        const [early, late] = [words[i - 15] as number, words[i - 2] as number]
        const mixed = turned(early, 7) ^ turned(early, 18) ^ (early >>> 3)
        const other = turned(late, 17) ^ turned(late, 19) ^ (late >>> 10)
        words[i] = (words[i - 16] as number) + mixed + (words[i - 7] as number) + other
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const one = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      const next = (h + one + ((e & f) ^ (~e & g)) + (sha256Roots[i] as number) + (words[i] as number)) | 0
      const other = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      ;[h, g, f, e, d, c, b, a] = [g, f, e, (d + next) | 0, c, b, a, (next + other) | 0]
    }
    for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = (state[i] as number) + value
  }
  const digest = new DataView(new ArrayBuffer(32))
  for (const [i, word] of state.entries()) digest.setInt32(i * 4, word)
  return new Uint8Array(digest.buffer)
}
