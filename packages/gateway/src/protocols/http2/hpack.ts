/**
 * Header compression: the decoder with its dynamic table, and an encoder that needs none.
 *
 *   field = 1 index(7)                                        a field of the tables
 *         | 01 name(6) value                                  a new field, kept in the dynamic table
 *         | 0000 name(4) value | 0001 name(4) value           a new field, not kept
 *         | 001 size(5)                                       the dynamic table shrinks or grows
 *   string = huffman flag(1) length(7) bytes
 *
 * Tables: entries 1 to 61 are fixed, those after it are the kept fields, newest first.
 *
 * Y1  The dynamic table holds at most 4096 bytes, counted as name + value + 32 each.      #evict()
 * Y2  Fields of one block together are bounded, however few bytes they came in.           decode()
 *
 * Known: RFC 7541.
 */
import { ConnectionError, errorCode } from './frames.ts'
import { decodeHuffman } from './huffman.ts'

interface Field {
  readonly name: string
  readonly value: string
}

const staticFields: readonly Field[] = [
  ':authority',
  ':method GET',
  ':method POST',
  ':path /',
  ':path /index.html',
  ':scheme http',
  ':scheme https',
  ':status 200',
  ':status 204',
  ':status 206',
  ':status 304',
  ':status 400',
  ':status 404',
  ':status 500',
  'accept-charset',
  'accept-encoding gzip, deflate',
  'accept-language',
  'accept-ranges',
  'accept',
  'access-control-allow-origin',
  'age',
  'allow',
  'authorization',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'cookie',
  'date',
  'etag',
  'expect',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'link',
  'location',
  'max-forwards',
  'proxy-authenticate',
  'proxy-authorization',
  'range',
  'referer',
  'refresh',
  'retry-after',
  'server',
  'set-cookie',
  'strict-transport-security',
  'transfer-encoding',
  'user-agent',
  'vary',
  'via',
  'www-authenticate',
].map((line) => {
  const blank = line.indexOf(' ')
  return blank < 0 ? { name: line, value: '' } : { name: line.slice(0, blank), value: line.slice(blank + 1) }
})

const tableBytesMax = 4096
const fieldOverheadBytes = 32
/** As many entries as the table can hold, rounded up to a power of two. */
const ringSize = 128
const headerListBytesMax = 65_536

/** Node's own slice: one call into the runtime without the dispatch of toString. */
interface Latin1Slice {
  latin1Slice(start: number, end: number): string
}

function broken(why: string): ConnectionError {
  return new ConnectionError(errorCode.compression, `a header block ${why}`)
}

/** Decodes the header blocks of one connection, in their order. */
export class HpackDecoder {
  readonly #ring: Field[] = []
  /** Where the next kept field goes. */
  #next = 0
  #count = 0
  #bytes = 0
  #limit = tableBytesMax
  #block: Buffer = Buffer.alloc(0)
  #at = 0

  /** Hands each field of a block to `take`. */
  decode(block: Buffer, take: (name: string, value: string) => void): void {
    this.#block = block
    this.#at = 0
    let listBytes = 0
    while (this.#at < block.length) {
      const first = block[this.#at] ?? 0
      if ((first & 0xe0) === 0x20) {
        this.#resize(this.#integer(0x1f))
        continue
      }
      const field = first >= 0x80 ? this.#field(this.#integer(0x7f)) : this.#literal(first)
      listBytes += field.name.length + field.value.length + fieldOverheadBytes
      if (listBytes > headerListBytesMax) {
        throw new ConnectionError(
          errorCode.enhanceYourCalm,
          `a header block is larger than ${headerListBytesMax} bytes`,
        )
      }
      take(field.name, field.value)
    }
  }

  #literal(first: number): Field {
    const isKept = first >= 0x40
    const index = this.#integer(isKept ? 0x3f : 0x0f)
    const name = index === 0 ? this.#string() : this.#field(index).name
    const field = { name, value: this.#string() }
    if (isKept) this.#keep(field)
    return field
  }

  #field(index: number): Field {
    const fixed = staticFields[index - 1]
    if (fixed !== undefined) return fixed
    const back = index - staticFields.length
    const kept = back < 1 || back > this.#count ? undefined : this.#ring[(this.#next - back) & (ringSize - 1)]
    if (kept === undefined) throw broken(`names entry ${index}, which the tables do not have`)
    return kept
  }

  #keep(field: Field): void {
    this.#bytes += sizeOf(field)
    this.#ring[this.#next] = field
    this.#next = (this.#next + 1) & (ringSize - 1)
    this.#count++
    this.#evict()
  }

  #resize(bytes: number): void {
    if (bytes > tableBytesMax) throw broken(`asks for a table of ${bytes} bytes, ${tableBytesMax} are allowed`)
    this.#limit = bytes
    this.#evict()
  }

  /** Drops the oldest fields until the rest fits; a field larger than the table empties it (Y1). */
  #evict(): void {
    while (this.#bytes > this.#limit) {
      const oldest = this.#ring[(this.#next - this.#count) & (ringSize - 1)]
      this.#bytes -= oldest === undefined ? this.#bytes : sizeOf(oldest)
      this.#count--
    }
  }

  /** An integer whose first byte gives the bits of `mask`. */
  #integer(mask: number): number {
    const block = this.#block
    let value = (block[this.#at++] ?? 0) & mask
    if (value < mask) return value
    for (let factor = 1; ; factor *= 128) {
      const byte = block[this.#at++]
      if (byte === undefined) throw broken('ends inside an integer')
      value += (byte & 0x7f) * factor
      if (value > 0xff_ffff) throw broken('has an integer out of all measure')
      if (byte < 0x80) return value
    }
  }

  #string(): string {
    const isHuffman = ((this.#block[this.#at] ?? 0) & 0x80) !== 0
    const length = this.#integer(0x7f)
    const start = this.#at
    const end = start + length
    if (end > this.#block.length) throw broken('ends inside a string')
    this.#at = end
    if (isHuffman) return decodeHuffman(this.#block, start, end)
    return (this.#block as Buffer & Latin1Slice).latin1Slice(start, end)
  }
}

function sizeOf({ name, value }: Field): number {
  return name.length + value.length + fieldOverheadBytes
}

/** A header block whose fields no table keeps, so that it can be made once and sent on any connection. */
export function encodeHeaders(fields: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(fields.map(([name, value]) => encodeField(name, value)))
}

function encodeField(name: string, value: string): Buffer {
  const whole = staticFields.findIndex((field) => field.name === name && field.value === value && value !== '')
  if (whole >= 0) return Buffer.of(0x80 | (whole + 1))
  const named = staticFields.findIndex((field) => field.name === name)
  const head = named >= 0 ? encodeInteger(0, 0x0f, named + 1) : Buffer.concat([Buffer.of(0), encodeString(name)])
  return Buffer.concat([head, encodeString(value)])
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([encodeInteger(0, 0x7f, bytes.length), bytes])
}

function encodeInteger(high: number, mask: number, value: number): Buffer {
  if (value < mask) return Buffer.of(high | value)
  const bytes = [high | mask]
  let rest = value - mask
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
