/**
 * `sixtables import <metadata file>`: writes the entities of a managed export into a database.
 *
 * A running server reads the files itself, so it must be on this machine, or see the same paths. With `--data-dir` a store is created if there
 * is none, to prepare a data folder from an export.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { DatastoreError } from '@sixtables/engine'
import { metadataFileOf } from '../../admin/export-locations.ts'
import type { Flags } from '../framework/command.ts'
import { OperationError, UsageError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { printed } from '../framework/print.ts'
import { inWords, transfer } from '../target/transfer.ts'

export async function importDatabase(flags: Flags, io: Io): Promise<number> {
  const path = resolve(io.cwd, String(flags['metadata-file']))
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`)
  // Before a store is created for it.
  await metadataFileOf(path).catch((error: unknown) => {
    throw error instanceof DatastoreError ? new OperationError(error.message) : error
  })
  const moved = await transfer(flags, io, { method: 'import', place: { exportDirectory: path } })
  const { entities, bytes } = moved
  return printed(flags, io, { entities, bytes }, () => [`${inWords('Imported', moved)}.`])
}
