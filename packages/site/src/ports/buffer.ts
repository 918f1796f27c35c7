/**
 * The part of Node's `Buffer` that the engine in memory and the gateway use, over Uint8Array, for a browser. Any other encoding, or a method that
 * is not here, is an error of the build or the call: nothing is guessed.
 *
 *   Buffer.from('é') ─▶ c3 a9      .toString('latin1') ─▶ 'Ã©'      isUtf8(bytes)
 *
 * B1  Each function gives what Node's gives.     test/ports.test.ts
 */
type Encoding = 'utf8' | 'latin1' | 'hex' | 'base64'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Characters that one call of String.fromCharCode makes. */
const charsAtOnce = 4096

class PortedBuffer extends Uint8Array {
  static override from(value: unknown, at?: unknown, length?: unknown): PortedBuffer {
    if (typeof value === 'string') return viewOf(encoded(value, at as Encoding | undefined))
    if (value instanceof ArrayBuffer)
      return new PortedBuffer(value, at as number | undefined, length as number | undefined)
    return new PortedBuffer(value as ArrayLike<number>)
  }

  static alloc(size: number): PortedBuffer {
    return new PortedBuffer(size)
  }

  static readonly allocUnsafe = PortedBuffer.alloc
  static readonly allocUnsafeSlow = PortedBuffer.alloc

  static isBuffer(value: unknown): boolean {
    return value instanceof PortedBuffer
  }

  static byteLength(value: string | Uint8Array, encoding: Encoding = 'utf8'): number {
    if (typeof value !== 'string') return value.byteLength
    if (encoding === 'latin1') return value.length
    let bytes = value.length
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit < 0x80) continue
      // A pair of surrogates is four bytes, two of which are its two units.
      const isPair =
        unit >= 0xd800 && unit < 0xdc00 && value.charCodeAt(i + 1) >= 0xdc00 && value.charCodeAt(i + 1) < 0xe000
      if (isPair) i++
      bytes += unit < 0x800 ? 1 : 2
    }
    return bytes
  }

  static compare(one: Uint8Array, other: Uint8Array): number {
    const shared = Math.min(one.length, other.length)
    for (let i = 0; i < shared; i++) {
      const difference = (one[i] as number) - (other[i] as number)
      if (difference !== 0) return Math.sign(difference)
    }
    return Math.sign(one.length - other.length)
  }

  static concat(list: readonly Uint8Array[], length?: number): PortedBuffer {
    const joined = new PortedBuffer(length ?? list.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const bytes of list) {
      joined.set(bytes.subarray(0, joined.length - at), at)
      at += bytes.length
      if (at >= joined.length) break
    }
    return joined
  }

  override toString(encoding: Encoding = 'utf8', start = 0, end: number = this.length): string {
    if (encoding === 'utf8') return decoder.decode(this.subarray(start, end))
    if (encoding === 'latin1') return latin1Of(this.subarray(start, end))
    if (encoding === 'base64') return btoa(latin1Of(this.subarray(start, end)))
    if (encoding !== 'hex') throw new TypeError(`the encoding ${encoding} is not here`)
    let digits = ''
    for (let i = start; i < end; i++) digits += (this[i] as number).toString(16).padStart(2, '0')
    return digits
  }

  write(text: string, at?: number | Encoding, encoding?: Encoding): number {
    const offset = typeof at === 'number' ? at : 0
    const form = typeof at === 'string' ? at : (encoding ?? 'utf8')
    if (form === 'utf8') return encoder.encodeInto(text, this.subarray(offset)).written
    if (form !== 'latin1') throw new TypeError(`the encoding ${form} is not here`)
    const length = Math.min(text.length, this.length - offset)
    for (let i = 0; i < length; i++) this[offset + i] = text.charCodeAt(i)
    return length
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end: number = this.length): number {
    const bytes = this.subarray(start, Math.min(end, start + target.length - targetStart))
    target.set(bytes, targetStart)
    return bytes.length
  }

  equals(other: Uint8Array): boolean {
    return PortedBuffer.compare(this, other) === 0
  }

  readUInt32BE(at = 0): number {
    return view(this).getUint32(at)
  }

  readInt32BE(at = 0): number {
    return view(this).getInt32(at)
  }

  readDoubleLE(at = 0): number {
    return view(this).getFloat64(at, true)
  }

  writeUInt32BE(value: number, at = 0): number {
    view(this).setUint32(at, value)
    return at + 4
  }

  writeUInt32LE(value: number, at = 0): number {
    view(this).setUint32(at, value, true)
    return at + 4
  }

  writeDoubleLE(value: number, at = 0): number {
    view(this).setFloat64(at, value, true)
    return at + 8
  }
}

function view({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

/** The same bytes. */
function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): PortedBuffer {
  return new PortedBuffer(buffer as ArrayBuffer, byteOffset, byteLength)
}

function latin1Of(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += charsAtOnce) {
    text += String.fromCharCode(...bytes.subarray(at, at + charsAtOnce))
  }
  return text
}

function encoded(text: string, encoding: Encoding = 'utf8'): Uint8Array {
  if (encoding === 'utf8') return encoder.encode(text)
  if (encoding === 'latin1') return Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
  if (encoding === 'hex') {
    const whole = /^(?:[0-9a-f]{2})*/i.exec(text)?.[0] ?? ''
    return Uint8Array.from({ length: whole.length / 2 }, (_, i) => Number.parseInt(whole.slice(i * 2, i * 2 + 2), 16))
  }
  if (encoding !== 'base64') throw new TypeError(`the encoding ${encoding} is not here`)
  // Node reads both alphabets, up to the padding, and ignores other characters.
  const plain = text
    .replace(/=[\s\S]*$/, '')
    .replace(/-/g, '+')
    .replace(/_/g, '/')
    .replace(/[^A-Za-z0-9+/]/g, '')
  return encoded(atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain), 'latin1')
}

export function isUtf8(bytes: Uint8Array): boolean {
  if (bytes.every((byte) => byte < 0x80)) return true
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}

export { PortedBuffer as Buffer }
