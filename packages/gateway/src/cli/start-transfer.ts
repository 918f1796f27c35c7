/**
 * `--import-data` and `--export-on-exit` of `sixtables start`: a database that comes from an export and goes to one.
 *
 * S1  An export that is there is replaced only when the new one is whole: it is written beside it and renamed.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Database, DatastoreError, type Engine, overallSuffix } from '@sixtables/engine'
import { metadataFileOf } from '../admin/export-locations.ts'
import { OperationError, UsageError } from './errors.ts'
import type { StartSettings } from './settings.ts'

export class StartTransfer {
  readonly #engine: Engine
  readonly #settings: StartSettings

  constructor(engine: Engine, settings: StartSettings) {
    this.#engine = engine
    this.#settings = settings
  }

  /** @throws UsageError when the export cannot be read, or the folder for the one at the end holds something else */
  async begin(): Promise<void> {
    const { importData, exportOnExit } = this.#settings
    if (exportOnExit !== undefined && existsSync(exportOnExit) && !(await isExport(exportOnExit))) {
      throw new UsageError(`--export-on-exit: ${exportOnExit} holds something else than an export; name another folder`)
    }
    if (importData === undefined) return
    if (!existsSync(importData)) {
      // The first of many runs that begin where the last one ended.
      if (importData === exportOnExit) return
      throw new UsageError(`--import-data: there is no file or folder ${importData}`)
    }
    try {
      await this.#engine.importEntities(this.#database(), { metadataFile: await metadataFileOf(importData) })
    } catch (error) {
      throw error instanceof DatastoreError ? new UsageError(`--import-data: ${error.message}`) : error
    }
  }

  /** To be called when no request is under way any more. */
  async end(): Promise<void> {
    const { exportOnExit } = this.#settings
    if (exportOnExit === undefined) return
    // The export is named after its folder.
    const beside = join(dirname(exportOnExit), `.${basename(exportOnExit)}.${process.pid}`)
    const fresh = join(beside, basename(exportOnExit))
    try {
      await mkdir(beside, { recursive: true })
      await this.#engine.exportEntities(this.#database(), { dir: fresh })
      if (existsSync(exportOnExit)) await rename(exportOnExit, join(beside, 'before'))
      await rename(fresh, exportOnExit)
    } catch (error) {
      throw error instanceof DatastoreError ? new OperationError(`--export-on-exit: ${error.message}`) : error
    } finally {
      await rm(beside, { recursive: true, force: true })
    }
  }

  #database(): Database {
    return this.#engine.database(this.#settings.project)
  }
}

/** Whether a folder is an export, or empty. */
async function isExport(dir: string): Promise<boolean> {
  const names = await readdir(dir).catch(() => undefined)
  return names !== undefined && (names.length === 0 || names.some((name) => name.endsWith(overallSuffix)))
}
