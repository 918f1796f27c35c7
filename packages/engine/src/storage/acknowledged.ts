/**
 * The acknowledged length of LevelDB's log, in a file beside it. A log of 123,456 acknowledged bytes of which a failing disk has
 * lost the last 456 looks to LevelDB like one that a crash cut, and it would open without the lost writes. With this file the
 * loss is found before LevelDB opens (level-log-check.ts).
 *
 *   rows/ACKNOWLEDGED   { "log": 12, "bytes": 123456, "check": "89abcdef" }    64 bytes, overwritten in place; check: CRC-32C
 *
 * Every acknowledged write is in a table, in a log before number 12, or in the first 123456 bytes of it. The log is written before this
 * file, so after the death of the process the log is at least that long; with durability `power` after a power cut too. A shorter log
 * has lost acknowledged writes (contract/damaged-store.test.ts). Costs 6 µs of the 50 to 90 of a batch (Node 20).
 */
import { Buffer } from 'node:buffer'
import { closeSync, openSync, readdirSync, readFileSync, renameSync, type Stats, statSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c } from '../encoding/crc32c.ts'
import { systemCode } from '../errors.ts'
import { levelFile, logNumberOf } from '../leveldb/file-names.ts'

export const acknowledgedFile = 'ACKNOWLEDGED'
const fileBytes = 64

export interface Acknowledged {
  readonly log: number
  readonly bytes: number
}

/** @returns `undefined` if there is no such file, `damaged` if it cannot be parsed */
export function readAcknowledged(rows: string): Acknowledged | 'damaged' | undefined {
  let text: string
  try {
    text = readFileSync(join(rows, acknowledgedFile), 'latin1')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const { log, bytes } = JSON.parse(text) as { log: unknown; bytes: unknown }
    const isWhole = typeof log === 'number' && typeof bytes === 'number' && text === textOf({ log, bytes })
    return isWhole ? { log, bytes } : 'damaged'
  } catch {
    return 'damaged'
  }
}

export class AcknowledgedLog {
  readonly #rows: string
  readonly #location: string
  readonly #file: number
  readonly #lockInode: number | undefined
  #newest: NewestLog
  #bytes: number

  private constructor(rows: string, location: string, file: number, newest: NewestLog) {
    this.#rows = rows
    this.#location = location
    this.#file = file
    this.#lockInode = inodeOfLock(rows)
    this.#newest = newest
    this.#bytes = newest.stats.size
  }

  /** Starts with a LevelDB that was just opened: older logs are in tables now. The file is synced once. */
  static async begin(rows: string, location: string): Promise<AcknowledgedLog> {
    const newest = newestLog(rows)
    if (newest === undefined) throw new Error(`LevelDB has no log file in ${rows}`)
    const path = join(rows, acknowledgedFile)
    const draft = await open(`${path}.new`, 'w')
    try {
      await draft.writeFile(textOf({ log: newest.log, bytes: newest.stats.size }))
      await draft.sync()
    } finally {
      await draft.close()
    }
    renameSync(`${path}.new`, path)
    return new AcknowledgedLog(rows, location, openSync(path, 'r+'), newest)
  }

  /**
   * Records that everything LevelDB has written is about to be acknowledged.
   *
   * @param lookAnew - there were several batches, so LevelDB may have started a new log although the known one has grown
   * @throws Error if the folder was moved: its files can be written, but not found again
   */
  advance(lookAnew: boolean): void {
    const stats = statSync(this.#newest.path, { throwIfNoEntry: false })
    const isSame = stats !== undefined && stats.ino === this.#newest.stats.ino
    if (!isSame || lookAnew || stats.size === this.#bytes) this.#lookAnew(isSame)
    else this.#bytes = stats.size
    writeSync(this.#file, textOf({ log: this.#newest.log, bytes: this.#bytes }), 0, 'latin1')
  }

  close(): void {
    closeSync(this.#file)
  }

  /** LevelDB starts a new file when the log becomes a table, and then deletes the old one. */
  #lookAnew(isSameThere: boolean): void {
    const newest = newestLog(this.#rows)
    const isPlace = newest !== undefined && this.#lockInode === inodeOfLock(this.#rows)
    if (!isPlace || newest.log < this.#newest.log || (newest.log === this.#newest.log && !isSameThere)) {
      throw new Error(`the folder ${this.#location} was deleted, moved or replaced while it was in use`)
    }
    this.#newest = newest
    this.#bytes = newest.stats.size
  }
}

interface NewestLog {
  readonly log: number
  readonly path: string
  readonly stats: Stats
}

function newestLog(rows: string): NewestLog | undefined {
  let log = 0
  try {
    for (const name of readdirSync(rows)) log = Math.max(log, logNumberOf(name) ?? 0)
  } catch {
    return undefined
  }
  const path = join(rows, levelFile(log, 'log'))
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats === undefined ? undefined : { log, path, stats }
}

/** LevelDB keeps the file LOCK while the folder is open. */
function inodeOfLock(rows: string): number | undefined {
  return statSync(join(rows, 'LOCK'), { throwIfNoEntry: false })?.ino
}

function textOf({ log, bytes }: Acknowledged): string {
  const check = crc32c(Buffer.from(`${log} ${bytes}`, 'latin1'))
  const text = JSON.stringify({ log, bytes, check: check.toString(16).padStart(8, '0') })
  return `${text.padEnd(fileBytes - 1)}\n`
}
