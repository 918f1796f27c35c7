/**
 * `sixtables export <dir>`: the entities of a database, as files of the managed export format in a new folder.
 *
 * A running server writes the folder itself, so it must be on this machine, or see the same paths.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { overallSuffix, type TransferProgress } from '@sixtables/engine'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { printed } from '../../framework/print.ts'
import { closing, openClosedStore } from '../../target/open-store.ts'
import { placeOf } from '../../target/places.ts'
import {
  inWords,
  ProgressLines,
  refusalsInWords,
  runOnServer,
  type TransferWork,
  wantedOf,
} from '../../target/transfer.ts'

export async function exportDatabase(flags: Flags, io: Io): Promise<number> {
  const dir = resolve(io.cwd, String(flags['dir']))
  const place = await placeOf(flags, io)
  const wanted = wantedOf(flags, io)
  if (existsSync(dir)) throw new UsageError(`${dir} exists already; name a folder that does not`)
  const progress = new ProgressLines(io, 'Exported')
  const moved =
    'dir' in place
      ? await exportFolder(place.dir, dir, { wanted, progress })
      : await runOnServer(place.address, 'export', wanted, {
          place: { exportDirectory: dirname(dir), exportName: basename(dir) },
          progress,
        })
  const { entities, bytes } = moved
  const metadataFile = join(dir, `${basename(dir)}${overallSuffix}`)
  return printed(flags, io, { entities, bytes, metadataFile }, () => [
    `${inWords('Exported', moved)}. To load them again: sixtables import ${metadataFile}`,
  ])
}

/** Exports a folder without a server; waiting commits are not applied. */
async function exportFolder(
  dataDir: string,
  dir: string,
  { wanted, progress }: TransferWork,
): Promise<TransferProgress> {
  const { project, database, kinds, namespaces } = wanted
  const onProgress = ({ entities }: TransferProgress): void => progress.say(entities)
  return await closing(openClosedStore(dataDir), (engine) =>
    refusalsInWords(() =>
      engine.exportEntities(engine.database(project, database), { dir, kinds, namespaces, onProgress }),
    ),
  )
}
