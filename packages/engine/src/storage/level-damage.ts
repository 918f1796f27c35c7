/**
 * Checks the files of a closed LevelDB for changed bytes and lost acknowledged writes. LevelDB itself checks little: it
 * ignores the unreadable part of a log, reads tables without comparing checksums, and some changed bytes end the process by
 * an assertion.
 *
 *   manifest          its records are whole                                                            level-manifest.ts
 *   tables            those in the manifest exist with their sizes, each block with its checksum    level-table-check.ts
 *   logs              each record is whole and follows the one before, up to the acknowledged end     level-log-check.ts
 */
import { readdir } from 'node:fs/promises'
import { tableNumberOf } from '../leveldb/file-names.ts'
import { acknowledgedFile, readAcknowledged } from './acknowledged.ts'
import { areLogsEmpty, damageOfLogs, type LogDamage, writesMissing } from './level-log-check.ts'
import { type Manifest, readManifest } from './level-manifest.ts'
import { damageOfTables } from './level-table-check.ts'

export interface LevelDamage {
  /** In words, after "the folder cannot be used: ". */
  readonly found: string
  readonly advice: string
  /** Given if cutting the log would help. */
  readonly log?: LogDamage
}

const fromCopy = 'Restore the folder from a copy'
const byRepair = 'run `sixtables check --data-dir … --repair` on it, which gives up what was written from there on'

/** The first damage found. @param isRepair - gives up acknowledged writes behind the end of the log */
export async function damageOfLevel(rows: string, isRepair: boolean): Promise<LevelDamage | undefined> {
  const manifest = await readManifest(rows)
  if ('found' in manifest) {
    const { found, only } = manifest
    const byHand = only === undefined ? '' : `; or write "${only}" and a line break into rows/CURRENT`
    return { found: `its file ${found}`, advice: fromCopy + byHand }
  }
  const [damaged, ...more] = await damageOfTables(rows, manifest.tables)
  // A log is cut only if nothing else is damaged.
  if (damaged === undefined) return damageInLogs(rows, manifest, isRepair)
  const others = more.length === 0 ? '' : `; so are ${more.map(({ file }) => file).join(', ')}`
  return { found: `its file rows/${damaged.file} is damaged (${damaged.what})${others}`, advice: fromCopy }
}

async function damageInLogs(rows: string, manifest: Manifest, isRepair: boolean): Promise<LevelDamage | undefined> {
  const { name, lastSequence, tables } = manifest
  const known = isRepair ? undefined : readAcknowledged(rows)
  // The very first opening may have ended before the file was written; then there is no row.
  const mayLack = isRepair || (lastSequence === 0 && (await areLogsEmpty(rows)))
  if (known === 'damaged' || (known === undefined && !mayLack)) {
    const what = known === undefined ? 'gone' : 'damaged'
    return {
      found: `its file rows/${acknowledgedFile}, which says how long the log must be, is ${what}`,
      advice: `${fromCopy}; or ${byRepair.replace(/, which.*/, ', which goes by the log as it is')}`,
    }
  }
  const damage = await damageOfLogs(rows, manifest, known)
  if (damage === undefined) return undefined
  if ('missing' in damage) return { found: `its rows have lost the file ${damage.missing}`, advice: fromCopy }
  const { file, offset, bytes, what } = damage
  const isUnnamed = (other: string): boolean => {
    const table = tableNumberOf(other)
    return table !== undefined && !tables.has(table)
  }
  const unnamed = offset === 0 && what === writesMissing ? (await readdir(rows)).find(isUnnamed) : undefined
  if (unnamed !== undefined) {
    const found = `its file rows/${name} is cut: it names no file with the writes before rows/${file}, such as rows/${unnamed}`
    return { found, advice: fromCopy }
  }
  return {
    found: `its file rows/${file} is damaged at byte ${offset} of ${bytes} (${what}); what was written before is whole`,
    advice: `${fromCopy}; or, as after a power cut with --durability process, ${byRepair}`,
    log: damage,
  }
}
