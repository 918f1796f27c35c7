/**
 * The records of an export's files, in the format of LevelDB's logs (leveldb/log-format.ts).
 *
 * A file that ends between two records looks complete, so the caller must count the records. Some writers fill the last block
 * with zeros; that is accepted.
 *
 * A changed byte, or a file that ends within a record, is an error with file and offset; a record is given whole or not
 * at all. leveldb-log.test.ts
 *
 * Measured: files written by Google's emulators.
 */
import type { FileHandle } from 'node:fs/promises'
import { invalidArgument } from '../errors.ts'
import {
  blockBytes,
  endsRecord,
  type Fragment,
  fragmentAt,
  headBytes,
  writeFragment,
  wrongWithFragment,
} from '../leveldb/log-format.ts'
import { openForReading } from './files.ts'

/** The size of one write and of one read: whole blocks. */
const chunkBytes = 8 * blockBytes

/** Writes records to an empty file. Each call must be awaited before the next one. */
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
      this.#used = writeFragment(this.#chunk, this.#used, { isFirst, isLast }, record.subarray(at, at + length))
      at += length
    }
  }

  /** Writes the rest; the file stays open. */
  finish(): Promise<void> {
    return this.#flush()
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
  /** Valid until the next record is read. */
  readonly bytes: Buffer
  /** Offset of the record's first fragment in the file. */
  readonly offset: number
}

/**
 * The records of a file, in order.
 *
 * @throws DatastoreError INVALID_ARGUMENT for a damaged file, NOT_FOUND if there is none
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

/** Joins fragments to records, block by block. */
class LogReader {
  readonly #path: string
  /** Fragments of an incomplete record. */
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
      const fragment = fragmentAt(block, at)
      const { type, start, end } = fragment
      if (type === 0 && end === start && block.subarray(at).every((byte) => byte === 0)) return
      const isCut = end > block.length && block.length < blockBytes
      const what = isCut
        ? `the file ends within a fragment of ${end - start} bytes, of which ${block.length - start} are there`
        : wrongWithFragment(block, fragment, {
            blockEnd: block.length,
            isInRecord: this.#startedAt !== undefined,
          })
      if (what !== undefined) throw this.#damaged(offset, what)
      at = end
      const record = this.#take(fragment, block.subarray(start, end), offset)
      if (record !== undefined) yield record
    }
    // A file may end behind a fragment, or behind the filler of a whole block.
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

  #take(fragment: Fragment, data: Buffer, offset: number): LogRecordAt | undefined {
    const isEnd = endsRecord(fragment)
    if (isEnd && this.#startedAt === undefined) return { bytes: data, offset }
    // Copied, since the block's memory is used again.
    this.#parts.push(Buffer.from(data))
    this.#startedAt ??= offset
    if (!isEnd) return undefined
    const record = { bytes: Buffer.concat(this.#parts), offset: this.#startedAt }
    this.#parts = []
    this.#startedAt = undefined
    return record
  }

  #damaged(offset: number, what: string): Error {
    return invalidArgument(`${this.#path} is damaged at byte ${offset}: ${what}`)
  }
}
