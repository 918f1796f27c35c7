/**
 * `sixtables export <dir>`: the entities of a database, as files of the managed export format in a new folder; `sixtables import <metadata file>`:
 * writes the entities of a managed export into a database.
 *
 * A running server writes and reads the files itself, so it must be on this machine, or see the same paths. With `--data-dir` an import creates a store
 * if there is none, to prepare a data folder from an export; an export applies no waiting commits.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatastoreError, overallSuffix } from '@sixtables/engine'
import { metadataFileOf } from '../../admin/export-locations.ts'
import type { Flags, Io } from '../framework/command.ts'
import { OperationError, thrownAs, UsageError } from '../framework/errors.ts'
import { counted, printed } from '../framework/print.ts'
import { transfer } from '../target/transfer.ts'

export async function exportDatabase(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['dir']))
  if (existsSync(dir)) throw new UsageError(`${dir} exists already; name a folder that does not`)
  const place = { exportDirectory: dirname(dir), exportName: basename(dir) }
  const moved = await transfer(flags, io, { method: 'export', place })
  const metadataFile = join(dir, `${basename(dir)}${overallSuffix}`)
  return printed(flags, io, { ...moved, metadataFile }, () => [
    `Exported ${counted(moved.entities, 'entity', 'entities')}. To load them again: sixtables import ${metadataFile}`,
  ])
}

export async function importDatabase(flags: Flags, io: Io): Promise<number> {
  const path = resolve(io.cwd, String(flags['metadata-file']))
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`)
  // Before a store is created for it.
  await metadataFileOf(path).catch(thrownAs(OperationError, DatastoreError))
  const moved = await transfer(flags, io, { method: 'import', place: { exportDirectory: path } })
  return printed(flags, io, moved, () => [`Imported ${counted(moved.entities, 'entity', 'entities')}.`])
}
