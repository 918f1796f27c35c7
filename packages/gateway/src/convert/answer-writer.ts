/**
 * Writes the messages of answers from back to front. At the head of a nested message its length is known, so that nothing is measured
 * before and nothing moved after.
 *
 *   writeAnswer((w) => {          a message with field 1 = { field 2: 7, field 4: "x" } is written as
 *     const end = w.mark()
 *     w.text(4, 'x')              fields in falling order, so that they are in rising order in the message
 *     w.int64(2, 7n)
 *     w.head(1, end)              tag and length of everything written since the mark
 *   })
 *
 * No field of an answer has a number above 15, so that each tag is one byte. All answers share one writer, so `write` must not wait: a
 * second answer would mix with the first. Five free bytes precede the message, for the prefix of gRPC (call.ts).
 *
 * Known: the public description of the wire format of protocol buffers.
 */
import { invariant, type Key, type PartitionId } from '@sixtables/engine'
import { type Answer, answerHeadBytes } from '../call.ts'

/**
 * Answers share a buffer, each one before the other, and are sent from it without a copy. An unread answer keeps the whole buffer in
 * memory; 24 and 64 KiB were equally fast.
 */
const bufferBytes = 32 * 1024
/** With less space than this the next answer begins in a new buffer. */
const leastBytes = 1024
/** The runtime measures and encodes longer texts. */
const shortTextMax = 40

const varintWire = 0
const bytesWire = 2

export class AnswerWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(bufferBytes)
  /** End of this answer; earlier answers follow it. */
  #end: number = bufferBytes
  /** Start of the bytes written so far. */
  #start: number = bufferBytes
  #partition: PartitionId | undefined
  #partitionBytes: Uint8Array = new Uint8Array(0)

  /** Number of bytes written so far; pass it to {@link head} later. */
  mark(): number {
    return this.#end - this.#start
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#start) return
    const needed = this.mark() + bytes
    this.move(needed <= bufferBytes / 2 ? bufferBytes : needed * 2 + bufferBytes)
  }

  /** Moves the answer to a buffer of so many bytes; a long one before it grows, as touching new memory takes most of its time. */
  move(bytes: number): void {
    const used = this.mark()
    const larger = Buffer.allocUnsafeSlow(bytes)
    this.#buffer.copy(larger, larger.length - used, this.#start, this.#end)
    this.#buffer = larger
    this.#end = larger.length
    this.#start = larger.length - used
  }

  /** An unsigned number below 2^32, without a tag. */
  #varint(value: number): void {
    const buffer = this.#buffer
    if (value < 0x80) {
      buffer[--this.#start] = value
      return
    }
    let bytes = 1
    for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes++
    let at = this.#start - bytes
    this.#start = at
    let rest = value
    while (rest > 0x7f) {
      buffer[at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    buffer[at] = rest
  }

  /** An unsigned 64-bit number in halves, without a tag. */
  #varint64(low: number, high: number): void {
    if (high === 0) {
      this.#varint(low)
      return
    }
    let [restLow, restHigh] = [low, high]
    let bytes = 5
    for (let rest = high >>> 3; rest > 0; rest >>>= 7) bytes++
    let at = this.#start - bytes
    this.#start = at
    for (let i = 1; i < bytes; i++) {
      this.#buffer[at++] = (restLow & 0x7f) | 0x80
      restLow = ((restLow >>> 7) | (restHigh << 25)) >>> 0
      restHigh >>>= 7
    }
    this.#buffer[at] = restLow
  }

  /** An unsigned number below 2^32, an enum or a boolean. Writes default values, too. */
  uint32(field: number, value: number): void {
    this.#reserve(10)
    this.#varint(value)
    this.#buffer[--this.#start] = (field << 3) | varintWire
  }

  int64(field: number, value: bigint): void {
    this.#reserve(15)
    if (value >= 0n && value <= 0x1f_ffff_ffff_ffffn) this.#safeInteger(Number(value))
    else {
      const bits = BigInt.asUintN(64, value)
      this.#varint64(Number(bits & 0xffff_ffffn), Number(bits >> 32n))
    }
    this.#buffer[--this.#start] = (field << 3) | varintWire
  }

  /** An int64 that is exact as a number. */
  safeInt64(field: number, value: number): void {
    if (value < 0) {
      this.int64(field, BigInt(value))
      return
    }
    this.#reserve(15)
    this.#safeInteger(value)
    this.#buffer[--this.#start] = (field << 3) | varintWire
  }

  /** A number from 0 to 2^53 - 1, without a tag. */
  #safeInteger(value: number): void {
    const low = value >>> 0
    this.#varint64(low, (value - low) / 0x1_0000_0000)
  }

  text(field: number, value: string): void {
    const { length } = value
    this.#reserve(length * 3 + 10)
    const end = this.#start
    if (!this.#shortAscii(value)) {
      const bytes = Buffer.byteLength(value)
      this.#start = end - bytes
      this.#buffer.write(value, this.#start, 'utf8')
    }
    this.#varint(end - this.#start)
    this.#buffer[--this.#start] = (field << 3) | bytesWire
  }

  /** Writes a short ASCII text. @returns false, without writing, for any other text */
  #shortAscii(value: string): boolean {
    const { length } = value
    if (length > shortTextMax) return false
    const buffer = this.#buffer
    const start = this.#start - length
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0x7f) return false
      buffer[start + i] = unit
    }
    this.#start = start
    return true
  }

  bytes(field: number, value: Uint8Array): void {
    this.raw(value)
    this.#reserve(10)
    this.#varint(value.length)
    this.#buffer[--this.#start] = (field << 3) | bytesWire
  }

  /** Bytes that are complete fields. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#start -= value.length
    this.#buffer.set(value, this.#start)
  }

  /**
   * The bytes of `value` from `at` on. It copies all bytes, and the next fields overwrite those before `at`: a view of the part would cost
   * more than the copy.
   */
  rawFrom(value: Uint8Array, at: number): void {
    this.#reserve(value.length)
    this.#buffer.set(value, this.#start - value.length)
    this.#start -= value.length - at
  }

  /** Makes everything written since `mark` the content of a message field. */
  head(field: number, mark: number): void {
    this.#reserve(10)
    this.#varint(this.mark() - mark)
    this.#buffer[--this.#start] = (field << 3) | bytesWire
  }

  /** A message field with the fields that `write` writes; {@link head} does the same without a function, where that costs too much. */
  message(field: number, write: () => void): void {
    const mark = this.mark()
    write()
    this.head(field, mark)
  }

  /** A google.protobuf.Timestamp of microseconds since the epoch. */
  timestamp(field: number, micros: number): void {
    this.#reserve(30)
    const mark = this.mark()
    const seconds = Math.floor(micros / 1_000_000)
    const fraction = micros - seconds * 1_000_000
    if (fraction !== 0) this.uint32(2, fraction * 1000)
    if (seconds > 0) {
      this.#safeInteger(seconds)
      this.#buffer[--this.#start] = (1 << 3) | varintWire
    } else if (seconds < 0) this.int64(1, BigInt(seconds))
    this.head(field, mark)
  }

  /** A google.datastore.v1.Key. */
  key(field: number, key: Key): void {
    const mark = this.mark()
    for (let i = key.path.length - 1; i >= 0; i--) {
      const element = key.path[i]
      if (element === undefined) continue
      const elementMark = this.mark()
      if (element.id !== undefined) this.int64(2, element.id)
      else if (element.name !== undefined) this.text(3, element.name)
      if (element.kind !== '') this.text(1, element.kind)
      this.head(2, elementMark)
    }
    if (key.partition === this.#partition) this.raw(this.#partitionBytes)
    else this.#writePartition(key.partition)
    this.head(field, mark)
  }

  /** Field 1 of a key. Most keys of an answer have the same partition. */
  #writePartition(partition: PartitionId): void {
    const mark = this.mark()
    this.partition(1, partition)
    this.#partition = partition
    this.#partitionBytes = Uint8Array.from(this.#buffer.subarray(this.#start, this.#end - mark))
  }

  /** A google.datastore.v1.PartitionId; nothing for one without any name. */
  partition(field: number, { projectId, databaseId, namespaceId }: PartitionId): void {
    const mark = this.mark()
    if (namespaceId !== '') this.text(4, namespaceId)
    if (databaseId !== '') this.text(3, databaseId)
    if (projectId !== '') this.text(2, projectId)
    if (this.mark() > mark) this.head(field, mark)
  }

  take(): Answer {
    this.#reserve(answerHeadBytes)
    this.#start -= answerHeadBytes
    const answer = this.#buffer.subarray(this.#start, this.#end)
    // A large buffer is not reused: every later answer in it would keep all of it in memory.
    if (this.#start < leastBytes || this.#buffer.length > bufferBytes) {
      this.#buffer = Buffer.allocUnsafeSlow(bufferBytes)
      this.#start = bufferBytes
    }
    this.#end = this.#start
    return answer
  }

  clear(): void {
    this.#start = this.#end
  }
}

const shared = new AnswerWriter()

/**
 * The answer with the fields that `write` writes, last field first.
 *
 * @param bytes - about how long the answer will be, if that is known; rather more than less
 */
export function writeAnswer(write: (writer: AnswerWriter) => void, bytes = 0): Answer {
  invariant(shared.mark() === 0, 'an answer is begun while another is being written')
  try {
    if (bytes > bufferBytes) shared.move(bytes)
    write(shared)
    return shared.take()
  } catch (error) {
    shared.clear()
    throw error
  }
}

export function emptyAnswer(): Answer {
  return Buffer.alloc(answerHeadBytes)
}
