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
  fragmentAt,
  headBytes,
  type LogRecordAt,
  LogRecords,
  writeFragment,
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
  const damaged = (at: number, what: string): Error => invalidArgument(`${path} is damaged at byte ${at}: ${what}`)
  const checkSize = (bytes: number, at: number): void => {
    if (bytes > recordBytesMax) throw damaged(at, `a record has more than ${recordBytesMax} bytes`)
  }
  try {
    const records = new LogRecords()
    const chunk = Buffer.allocUnsafe(chunkBytes)
    let offset = 0
    /** Where the zeros of the last block begin. */
    let zerosAt: number | undefined
    for (let filled = chunkBytes; filled === chunkBytes; offset += filled) {
      filled = await fill(file, chunk, offset)
      for (let from = 0; from < filled; from += blockBytes) {
        if (zerosAt !== undefined) throw damaged(zerosAt, 'zeros fill the block, and it is not the last one')
        const block = chunk.subarray(from, Math.min(from + blockBytes, filled))
        for (const record of records.in(block, offset + from)) {
          checkSize(record.bytes.length, record.offset)
          yield record
          await giveWay(context, workOf(1, record.bytes))
        }
        const { startedAt, at } = records
        if (startedAt !== undefined) checkSize(records.bytes, startedAt)
        const rest = block.subarray(at)
        const what = faultOf(rest, records.fault, block.length < blockBytes)
        if (what === 'zeros') zerosAt = offset + from + at
        else if (what !== undefined) throw damaged(offset + from + at, what)
      }
      // A file may go on for gigabytes without the end of a record.
      await giveWay(context, workOf(1, chunk))
    }
    const { startedAt } = records
    if (startedAt === undefined) return
    throw damaged(offset, `the file ends within the record that begins at byte ${startedAt}`)
  } finally {
    await file.close()
  }
}

/** @param rest - of a block, behind its last whole fragment */
function faultOf(rest: Buffer, fault: string | undefined, isLast: boolean): string | undefined {
  // A file may end behind a fragment, or behind the filler of a whole block.
  if (fault === undefined) return isLast && rest.length > 0 ? 'the file ends within the head of a fragment' : undefined
  if (rest.every((byte) => byte === 0)) return 'zeros'
  const { start, end } = fragmentAt(rest, 0)
  if (!isLast || end <= rest.length) return fault
  return `the file ends within a fragment of ${end - start} bytes, of which ${rest.length - start} are there`
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
