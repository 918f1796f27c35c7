/**
 * `sixtables export <dir>`: the entities of a database, as files of the managed export format in a new folder.
 *
 * A running server writes the folder itself, so it must be on this machine, or see the same paths.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { overallSuffix } from '@sixtables/engine'
import type { Flags } from '../framework/command.ts'
import { UsageError } from '../framework/errors.ts'
import type { Io } from '../framework/io.ts'
import { printed } from '../framework/print.ts'
import { inWords, transfer } from '../target/transfer.ts'

export async function exportDatabase(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['dir']))
  if (existsSync(dir)) throw new UsageError(`${dir} exists already; name a folder that does not`)
  const place = { exportDirectory: dirname(dir), exportName: basename(dir) }
  const moved = await transfer(flags, io, { method: 'export', place })
  const { entities, bytes } = moved
  const metadataFile = join(dir, `${basename(dir)}${overallSuffix}`)
  return printed(flags, io, { entities, bytes, metadataFile }, () => [
    `${inWords('Exported', moved)}. To load them again: sixtables import ${metadataFile}`,
  ])
}
