/**
 * `--import-data` and `--export-on-exit` of `sixtables start`: a database that begins with an export and ends with one. The place of the
 * final export is checked when the server starts, not when its failure would lose the data.
 *
 * S1  An existing export is replaced only by a complete one, which is written beside it and renamed.   start-transfer.test.ts
 */
import { existsSync } from 'node:fs'
import { readdir, rename, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { DatastoreError, type Engine, makeFolder, overallSuffix } from '@sixtables/engine'
import { metadataFileOf } from '../../../admin/export-locations.ts'
import { reasonOf } from '../../../reason.ts'
import { OperationError, thrownAs, UsageError } from '../../framework/errors.ts'
import type { StartSettings } from './settings.ts'

type Transfer = Pick<StartSettings, 'exportOnExit' | 'importData' | 'project'>

/** @throws UsageError if the export cannot be read, or the place of the final one cannot be written */
export async function importAtStart(engine: Engine, { importData, exportOnExit, project }: Transfer): Promise<void> {
  if (exportOnExit !== undefined) await tryPlace(exportOnExit)
  if (importData === undefined) return
  if (!existsSync(importData)) {
    // The first of several runs, each of which begins with the export of the one before.
    if (importData === exportOnExit) return
    throw new UsageError(`--import-data: there is no file or folder ${importData}`)
  }
  await metadataFileOf(importData)
    .then((metadataFile) => engine.importEntities(engine.database(project), { metadataFile }))
    .catch(thrownAs(UsageError, DatastoreError, '--import-data: '))
}

/** Called after the last request was answered. @throws OperationError */
export async function exportAtExit(engine: Engine, { exportOnExit: dir, project }: Transfer): Promise<void> {
  if (dir === undefined) return
  // An export has the name of its folder.
  const beside = besideOf(dir)
  const fresh = join(beside, basename(dir))
  try {
    await makeFolder(beside)
    try {
      await engine.exportEntities(engine.database(project), { dir: fresh })
      if (existsSync(dir)) await rename(dir, join(beside, 'before'))
      await rename(fresh, dir)
    } finally {
      await rm(beside, { recursive: true, force: true })
    }
  } catch (error) {
    throw new OperationError(`--export-on-exit: the export to ${dir} failed: ${reasonOf(error)}`)
  }
}

/** Creates the folder of the export and removes it again, to see that this works. */
async function tryPlace(dir: string): Promise<void> {
  if (existsSync(dir) && !(await isExport(dir))) {
    throw new UsageError(`--export-on-exit: ${dir} holds something else than an export; name another folder`)
  }
  try {
    await makeFolder(besideOf(dir))
    await rmdir(besideOf(dir))
  } catch (error) {
    throw new UsageError(`--export-on-exit: ${dir} cannot be written: ${reasonOf(error)}; name another folder`)
  }
}

/** Whether a folder is an export, or empty. */
async function isExport(dir: string): Promise<boolean> {
  const names = await readdir(dir).catch(() => undefined)
  return names !== undefined && (names.length === 0 || names.some((name) => name.endsWith(overallSuffix)))
}

function besideOf(dir: string): string {
  return join(dirname(dir), `.${basename(dir)}.${process.pid}`)
}
