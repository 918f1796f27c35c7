/**
 * The newest records in one block of memory: a text and two byte arrays each, such as a call with its request and answer.
 *
 *   │ text │ request │ answer │ text │ request │ answer │ … free …        a record is never split: at the end the next starts at 0
 *
 * The block is outside of V8's heap, so the garbage collector does not copy it: a thousand objects that live for a tenth of a second were
 * copied by every young collection, which took as long as the calls themselves.
 * The oldest records make room for a new one; at most `recordsMax` are kept, each of them whole.
 */
export interface RingRecord {
  readonly text: string
  /** A copy. */
  readonly request: Buffer
  readonly answer: Buffer
}

interface Place {
  readonly start: number
  readonly end: number
  readonly textBytes: number
  readonly requestBytes: number
}

/** Numbers that describe a place, in one array. */
const numbers = 4

const nothing: Uint8Array = new Uint8Array(0)

export class CallRing {
  readonly #bytes: Buffer
  readonly #places: Float64Array
  readonly #recordsMax: number
  #first = 0
  #count = 0
  #next = 0

  constructor(bytesMax: number, recordsMax: number) {
    // The system provides these pages only as they fill; a buffer of the pool would be shared.
    this.#bytes = Buffer.allocUnsafeSlow(bytesMax)
    this.#places = new Float64Array(recordsMax * numbers)
    this.#recordsMax = recordsMax
  }

  get count(): number {
    return this.#count
  }

  /** @returns false for a record that is larger than the block */
  add(text: string, request: Uint8Array = nothing, answer: Uint8Array = nothing): boolean {
    const textBytes = Buffer.byteLength(text)
    const size = textBytes + request.length + answer.length
    if (size > this.#bytes.length) return false
    if (this.#count === this.#recordsMax) this.#dropOldest()
    const start = this.#roomFor(size)
    this.#bytes.write(text, start, 'utf8')
    this.#bytes.set(request, start + textBytes)
    this.#bytes.set(answer, start + textBytes + request.length)
    this.#next = start + size
    const at = ((this.#first + this.#count) % this.#recordsMax) * numbers
    this.#places[at] = start
    this.#places[at + 1] = this.#next
    this.#places[at + 2] = textBytes
    this.#places[at + 3] = request.length
    this.#count++
    return true
  }

  /** @param index - 0 is the oldest */
  textAt(index: number): string {
    const { start, textBytes } = this.#placeAt(index)
    return this.#bytes.toString('utf8', start, start + textBytes)
  }

  recordAt(index: number): RingRecord {
    const { start, end, textBytes, requestBytes } = this.#placeAt(index)
    const requestAt = start + textBytes
    const answerAt = requestAt + requestBytes
    return {
      text: this.textAt(index),
      request: Buffer.from(this.#bytes.subarray(requestAt, answerAt)),
      answer: Buffer.from(this.#bytes.subarray(answerAt, end)),
    }
  }

  clear(): void {
    this.#count = 0
    this.#next = 0
  }

  /** Finds a place of this size, and drops the records in it. */
  #roomFor(size: number): number {
    const start = this.#next + size <= this.#bytes.length ? this.#next : 0
    // Records from here to the end of the block are older than those at its start.
    while (start < this.#next && this.#count > 0 && this.#placeAt(0).start >= this.#next) this.#dropOldest()
    while (this.#count > 0 && this.#overlaps(start, start + size)) this.#dropOldest()
    return start
  }

  #overlaps(from: number, to: number): boolean {
    const { start, end } = this.#placeAt(0)
    return start < to && end > from
  }

  #dropOldest(): void {
    this.#first = (this.#first + 1) % this.#recordsMax
    this.#count--
  }

  #placeAt(index: number): Place {
    const at = ((this.#first + index) % this.#recordsMax) * numbers
    const place = this.#places
    return {
      start: place[at] as number,
      end: place[at + 1] as number,
      textBytes: place[at + 2] as number,
      requestBytes: place[at + 3] as number,
    }
  }
}
