/**
 * LevelDB's log files: a sequence of records of any length, cut into blocks.
 *
 *   file      = block of 32 KiB*                      the last one may be shorter
 *   block     = fragment* filler                      filler: zeros, where less than a head (7 bytes) is left
 *   fragment  = checksum 4 | length 2 | type 1 | data little-endian; masked CRC-32C over type and data
 *   type      = 1 a whole record, 2 its first part, 3 a middle one, 4 its last
 *
 * G1  What is written is read back, record by record, whatever the lengths.        leveldb-log.test.ts
 * G2  A changed byte, or a file that ends within a record, is an error that names file and offset; a record is given
 *     whole or not at all.                                                         leveldb-log.test.ts
 *
 * A file that ends between two records cannot be told from a complete one: who needs to know counts the records.
 * Some writers fill the last block with zeros to its end; that is accepted.
 *
 * Known: LevelDB's public description of the format. Measured: files written by Google's emulators.
 */
import type { FileHandle } from 'node:fs/promises'
import { crc32c, maskCrc } from '../encoding/crc32c.ts'
import { invalidArgument } from '../errors.ts'
import { openForReading } from './files.ts'

export const blockBytes = 32_768
const headBytes = 7
const whole = 1
const first = 2
const middle = 3
const last = 4

/** How much is gathered before it goes to the file, and how much is read at once: whole blocks. */
const chunkBytes = 8 * blockBytes

/** Writes records to an empty file. Each call is awaited before the next one. */
export class LogWriter {
  readonly #file: FileHandle
  #chunk: Buffer = Buffer.allocUnsafe(chunkBytes)
  #used = 0
  #written = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  /** Bytes of the file so far. */
  get bytes(): number {
    return this.#written + this.#used
  }

  async add(record: Uint8Array): Promise<void> {
    let at = 0
    for (let isFirst = true; isFirst || at < record.length; isFirst = false) {
      let left = blockBytes - (this.#used % blockBytes)
      if (left < headBytes) {
        this.#chunk.fill(0, this.#used, this.#used + left)
        this.#used += left
        left = blockBytes
      }
      if (this.#used === chunkBytes) await this.#flush()
      const length = Math.min(record.length - at, left - headBytes)
      const isLast = at + length === record.length
      this.#fragment(isFirst ? (isLast ? whole : first) : isLast ? last : middle, record.subarray(at, at + length))
      at += length
    }
  }

  /** Writes what is left; the file stays open. */
  finish(): Promise<void> {
    return this.#flush()
  }

  #fragment(type: number, data: Uint8Array): void {
    const chunk = this.#chunk
    const start = this.#used
    chunk.writeUInt16LE(data.length, start + 4)
    chunk[start + 6] = type
    chunk.set(data, start + headBytes)
    this.#used = start + headBytes + data.length
    chunk.writeUInt32LE(maskCrc(crc32c(chunk, start + 6, this.#used)), start)
  }

  async #flush(): Promise<void> {
    let at = 0
    while (at < this.#used) {
      const { bytesWritten } = await this.#file.write(this.#chunk, at, this.#used - at)
      at += bytesWritten
    }
    this.#written += this.#used
    this.#used = 0
  }
}

export interface LogRecordAt {
  /** Valid until the next record is asked for. */
  readonly bytes: Buffer
  /** Offset of the record's first fragment in the file. */
  readonly offset: number
}

/**
 * The records of a file, in order.
 *
 * @throws DatastoreError INVALID_ARGUMENT for a damaged file (G2), NOT_FOUND when there is none
 */
export async function* readLog(path: string): AsyncGenerator<LogRecordAt, void, undefined> {
  const file = await openForReading(path)
  try {
    const reader = new LogReader(path)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (let offset = 0; ; ) {
      const filled = await fill(file, chunk, offset)
      for (let block = 0; block < filled; block += blockBytes) {
        const blockEnd = Math.min(block + blockBytes, filled)
        for (const record of reader.recordsOf(chunk.subarray(block, blockEnd), offset + block)) yield record
      }
      offset += filled
      if (filled < chunkBytes) {
        reader.end(offset)
        return
      }
    }
  } finally {
    await file.close()
  }
}

/** Reads until the buffer is full or the file ends. */
async function fill(file: FileHandle, buffer: Buffer, offset: number): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

/** Puts fragments together, block by block. */
class LogReader {
  readonly #path: string
  /** Fragments of a record whose last one has not come yet. */
  #parts: Buffer[] = []
  #startedAt: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** The records that end in a block. */
  *recordsOf(block: Buffer, blockOffset: number): Generator<LogRecordAt, void, undefined> {
    let at = 0
    while (block.length - at >= headBytes) {
      const offset = blockOffset + at
      const length = block.readUInt16LE(at + 4)
      const type = block[at + 6] as number
      if (type === 0 && length === 0 && block.subarray(at).every((byte) => byte === 0)) return
      const start = at + headBytes
      const end = start + length
      if (end > block.length) {
        const isCut = block.length < blockBytes
        throw this.#damaged(
          offset,
          isCut
            ? `the file ends within a fragment of ${length} bytes, of which ${block.length - start} are there`
            : `a fragment of ${length} bytes reaches beyond its block`,
        )
      }
      if (block.readUInt32LE(at) !== maskCrc(crc32c(block, at + 6, end))) {
        throw this.#damaged(offset, `the checksum of a fragment of ${length} bytes is wrong`)
      }
      at = end
      const record = this.#take(type, block.subarray(start, end), offset)
      if (record !== undefined) yield record
    }
    // A file ends behind a fragment, or behind the filler of a whole block.
    if (block.length < blockBytes && at < block.length) {
      throw this.#damaged(blockOffset + at, 'the file ends within the head of a fragment')
    }
  }

  /** Refuses a file that ends within a record. */
  end(offset: number): void {
    if (this.#startedAt !== undefined) {
      throw this.#damaged(offset, `the file ends within the record that begins at byte ${this.#startedAt}`)
    }
  }

  #take(type: number, data: Buffer, offset: number): LogRecordAt | undefined {
    const isStart = type === whole || type === first
    if (type < whole || type > last) throw this.#damaged(offset, `a fragment has the unknown type ${type}`)
    if (isStart && this.#startedAt !== undefined) {
      throw this.#damaged(offset, `a record begins before the one of byte ${this.#startedAt} has ended`)
    }
    if (!isStart && this.#startedAt === undefined) {
      throw this.#damaged(offset, 'a part of a record comes without its beginning')
    }
    if (type === whole) return { bytes: data, offset }
    // The block's memory is used again for later ones.
    this.#parts.push(Buffer.from(data))
    this.#startedAt ??= offset
    if (type !== last) return undefined
    const record = { bytes: Buffer.concat(this.#parts), offset: this.#startedAt }
    this.#parts = []
    this.#startedAt = undefined
    return record
  }

  #damaged(offset: number, what: string): Error {
    return invalidArgument(`${this.#path} is damaged at byte ${offset}: ${what}`)
  }
}
