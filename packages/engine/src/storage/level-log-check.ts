/**
 * Whether LevelDB's log files are whole. LevelDB itself leaves out what it cannot read of them and goes on with what comes
 * after, without a word (measured: classic-level 3.0.0): acknowledged commits would be gone, and later ones there.
 *
 *   file      = block of 32 KiB*                      the last one may be shorter
 *   block     = fragment* filler                      filler: zeros, where less than a head (7 bytes) is left
 *   fragment  = checksum 4 | length 2 | type 1 | data little-endian; masked CRC-32C over type and data
 *   type      = 1 a whole record, 2 its first part, 3 a middle one, 4 its last
 *
 * A file may end anywhere: that is what a kill, or a power cut, leaves of a write that was not acknowledged. After a power
 * cut its end may also be zeros, from the start of a sector on. Whatever else cannot be read is damage.
 *
 * D1  A log with damage is not opened, and stays as it is.                                  level-log-check.test.ts
 * D2  Cutting a log keeps the records before the damage and none after it; all bytes are kept beside it.         same
 *
 * Known: LevelDB's public description of the format.
 */
import { copyFile, readdir, readFile, rename, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c, maskCrc } from '../encoding/crc32c.ts'

export interface LogDamage {
  readonly file: string
  /** Where the first record begins that cannot be read; records before it are whole. */
  readonly offset: number
  readonly bytes: number
  readonly what: string
}

const blockBytes = 32_768
const sectorBytes = 512
const headBytes = 7
const whole = 1
const first = 2
const last = 4

/** The first damage in the log files of a folder; `undefined` = none. */
export async function damageOfLogs(rows: string): Promise<LogDamage | undefined> {
  for (const file of await logsOf(rows)) {
    const damage = damageOfLog(await readFile(join(rows, file)))
    if (damage !== undefined) return { file, ...damage }
  }
  return undefined
}

/**
 * Cuts a log before its damage, and takes later logs away: what is left is what was written up to some moment (D2). The
 * files as they were are kept under the same name with `.damaged` behind it, which LevelDB does not look at.
 */
export async function cutLogs(rows: string, { file, offset }: LogDamage): Promise<void> {
  for (const log of await logsOf(rows)) {
    const path = join(rows, log)
    if (log > file) await rename(path, `${path}.damaged`)
    else if (log === file) {
      await copyFile(path, `${path}.damaged`)
      await truncate(path, offset)
    }
  }
}

/** In the order in which they were written. */
async function logsOf(rows: string): Promise<string[]> {
  return (await readdir(rows)).filter((name) => /^\d+\.log$/.test(name)).sort()
}

/**
 * Where the bytes of a log stop making sense before their end.
 *
 * @param onRecord - told of each record, in order
 */
export function damageOfLog(bytes: Buffer, onRecord?: (record: Buffer) => void): Omit<LogDamage, 'file'> | undefined {
  let recordAt: number | undefined
  let parts: Buffer[] = []
  for (let block = 0; block < bytes.length; block += blockBytes) {
    const blockEnd = Math.min(block + blockBytes, bytes.length)
    for (let at = block; blockEnd - at >= headBytes; ) {
      const end = at + headBytes + bytes.readUInt16LE(at + 4)
      const isLastBlock = blockEnd - block < blockBytes
      const what =
        end > blockEnd && isLastBlock
          ? wrongLength(bytes, at, blockEnd)
          : wrongWith(bytes, { at, end, blockEnd }, recordAt !== undefined)
      if (what === undefined && end > blockEnd) return undefined
      if (what !== undefined) {
        if (isZeroed(bytes, at, Math.min(end, blockEnd))) return undefined
        return { offset: recordAt ?? at, bytes: bytes.length, what }
      }
      const type = bytes[at + 6]
      const isEnd = type === whole || type === last
      if (onRecord !== undefined) {
        parts.push(bytes.subarray(at + headBytes, end))
        if (isEnd) {
          onRecord(Buffer.concat(parts))
          parts = []
        }
      }
      recordAt = isEnd ? undefined : (recordAt ?? at)
      at = end
    }
  }
  return undefined
}

function wrongWith(
  bytes: Buffer,
  { at, end, blockEnd }: { readonly at: number; readonly end: number; readonly blockEnd: number },
  isInRecord: boolean,
): string | undefined {
  if (end > blockEnd) return 'a fragment reaches beyond its block'
  const type = bytes[at + 6] ?? 0
  if (type < whole || type > last) return `a fragment has the unknown type ${type}`
  if (bytes.readUInt32LE(at) !== maskCrc(crc32c(bytes, at + 6, end))) return 'a checksum is wrong'
  if ((type === whole || type === first) === isInRecord) {
    return isInRecord ? 'a record begins inside another one' : 'a record lacks its beginning'
  }
  return undefined
}

/** A fragment that the file ends in is cut off, unless its checksum is right for less than its length says. */
function wrongLength(bytes: Buffer, at: number, blockEnd: number): string | undefined {
  const stored = bytes.readUInt32LE(at)
  let checksum = crc32c(bytes, at + 6, at + headBytes)
  for (let end = at + headBytes; ; end++) {
    if (maskCrc(checksum) === stored) return 'the length of a fragment is wrong'
    if (end === blockEnd) return undefined
    checksum = crc32c(bytes, end, end + 1, checksum)
  }
}

/** Whether the file holds nothing but zeros from the fragment at [at, end) on, or from a sector that begins in it. */
function isZeroed(bytes: Buffer, at: number, end: number): boolean {
  let zeros = bytes.length
  while (zeros > at && bytes[zeros - 1] === 0) zeros--
  return zeros === at || Math.ceil(zeros / sectorBytes) * sectorBytes < end
}
