/**
 * A reader of LevelDB's manifest, the file that says which other files a store consists of: for example the tables 000005.ldb and
 * 000008.ldb, and the log 000009.log, the first whose records are not in tables yet.
 *
 *   CURRENT    = name of the manifest, line break
 *   MANIFEST-n = a log file (leveldb/log-format.ts) whose records are changes of the set of files
 *   change     = (tag, fields)*: 1 comparator: text | 2 log, 3 next file, 4 last sequence, 9 previous log: number
 *                | 5 level, text | 6 level, file | 7 level, file, size, text, text         numbers are varints
 *
 * LevelDB creates a log file before the change that names it, and deletes older ones after it. So the last named file exists
 * unless it was removed or the manifest was cut; LevelDB would continue without its rows.
 *
 * Known: LevelDB's public sources and description of the format.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { varintAt } from '../leveldb/varint.ts'
import { damageOfLog } from './level-log-check.ts'

export interface Manifest {
  readonly name: string
  /** The first log file whose records are not all in tables; 0 if the store was never opened completely. */
  readonly log: number
  /** At most the number of the latest row write, and at least those of the rows in tables. */
  readonly lastSequence: number
  /** Sizes of the table files by their numbers. */
  readonly tables: ReadonlyMap<number, number>
}

/** Kinds of fields after a tag: `n` a number, `t` a text. */
const fieldsOfTag: Readonly<Record<number, string>> = {
  1: 't',
  2: 'n',
  3: 'n',
  4: 'n',
  5: 'nt',
  6: 'nn',
  7: 'nnntt',
  9: 'n',
}

/**
 * The manifest, or its damage in words, after the name of the folder; `only`: what CURRENT should name, if nothing else is wrong.
 *
 * @throws errors of the file system
 */
export async function readManifest(rows: string): Promise<Manifest | { found: string; only?: string | undefined }> {
  const current = await readFile(join(rows, 'CURRENT'), 'latin1')
  const manifests = (await readdir(rows)).filter((file) => file.startsWith('MANIFEST-'))
  const name = manifests.find((file) => current === `${file}\n`)
  if (name === undefined) {
    const held = JSON.stringify(current.slice(0, 40))
    const only = manifests.length === 1 ? manifests[0] : undefined
    return { found: `rows/CURRENT holds ${held} instead of the name of a manifest beside it and a line break`, only }
  }
  const bytes = await readFile(join(rows, name))
  const tables = new Map<number, number>()
  const manifest = { name, log: 0, lastSequence: 0, tables }
  const damage = damageOfLog(bytes, (change) => (applyChange(manifest, change) ? undefined : 'a change cannot be read'))
  if (damage === undefined) return manifest
  return { found: `rows/${name} is damaged at byte ${damage.offset} of ${damage.bytes} (${damage.what})` }
}

/** @returns false for malformed bytes */
function applyChange(
  manifest: { log: number; lastSequence: number; tables: Map<number, number> },
  change: Buffer,
): boolean {
  try {
    for (let at = 0; at < change.length; ) {
      const tag = varintAt(change, at)
      const fields = fieldsOfTag[tag.value]
      if (fields === undefined) return false
      const numbers: number[] = []
      at = tag.next
      for (const field of fields) {
        const { value, next } = varintAt(change, at)
        at = field === 't' ? next + value : next
        if (field === 'n') numbers.push(value)
      }
      if (at > change.length) return false
      const [one = 0, file = 0, size = 0] = numbers
      if (tag.value === 2) manifest.log = one
      else if (tag.value === 4) manifest.lastSequence = one
      else if (tag.value === 6) manifest.tables.delete(file)
      else if (tag.value === 7) manifest.tables.set(file, size)
    }
    return true
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return false
  }
}
