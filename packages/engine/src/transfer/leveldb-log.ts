/**
 * The records of an export's files, in the format of LevelDB's logs (leveldb/log-format.ts).
 *
 * A file that ends between two records looks complete, so the caller must count the records. Some writers fill the last block
 * with zeros; that is accepted, and any block behind it is refused.
 *
 * A changed byte, or a file that ends within a record, is an error with file and offset; a record is given whole or not
 * at all. leveldb-log.test.ts
 *
 * Measured: files written by Google's emulators.
 */
import { appendFile, type FileHandle } from 'node:fs/promises'
import type { RequestContext } from '../context.ts'
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
import { giveWay } from '../slices.ts'
import { workOf } from '../storage/kv.ts'
import { cannot, openForReading } from './files.ts'

/** The size of one write and of one read: whole blocks. */
const chunkBytes = 2 * blockBytes

/** Largest record that is read: an entity of 1 MiB whose arrays repeat long names, or the metadata of some 10,000 folders. */
export const recordBytesMax: number = 32 * 1024 * 1024

/** Appends records to a file, which is open only while a chunk is written. Each call must be awaited before the next one. */
export class LogWriter {
  readonly #path: string
  readonly #chunk: Buffer = Buffer.allocUnsafe(chunkBytes)
  #used = 0
  #written = 0

  constructor(path: string) {
    this.#path = path
  }

  get bytes(): number {
    return this.#written + this.#used
  }

  /** @throws DatastoreError FAILED_PRECONDITION if the file cannot be written, as does {@link flush} */
  async add(record: Uint8Array): Promise<void> {
    let at = 0
    for (let isFirst = true; isFirst || at < record.length; isFirst = false) {
      let left = blockBytes - (this.#used % blockBytes)
      if (left < headBytes) {
        this.#chunk.fill(0, this.#used, this.#used + left)
        this.#used += left
        left = blockBytes
      }
      if (this.#used === chunkBytes) await this.flush()
      const length = Math.min(record.length - at, left - headBytes)
      const isLast = at + length === record.length
      this.#used = writeFragment(this.#chunk, this.#used, { isFirst, isLast }, record.subarray(at, at + length))
      at += length
    }
  }

  /** Writes what is left, and makes the file if nothing was written. */
  async flush(): Promise<void> {
    try {
      await appendFile(this.#path, this.#chunk.subarray(0, this.#used))
    } catch (error) {
      throw cannot('write', this.#path, error)
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
 * The records of a file, in order, in slices.
 *
 * @throws DatastoreError INVALID_ARGUMENT for a damaged file, one above `bytesMax` or with a record above {@link recordBytesMax},
 *   NOT_FOUND if there is none
 */
export async function* readLog(
  context: RequestContext,
  path: string,
  bytesMax?: number,
): AsyncGenerator<LogRecordAt, void, undefined> {
  const file = await openForReading(path, bytesMax)
  try {
    const reader = new LogReader(path)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (let offset = 0; ; ) {
      const filled = await fill(file, chunk, offset)
      for (let block = 0; block < filled; block += blockBytes) {
        const blockEnd = Math.min(block + blockBytes, filled)
        for (const record of reader.recordsOf(chunk.subarray(block, blockEnd), offset + block)) {
          yield record
          await giveWay(context, workOf(1, record.bytes))
        }
      }
      // A file may go on for gigabytes without the end of a record.
      await giveWay(context, workOf(1, chunk))
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

async function fill(file: FileHandle, buffer: Buffer, offset: number): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, offset + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

class LogReader {
  readonly #path: string
  #parts: Buffer[] = []
  #partBytes = 0
  #startedAt: number | undefined
  /** Where the zeros of the last block begin. */
  #zerosAt: number | undefined

  constructor(path: string) {
    this.#path = path
  }

  *recordsOf(block: Buffer, blockOffset: number): Generator<LogRecordAt, void, undefined> {
    if (this.#zerosAt !== undefined)
      throw this.#damaged(this.#zerosAt, 'zeros fill the block, and it is not the last one')
    let at = 0
    while (block.length - at >= headBytes) {
      const offset = blockOffset + at
      const fragment = fragmentAt(block, at)
      const { type, start, end } = fragment
      if (type === 0 && end === start && block.subarray(at).every((byte) => byte === 0)) {
        this.#zerosAt = offset
        return
      }
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
    this.#partBytes += data.length
    if (this.#partBytes > recordBytesMax) {
      throw this.#damaged(this.#startedAt, `a record has more than ${recordBytesMax} bytes`)
    }
    if (!isEnd) return undefined
    const record = { bytes: Buffer.concat(this.#parts), offset: this.#startedAt }
    this.#parts = []
    this.#partBytes = 0
    this.#startedAt = undefined
    return record
  }

  #damaged(offset: number, what: string): Error {
    return invalidArgument(`${this.#path} is damaged at byte ${offset}: ${what}`)
  }
}
