/**
 * What LevelDB's manifest says of the log: from which file on its records are not in tables yet.
 *
 *   CURRENT    = name of the manifest, line break
 *   MANIFEST-n = a log file (level-log-check.ts) whose records are changes of the set of files
 *   change     = (tag, fields)*: 1 comparator: text | 2 log, 3 next file, 4 last sequence, 9 previous log: number
 *                | 5 level, text | 6 level, file | 7 level, file, size, text, text         numbers are varints
 *
 * LevelDB makes a log file before the change that names it, and deletes older ones after it. So the file that is named last
 * is there, unless somebody took it away or cut the manifest; LevelDB would go on without its rows.
 *
 * Known: LevelDB's public sources and description of the format.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { damageOfLog } from './level-log-check.ts'
import { varintAt } from './varint.ts'

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
const logNumberTag = 2

/** The log file that should be there and is not; `undefined` = all is well, or LevelDB itself will complain. */
export async function missingLog(rows: string): Promise<string | undefined> {
  let manifest: Buffer
  try {
    const current = await readFile(join(rows, 'CURRENT'), 'latin1')
    manifest = await readFile(join(rows, current.trimEnd()))
  } catch {
    return undefined
  }
  let logNumber = 0
  damageOfLog(manifest, (change) => {
    logNumber = logNumberIn(change) ?? logNumber
  })
  // Of a store that was never opened to its end.
  if (logNumber === 0) return undefined
  const file = `${String(logNumber).padStart(6, '0')}.log`
  return (await readdir(rows)).includes(file) ? undefined : file
}

/** The log number that a change sets last. */
function logNumberIn(change: Buffer): number | undefined {
  let found: number | undefined
  try {
    for (let at = 0; at < change.length; ) {
      const tag = varintAt(change, at)
      at = tag.next
      for (const field of fieldsOfTag[tag.value] ?? '') {
        const { value, next } = varintAt(change, at)
        at = field === 't' ? next + value : next
        if (tag.value === logNumberTag) found = value
      }
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return found
}
