/**
 * Whether LevelDB's log files are whole. LevelDB itself leaves out what it cannot read of them and goes on with what comes
 * after, without a word (measured: classic-level 3.0.0): acknowledged commits would be gone, and later ones there.
 *
 * leveldb/log-format.ts has the form of the files. The log of rows has a write in each record, whose head says how many row
 * writes there were before it:
 *
 *   record    = sequence 8 | number 4 | row write*    little-endian; the next record's sequence is that of this one + number
 *   row write = 0 key | 1 key value                   each with its length before it, a varint
 *
 * Fragments of a record that are missing, doubled or in another order show in its row writes alone: each has its own checksum.
 *
 * After what was acknowledged (acknowledged.ts) a file may end anywhere: that is what a kill, or a power cut, leaves of a write
 * that was not acknowledged. After a power cut its end may also be zeros, from the start of a sector on. Whatever else cannot
 * be read is damage.
 *
 * D1  A log with damage is not opened, and stays as it is.                                  contract/damaged-folder.test.ts
 * D2  Cutting a log keeps the records before the damage and none after it; all bytes are kept beside it.         same
 * D3  A log that lacks acknowledged writes, or writes or parts of one in the middle, has damage.         contract/damaged-store.test.ts
 *
 * Known: LevelDB's public description of the format.
 */
import { copyFile, readdir, readFile, rename, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { levelFile, logNumberOf } from '../leveldb/file-names.ts'
import {
  blockBytes,
  endsRecord,
  fragmentAt,
  headBytes,
  isFragmentOfOtherLength,
  wrongWithFragment,
} from '../leveldb/log-format.ts'
import { varintAt } from '../leveldb/varint.ts'
import type { Acknowledged } from './acknowledged.ts'

export interface LogDamage {
  readonly file: string
  /** Where the first record begins that cannot be read; records before it are whole. */
  readonly offset: number
  readonly bytes: number
  readonly what: string
}

const sectorBytes = 512
const writeHeadBytes = 12
/** Types of row writes: a deletion has a key, an insertion also a value. */
const deletion = 0
const insertion = 1

export interface LogExpectation {
  /** The first log file that counts: what is in those before it is in tables. */
  readonly from: number
  /** How many row writes there were, at most, before the first record of that file. */
  readonly sequence: number
  readonly acknowledged: Acknowledged | undefined
}

/** The first damage in the log files of a folder; `undefined` = none, `missing` a file that is not there. */
export async function damageOfLogs(
  rows: string,
  { from, sequence, acknowledged }: LogExpectation,
): Promise<LogDamage | { readonly missing: string } | undefined> {
  const files = (await logsOf(rows)).filter((file) => (logNumberOf(file) ?? 0) >= from)
  const needed = Math.max(from, acknowledged?.log ?? 0)
  for (const log of [from, needed]) {
    if (log > 0 && !files.includes(levelFile(log, 'log'))) return { missing: levelFile(log, 'log') }
  }
  let next: number | undefined
  for (const file of files) {
    const bytes = await readFile(join(rows, file))
    const isAcknowledgedTo = logNumberOf(file) === acknowledged?.log ? (acknowledged?.bytes ?? 0) : 0
    const damage = damageOfLog(bytes, {
      acknowledgedBytes: isAcknowledgedTo,
      onRecord: (record) => {
        const write = record.length === 1 ? (record[0] as Buffer) : Buffer.concat(record)
        if (write.length < writeHeadBytes) return 'a record is too short'
        const first = Number(write.readBigUInt64LE(0))
        if (next === undefined ? first > sequence + 1 : first !== next) return 'writes before it are missing'
        const number = write.readUInt32LE(8)
        next = first + number
        return rowWritesIn(write) === number ? undefined : 'a record does not hold the row writes that it says'
      },
    })
    if (damage !== undefined) return { file, ...damage }
  }
  return undefined
}

/** @returns `undefined` when they are not understood to the end of the record */
function rowWritesIn(record: Buffer): number | undefined {
  let number = 0
  try {
    for (let at = writeHeadBytes; at < record.length; number++) {
      const texts = record[at++]
      if (texts !== deletion && texts !== insertion) return undefined
      for (let text = deletion; text <= texts; text++) {
        const { value, next } = varintAt(record, at)
        at = next + value
      }
      if (at > record.length) return undefined
    }
  } catch {
    return undefined
  }
  return number
}

/**
 * Cuts a log before its damage, and takes later logs away: the rest is a prefix of the writes (D2). The
 * files as they were are kept under the same name with `.damaged` behind it, which LevelDB does not look at.
 */
export async function cutLogs(rows: string, { file, offset }: LogDamage): Promise<void> {
  for (const log of await logsOf(rows)) {
    const path = join(rows, log)
    if ((logNumberOf(log) ?? 0) > (logNumberOf(file) ?? 0)) await rename(path, `${path}.damaged`)
    else if (log === file) {
      await copyFile(path, `${path}.damaged`)
      await truncate(path, offset)
    }
  }
}

/** Whether nothing was ever written to them. */
export async function areLogsEmpty(rows: string): Promise<boolean> {
  const files = await Promise.all((await logsOf(rows)).map((file) => stat(join(rows, file))))
  return files.every(({ size }) => size === 0)
}

/** In the order in which they were written. */
async function logsOf(rows: string): Promise<string[]> {
  const names = (await readdir(rows)).filter((name) => logNumberOf(name) !== undefined)
  return names.sort((a, b) => (logNumberOf(a) ?? 0) - (logNumberOf(b) ?? 0))
}

export interface LogReader {
  /** So much of the file was acknowledged: it cannot end, or become zeros, before. Default 0. */
  readonly acknowledgedBytes?: number
  /** Handed the parts of each record, in order. Returns what is wrong with the record, if something is. */
  onRecord?(parts: readonly Buffer[]): string | undefined
}

/** Where the bytes of a log stop making sense before their end. */
export function damageOfLog(
  bytes: Buffer,
  { acknowledgedBytes = 0, onRecord }: LogReader = {},
): Omit<LogDamage, 'file'> | undefined {
  let recordAt: number | undefined
  let parts: Buffer[] = []
  const damaged = (offset: number, what: string): Omit<LogDamage, 'file'> => ({ offset, bytes: bytes.length, what })
  /** The log ends with the record before this byte. */
  const endAt = (offset: number): Omit<LogDamage, 'file'> | undefined =>
    offset < acknowledgedBytes
      ? damaged(offset, `it ends before what was acknowledged, which is ${acknowledgedBytes} bytes`)
      : undefined
  let at = 0
  for (let block = 0; block < bytes.length; block += blockBytes) {
    const blockEnd = Math.min(block + blockBytes, bytes.length)
    for (at = block; blockEnd - at >= headBytes; ) {
      const fragment = fragmentAt(bytes, at)
      const { start, end } = fragment
      const isLastBlock = blockEnd - block < blockBytes
      const what =
        end > blockEnd && isLastBlock
          ? wrongLength(bytes, at, blockEnd)
          : wrongWithFragment(bytes, fragment, { blockEnd, isInRecord: recordAt !== undefined })
      if (what === undefined && end > blockEnd) return endAt(recordAt ?? at)
      if (what !== undefined) {
        if (isZeroed(bytes, at, Math.min(end, blockEnd))) return endAt(recordAt ?? at)
        return damaged(recordAt ?? at, what)
      }
      const isEnd = endsRecord(fragment)
      if (onRecord !== undefined) {
        parts.push(bytes.subarray(start, end))
        if (isEnd) {
          const wrong = onRecord(parts)
          if (wrong !== undefined) return damaged(recordAt ?? at, wrong)
          parts = []
        }
      }
      recordAt = isEnd ? undefined : (recordAt ?? at)
      at = end
    }
  }
  return endAt(recordAt ?? at)
}

/** A fragment that the file ends in is cut off, unless its checksum is right for less than its length says. */
function wrongLength(bytes: Buffer, at: number, blockEnd: number): string | undefined {
  return isFragmentOfOtherLength(bytes, at, blockEnd) ? 'the length of a fragment is wrong' : undefined
}

/** Whether the file holds nothing but zeros from the fragment at [at, end) on, or from a sector that begins in it. */
function isZeroed(bytes: Buffer, at: number, end: number): boolean {
  let zeros = bytes.length
  while (zeros > at && bytes[zeros - 1] === 0) zeros--
  return zeros === at || Math.ceil(zeros / sectorBytes) * sectorBytes < end
}
