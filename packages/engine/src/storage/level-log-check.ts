/**
 * Checks LevelDB's log files. LevelDB itself skips what it cannot read and continues behind it, without a message (measured:
 * classic-level 3.0.0): acknowledged commits would be missing while later ones are there.
 *
 *   record    = sequence 8 | number 4 | row write*    little-endian; the next record's sequence is this one's + number
 *   row write = 0 key | 1 key value                   each with its length before it, a varint
 *
 * A missing, repeated or swapped fragment has a right checksum too; the numbers find it: behind a record with sequence 10 and 3 row
 * writes comes one with sequence 13. Behind the acknowledged length (acknowledged.ts) a log may end anywhere, after a power cut in
 * zeros from the start of a sector on.
 *
 * D1  A damaged log is not opened, and stays as it is. If it is cut on request, the records before the damage remain and none
 *     after it; all bytes are kept beside it.   contract/damaged-folder.test.ts
 *
 * Known: LevelDB's public description of the format (leveldb/log-format.ts).
 */
import { copyFile, readdir, readFile, rename, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { levelFile, logNumberOf } from '../leveldb/file-names.ts'
import { blockBytes, fragmentAt, isFragmentOfOtherLength, LogRecords } from '../leveldb/log-format.ts'
import { varintAt } from '../leveldb/varint.ts'
import type { Acknowledged } from './acknowledged.ts'

export interface LogDamage {
  readonly file: string
  /** The offset of the first unreadable record; records before it are whole. */
  readonly offset: number
  readonly bytes: number
  readonly what: string
}

export const writesMissing = 'writes before it are missing'

const sectorBytes = 512
const writeHeadBytes = 12
const deletion = 0
const insertion = 1

/** The first damage in the log files of a folder; `undefined` = none, `missing` a file that is not there. */
export async function damageOfLogs(
  rows: string,
  { log: from, lastSequence }: { readonly log: number; readonly lastSequence: number },
  acknowledged: Acknowledged | undefined,
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
    const damage = damageOfLog(
      bytes,
      (write) => {
        if (write.length < writeHeadBytes) return 'a record is too short'
        const first = Number(write.readBigUInt64LE(0))
        if (next === undefined ? first > lastSequence + 1 : first !== next) return writesMissing
        const number = write.readUInt32LE(8)
        next = first + number
        return rowWritesIn(write) === number ? undefined : 'a record does not hold the row writes that it says'
      },
      isAcknowledgedTo,
    )
    if (damage !== undefined) return { file, ...damage }
  }
  return undefined
}

/** @returns `undefined` if the record cannot be parsed to its end */
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

/** Cuts a log before its damage and removes later ones: a prefix of the writes stays. `.damaged` files keep all bytes. */
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

export async function areLogsEmpty(rows: string): Promise<boolean> {
  const files = await Promise.all((await logsOf(rows)).map((file) => stat(join(rows, file))))
  return files.every(({ size }) => size === 0)
}

/** In the order in which they were written. */
async function logsOf(rows: string): Promise<string[]> {
  const names = (await readdir(rows)).filter((name) => logNumberOf(name) !== undefined)
  return names.sort((a, b) => (logNumberOf(a) ?? 0) - (logNumberOf(b) ?? 0))
}

/**
 * The place where the bytes of a log become unreadable before their end.
 *
 * @param onRecord - gets each record, in order; returns the fault of the record, if it has one
 * @param acknowledgedBytes - this much of the file was acknowledged: it cannot end, or become zeros, before
 */
export function damageOfLog(
  bytes: Buffer,
  onRecord: (record: Buffer) => string | undefined,
  acknowledgedBytes = 0,
): Omit<LogDamage, 'file'> | undefined {
  const records = new LogRecords()
  const damaged = (offset: number, what: string): Omit<LogDamage, 'file'> => ({ offset, bytes: bytes.length, what })
  /** The log ends with the record before this byte. */
  const endAt = (offset: number): Omit<LogDamage, 'file'> | undefined =>
    offset < acknowledgedBytes
      ? damaged(offset, `it ends before what was acknowledged, which is ${acknowledgedBytes} bytes`)
      : undefined
  let at = 0
  for (let block = 0; block < bytes.length; block += blockBytes) {
    const blockEnd = Math.min(block + blockBytes, bytes.length)
    for (const record of records.in(bytes.subarray(block, blockEnd), block)) {
      const wrong = onRecord(record.bytes)
      if (wrong !== undefined) return damaged(record.offset, wrong)
    }
    at = block + records.at
    if (records.fault === undefined) continue
    const { end } = fragmentAt(bytes, at)
    // The file may end inside its last fragment, unless the checksum is right for a shorter length.
    const isCut = end > blockEnd && blockEnd - block < blockBytes
    const isWrong = !isCut || isFragmentOfOtherLength(bytes, at, blockEnd)
    if (!isWrong || isZeroed(bytes, at, Math.min(end, blockEnd))) return endAt(records.startedAt ?? at)
    return damaged(records.startedAt ?? at, isCut ? 'the length of a fragment is wrong' : records.fault)
  }
  return endAt(records.startedAt ?? at)
}

/** Whether the file has only zeros from the fragment at [at, end) on, or from a sector that begins in it. */
function isZeroed(bytes: Buffer, at: number, end: number): boolean {
  let zeros = bytes.length
  while (zeros > at && bytes[zeros - 1] === 0) zeros--
  return zeros === at || Math.ceil(zeros / sectorBytes) * sectorBytes < end
}
