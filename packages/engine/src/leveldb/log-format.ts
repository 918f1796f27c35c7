/**
 * LevelDB's log files, the format of its own log, its manifest and managed exports: a sequence of records of any length, cut
 * into fragments that fit in blocks.
 *
 *   file      = block of 32 KiB*                      the last one may be shorter
 *   block     = fragment* filler                      filler: zeros, if less than a head (7 bytes) is left
 *   fragment  = checksum 4 | length 2 | type 1 | data little-endian; masked CRC-32C over type and data
 *   type      = 1 a whole record, 2 its first part, 3 a middle one, 4 its last
 *
 * The callers of {@link LogRecords} decide how a file may end: storage/level-log-check.ts, transfer/leveldb-log.ts.
 *
 * Known: LevelDB's public description of the format.
 */
import { crc32c, maskCrc } from '../encoding/crc32c.ts'

export const blockBytes = 32_768
export const headBytes = 7

const whole = 1
const first = 2
const middle = 3
const last = 4

/** The head of a fragment, unchecked. */
export interface Fragment {
  readonly type: number
  readonly at: number
  /** The offset of its data. */
  readonly start: number
  readonly end: number
}

/** @param at - at least {@link headBytes} before the end of the block */
export function fragmentAt(bytes: Buffer, at: number): Fragment {
  const start = at + headBytes
  return { type: bytes[at + 6] as number, at, start, end: start + bytes.readUInt16LE(at + 4) }
}

export function endsRecord({ type }: Fragment): boolean {
  return type === whole || type === last
}

/** The fault of a fragment, in words. @param isInRecord - whether the fragment before it does not end a record */
function wrongWithFragment(block: Buffer, { type, at, start, end }: Fragment, isInRecord: boolean): string | undefined {
  const length = end - start
  if (end > block.length) return `a fragment of ${length} bytes reaches beyond its block`
  if (type < whole || type > last) return `a fragment has the unknown type ${type}`
  if (block.readUInt32LE(at) !== maskCrc(crc32c(block, at + 6, end))) {
    return `the checksum of a fragment of ${length} bytes is wrong`
  }
  if ((type === whole || type === first) !== isInRecord) return undefined
  return isInRecord
    ? 'a record begins before the one before it has ended'
    : 'a part of a record comes without its beginning'
}

export interface LogRecordAt {
  /** Valid as long as the bytes of its last block. */
  readonly bytes: Buffer
  /** Offset of the record's first fragment in the file. */
  readonly offset: number
}

/** Reads the records of a file, block by block. */
export class LogRecords {
  /** The offset of a record that has begun and not ended, and its bytes until now. */
  startedAt: number | undefined
  bytes = 0
  #parts: Buffer[] = []
  /** Where reading ended in the latest block: behind its last fragment, or at one that is not whole and right. */
  at = 0
  /** The fault of that fragment, in words. */
  fault: string | undefined;

  /** The records that end in a block; the caller then looks at {@link fault}. */
  *in(block: Buffer, blockOffset: number): Generator<LogRecordAt, void, undefined> {
    for (this.at = 0; block.length - this.at >= headBytes; ) {
      const fragment = fragmentAt(block, this.at)
      const isInRecord = this.startedAt !== undefined
      this.fault = wrongWithFragment(block, fragment, isInRecord)
      if (this.fault !== undefined) return
      const offset = this.startedAt ?? blockOffset + this.at
      const data = block.subarray(fragment.start, fragment.end)
      this.at = fragment.end
      if (!endsRecord(fragment)) {
        this.startedAt = offset
        this.bytes += data.length
        // Copied, since the memory of the block may be used again.
        this.#parts.push(Buffer.from(data))
        continue
      }
      const bytes = isInRecord ? Buffer.concat([...this.#parts, data]) : data
      this.startedAt = undefined
      this.bytes = 0
      this.#parts = []
      yield { bytes, offset }
    }
  }
}

/** Whether the checksum of the fragment at `at` is right for data that end at any byte up to `to`. */
export function isFragmentOfOtherLength(bytes: Buffer, at: number, to: number): boolean {
  const stored = bytes.readUInt32LE(at)
  let checksum = crc32c(bytes, at + 6, at + headBytes)
  for (let end = at + headBytes; ; end++) {
    if (maskCrc(checksum) === stored) return true
    if (end === to) return false
    checksum = crc32c(bytes, end, end + 1, checksum)
  }
}

/** @returns the offset of the next fragment */
export function writeFragment(
  bytes: Buffer,
  at: number,
  { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean },
  data: Uint8Array,
): number {
  const end = at + headBytes + data.length
  bytes.writeUInt16LE(data.length, at + 4)
  bytes[at + 6] = isFirst ? (isLast ? whole : first) : isLast ? last : middle
  bytes.set(data, at + headBytes)
  bytes.writeUInt32LE(maskCrc(crc32c(bytes, at + 6, end)), at)
  return end
}
