/**
 * The Huffman code of header strings. It is canonical: codes are given out in order of length and, within a length, of the
 * symbol, so that the lengths say all.
 *
 * U1  The code is complete: every long enough run of bits begins with exactly one code.   checked when it is built
 *
 * Known: RFC 7541, appendix B. The test compares it with what Node's own HTTP/2 sends.
 */
import { InvariantError, invariant } from '@sixtables/engine'
import { ConnectionError, errorCode } from './frames.ts'

/** Code lengths in bits as runs "symbols×length", for bytes 0 to 255 and the end-of-string symbol. */
const lengthRuns =
  '13 23 28×7 24 30 28×2 30 28×8 30 28×9 ' +
  '6 10×2 12 13 6 8 11 10×2 8 11 8 6×3 5×3 6×7 7 8 15 6 12 10 ' +
  '13 6 7×22 8 7 8 13 19 13 14 6 ' +
  '15 5 6 5 6 5 6×3 5 7×2 6×3 5 6 7 6 5×2 6 7×5 15 11 14 13 28 ' +
  '20 22 20×2 22×3 23 22 23×5 24 23 24×2 22 23 24 23×4 21 22 23 22 23×2 24 ' +
  '22 21 20 22×2 23×2 21 23 22×2 24 21 22 23×2 21×2 22 21 23 22 23×2 20 22×3 23 22×2 23 ' +
  '26×2 20 19 22 23 22 25 26×3 27×2 26 24 25 19 21 26 27×2 26 27 24 21×2 26×2 28 27×3 ' +
  '20 24 20 21 22 21×2 23 22×2 25×2 24×2 26 23 26 27 26×2 27×5 28 27×5 26 30'

const endOfString = 256
const symbols = 257

function codeLengths(): number[] {
  return lengthRuns.split(' ').flatMap((run) => {
    const [length = 0, times = 1] = run.split('×').map(Number)
    return Array.from({ length: times }, () => length)
  })
}

/** Branches of the code tree, two for each inner node: a node's number, or ~symbol for a leaf. */
function codeTree(): Int16Array {
  const lengths = codeLengths()
  invariant(lengths.length === symbols, `U1: ${lengths.length} code lengths`)
  const bySize = lengths.map((length, symbol) => ({ length, symbol }))
  bySize.sort((a, b) => a.length - b.length || a.symbol - b.symbol)
  const tree = new Int16Array(2 * (symbols - 1))
  let nodes = 1
  let code = 0
  let codeBits = 0
  for (const { length, symbol } of bySize) {
    code *= 2 ** (length - codeBits)
    codeBits = length
    let node = 0
    for (let bit = length - 1; bit >= 0; bit--) {
      const branch = node * 2 + (Math.floor(code / 2 ** bit) & 1)
      if (bit === 0) tree[branch] = ~symbol
      else {
        if (tree[branch] === 0) tree[branch] = nodes++
        node = tree[branch] ?? 0
      }
    }
    code++
  }
  invariant(code === 2 ** codeBits && nodes === symbols - 1, 'U1: the code is not complete')
  return tree
}

const tree = codeTree()

function broken(why: string): ConnectionError {
  return new ConnectionError(errorCode.compression, `a Huffman-coded header string ${why}`)
}

/** The text whose code lies in bytes [start, end), one char a byte. */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  let text = ''
  let node = 0
  /** Bits since the last symbol, and whether all of them are ones, as padding must be. */
  let bits = 0
  let onlyOnes = true
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    for (let mask = 0x80; mask !== 0; mask >>>= 1) {
      const one = (byte & mask) !== 0
      const next = tree[node * 2 + (one ? 1 : 0)]
      if (next === undefined) throw new InvariantError('U1: a branch leads out of the tree')
      if (next < 0) {
        const symbol = ~next
        if (symbol === endOfString) throw broken('holds the end-of-string symbol')
        text += String.fromCharCode(symbol)
        node = 0
        bits = 0
        onlyOnes = true
      } else {
        node = next
        bits++
        onlyOnes &&= one
      }
    }
  }
  if (bits > 7 || !onlyOnes) throw broken('is not padded with ones to a whole byte')
  return text
}
