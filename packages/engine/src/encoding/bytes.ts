/**
 * Byte strings: text in which each character U+0000–U+00FF is one byte. Row keys and all codes have this form: the bytes 0a
 * ff are the text "\x0a\xff".
 *
 * JavaScript compares such texts as unsigned bytes, joins them cheaply and takes them as keys of a Map. This file converts
 * them from and to byte arrays, UTF-8 and hex.
 */
import { Buffer } from 'node:buffer'
import { InvariantError } from '../invariant.ts'

/** A buffer for transformations that finish without waiting. Longer inputs get a buffer of their own. */
const scratch = Buffer.allocUnsafeSlow(4096)

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function byteString(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return buffer.toString('latin1')
}

export function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** One array for each length up to `passingMax`, made when it is first needed. */
const passing: (Buffer | undefined)[] = []
const passingMax = 1024

/** The bytes of a byte string in a shared array, which the next call with a text of the same length overwrites. */
export function passingBytes(text: string): Uint8Array {
  const { length } = text
  if (length > passingMax) return Buffer.from(text, 'latin1')
  let bytes = passing[length]
  if (bytes === undefined) {
    bytes = Buffer.allocUnsafeSlow(length)
    passing[length] = bytes
  }
  bytes.write(text, 'latin1')
  return bytes
}

/** Compares texts or byte strings by their units. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Whether both have the same bytes, or both are absent. */
export function sameBytes(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one === other || (one.length === other.length && Buffer.compare(one, other) === 0)
}

/** The UTF-8 bytes of a text as a byte string. A lone surrogate becomes U+FFFD. */
export function utf8String(text: string): string {
  if (text.length * 3 > scratch.length) return Buffer.from(text, 'utf8').toString('latin1')
  return scratch.toString('latin1', 0, scratch.write(text, 'utf8'))
}

/** The text whose UTF-8 bytes these are; `undefined` when they are not UTF-8. */
export function textOfUtf8(bytes: string): string | undefined {
  let at = 0
  while (at < bytes.length && bytes.charCodeAt(at) <= 0x7f) at++
  if (at === bytes.length) return bytes
  try {
    return strictUtf8.decode(bytesOf(bytes))
  } catch {
    return undefined
  }
}

/** Every byte XOR FF. This turns the ascending code of a value into its descending code. */
export function invert(code: string): string {
  const { length } = code
  const target = length <= scratch.length ? scratch : Buffer.allocUnsafe(length)
  for (let i = 0; i < length; i++) target[i] = code.charCodeAt(i) ^ 0xff
  return target.toString('latin1', 0, length)
}

/** Four bytes, big-endian, as a signed number. */
export function int32Of(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  )
}

/** Two hex digits for each byte: `0a ff`. */
export function hexOf(bytes: string | Uint8Array, separator = ' '): string {
  const buffer = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes)
  const digits = buffer.toString('hex')
  // Without a list of pairs, which for a value of 1 MB is a million small texts.
  return separator === '' ? digits : digits.replace(/..(?=.)/g, `$&${separator}`)
}

/** The byte string of hex digits; blanks between bytes are allowed. Throws InvariantError for anything else. */
export function fromHex(hex: string): string {
  const digits = hex.replace(/\s+/g, '')
  if (!/^([0-9a-fA-F]{2})*$/.test(digits)) throw new InvariantError(`not pairs of hex digits: ${hex}`)
  return Buffer.from(digits, 'hex').toString('latin1')
}

/** The end of the range of a prefix: 'ab' gives 'ac', 'a\xff' gives 'b', and FF bytes alone give themselves and FF. */
export function prefixEnd(prefix: string): string {
  for (let i = prefix.length - 1; i >= 0; i--) {
    const byte = prefix.charCodeAt(i)
    if (byte !== 0xff) return prefix.slice(0, i) + String.fromCharCode(byte + 1)
  }
  return `${prefix}\xff`
}
