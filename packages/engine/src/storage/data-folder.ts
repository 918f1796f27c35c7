/**
 * The folder of a store on disk.
 *
 *   <dir>/sixtables.json   { "format": 3, "product": "sixtables" }     the layout of the rows
 *   <dir>/rows/            LevelDB's files
 *   <dir>/index.yaml       and other files beside them are not the store's
 *
 * - A folder with other files, with a newer or broken format, or with damaged or missing files is refused and not changed
 *   (level-damage.ts). With `repairLog` a damaged log is cut, and its old content kept beside it.
 * - The format file is written before the first row, under another name, synced and renamed, so it is complete or absent. The folders are synced
 *   too: a power cut could else lose the name of a file that is there, and a store with rows and no format file is refused.
 * - One process at a time: LevelDB locks rows/LOCK, and the system releases the lock when the process dies.
 *
 * In format 2 all rows were in area 0 (areas.ts). A folder of format 2 gets format 3 when it is opened for writing. Format 1, without
 * checksums, is refused.
 */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DatastoreError, systemCode } from '../errors.ts'
import { makeFolder } from '../make-folder.ts'
import { closing } from './kv.ts'
import { damageOfLevel } from './level-damage.ts'
import { levelCode, levelReason } from './level-error.ts'
import { type LevelKv, type LevelKvOptions, openLevelKv, probeLevel } from './level-kv.ts'
import { cutLogs } from './level-log-check.ts'

/** The format of the rows, as in docs/reference/keyspace.md. Raise it with a migration when a row's bytes change. */
export const dataFormat = 3

/** The oldest format whose rows have the bytes of today. */
const oldestFormat = 2

const formatFile = 'sixtables.json'
const rowsFolder = 'rows'

export interface DataFolderOptions
  extends Pick<LevelKvOptions, 'dir' | 'durability' | 'mustExist' | 'readBeforeWritten' | 'scheduler'> {
  /** Refuse all writes; implies `mustExist`. LevelDB still locks the folder and cleans up its own files. */
  readonly readOnly?: boolean
  /** Keep the rows that were written before the damage in the log. Default: refuse. */
  readonly repairLog?: boolean | undefined
}

/**
 * Opens the store in a data folder, and creates both if there are none. Rejects with DatastoreError FAILED_PRECONDITION for a
 * folder that must not or cannot be used, and UNAVAILABLE if another process has it open.
 */
export async function openDataFolder(options: DataFolderOptions): Promise<LevelKv> {
  const dir = resolve(options.dir)
  const mustExist = options.mustExist === true || options.readOnly === true
  const format = await inspect(dir)
  if (format === 'fresh') {
    if (mustExist)
      throw refused(dir, 'there is no store in it', 'Name the folder of a store, or start a server on it first')
    await create(dir)
  }
  await refuseHeadless(dir)
  if (format !== 'fresh') await refuseDamaged(dir, options.repairLog === true)
  const ofLevel = { ...options, dir: join(dir, rowsFolder), mustExist, location: dir }
  const kv = await openLevelKv(ofLevel).catch((error: unknown) => {
    throw openError(dir, error)
  })
  if (format === oldestFormat && options.readOnly !== true) {
    await create(dir).catch(closing(kv))
  }
  return kv
}

/** Without the file CURRENT LevelDB would make a new store and delete the other files. */
async function refuseHeadless(dir: string): Promise<void> {
  const rows = await listFolder(join(dir, rowsFolder))
  if (rows.includes('CURRENT') || !rows.some((name) => /\.(ldb|sst|log)$/.test(name))) return
  throw refused(dir, 'its rows have lost the file CURRENT', 'Restore the folder from a copy, or use another one')
}

/** Refuses damage that LevelDB would ignore, or that would end the process. */
async function refuseDamaged(dir: string, isRepair: boolean): Promise<void> {
  const rows = join(dir, rowsFolder)
  if (!existsSync(join(rows, 'CURRENT'))) return
  const damage = await unless(dir, () => damageOfLevel(rows, isRepair))
  if (damage === undefined) return
  // Another process may have changed files during the check; and its log must not be cut.
  await probeLock(dir)
  const { log, found, advice } = damage
  if (log === undefined || !isRepair) throw refused(dir, found, advice)
  await unless(dir, () => cutLogs(rows, log))
}

async function unless<T>(dir: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    await probeLock(dir)
    throw refused(dir, `its rows cannot be read (${systemCode(error)})`, 'See to the rights and the disk', error)
  }
}

/** Throws if another process has the folder open. */
async function probeLock(dir: string): Promise<void> {
  try {
    await probeLevel(join(dir, rowsFolder))
  } catch (error) {
    if (levelCode(error) === 'LEVEL_LOCKED') throw openError(dir, error)
  }
}

/** The format of the store in the folder, or `fresh` if one may be created; throws for every other folder. */
async function inspect(dir: string): Promise<'fresh' | number> {
  const names = await listFolder(dir)
  if (names.includes(formatFile)) {
    const text = await readFile(join(dir, formatFile), 'utf8').catch((error: unknown) => {
      throw refused(dir, `its ${formatFile} cannot be read (${systemCode(error)})`, 'See to the rights of the file')
    })
    return checkedFormat(dir, text)
  }
  if (names.includes(rowsFolder)) {
    throw refused(dir, `it has rows but no ${formatFile}, which says how to read them`, `Put ${formatFile} back`)
  }
  const foreign = names.filter((name) => !namesOfOthers.has(name) && !name.startsWith('.'))
  if (foreign.length > 0) {
    const some = foreign.slice(0, 3).join(', ') + (foreign.length > 3 ? ', …' : '')
    throw refused(
      dir,
      `it is not empty (${some}) and not a data folder of this product`,
      'Use an empty or a new folder',
    )
  }
  return 'fresh'
}

/** Files that may be there before the store: other parts' and those of an interrupted first start. */
const namesOfOthers: ReadonlySet<string> = new Set(['index.yaml', `${formatFile}.new`])

async function listFolder(dir: string): Promise<string[]> {
  try {
    return await readdir(dir)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw refused(dir, 'it is not a folder', 'Use an empty or a new folder')
    throw refused(dir, `it cannot be read (${code})`, 'See to the rights of the folder, or use another one')
  }
}

function checkedFormat(dir: string, text: string): number {
  const format = formatOf(text)
  if (format === undefined) {
    throw refused(dir, `its ${formatFile} is broken: no format number in it`, `Restore ${formatFile} from a copy`)
  }
  const [readable, advice] =
    format > dataFormat
      ? [`up to ${dataFormat}`, 'Use the newer version that wrote it']
      : [`from ${oldestFormat} on`, 'Export its data with the version that wrote it']
  if (format > dataFormat || format < oldestFormat) {
    throw refused(dir, `it has format ${format}, and this version reads formats ${readable}`, advice)
  }
  return format
}

/** The content of a format file; `undefined` if it contains no positive integer. */
function formatOf(text: string): number | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || !('format' in parsed)) return undefined
  // A folder of format 1 that got areas has this mark.
  const { format } = 'checksums' in parsed && parsed.checksums === false ? { format: 1 } : parsed
  return typeof format === 'number' && Number.isSafeInteger(format) && format >= 0 ? format : undefined
}

/** Makes the names in a folder survive a power cut. Windows opens no folder as a file. */
function syncFolder(dir: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(dir, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function writeFormat(dir: string): void {
  const draft = join(dir, `${formatFile}.new`)
  const file = openSync(draft, 'w')
  try {
    writeSync(file, `${JSON.stringify({ format: dataFormat, product: 'sixtables' }, undefined, 2)}\n`)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(draft, join(dir, formatFile))
  syncFolder(dir)
}

/** Creates the folder, if it is missing, its format file, and then the folder of the rows. */
async function create(dir: string): Promise<void> {
  try {
    await makeFolder(dir, syncFolder)
    writeFormat(dir)
    await makeFolder(join(dir, rowsFolder), syncFolder)
  } catch (error) {
    throw refused(
      dir,
      `it cannot be written (${systemCode(error)})`,
      'See to the rights and the disk, or use another folder',
    )
  }
}

function openError(dir: string, error: unknown): DatastoreError {
  const code = levelCode(error)
  if (code === 'LEVEL_LOCKED') {
    return new DatastoreError(
      'UNAVAILABLE',
      `The data folder ${dir} cannot be opened: another process has it open. Stop that one, or use another folder.`,
      { cause: error },
    )
  }
  const reason = levelReason(error)
  if (code === 'LEVEL_CORRUPTION') {
    return refused(dir, `its rows are damaged (${reason})`, 'Restore the folder from a copy, or use another one', error)
  }
  return refused(dir, reason, 'See to the rights and the disk, or use another folder', error)
}

function refused(dir: string, found: string, advice: string, cause?: unknown): DatastoreError {
  const message = `The data folder ${dir} cannot be used: ${found}. ${advice}.`
  return new DatastoreError('FAILED_PRECONDITION', message, { cause })
}
