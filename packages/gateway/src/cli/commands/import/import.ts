/**
 * `sixtables import <metadata file>`: writes the entities of a managed export into a database.
 *
 * A running server reads the files itself, so it must be on this machine, or see the same paths. With `--data-dir` a store is created if there
 * is none, to prepare a data folder from an export.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ImportProgress, TransferProgress } from '@sixtables/engine'
import { metadataFileOf } from '../../../admin/export-locations.ts'
import type { Flags } from '../../framework/command.ts'
import { UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { printed } from '../../framework/print.ts'
import { closing, openStore } from '../../target/open-store.ts'
import { placeOf } from '../../target/places.ts'
import {
  inWords,
  ProgressLines,
  refusalsInWords,
  runOnServer,
  type TransferWork,
  wantedOf,
} from '../../target/transfer.ts'

export async function importDatabase(flags: Flags, io: Io): Promise<number> {
  const path = resolve(io.cwd, String(flags['metadata-file']))
  const place = await placeOf(flags, io)
  const wanted = wantedOf(flags, io)
  if (!existsSync(path)) throw new UsageError(`there is no file ${path}`)
  const progress = new ProgressLines(io, 'Imported')
  const moved =
    'dir' in place
      ? await importIntoFolder(place.dir, path, { wanted, progress })
      : await runOnServer(place.address, 'import', wanted, { place: { exportDirectory: path }, progress })
  const { entities, bytes } = moved
  return printed(flags, io, { entities, bytes }, () => [`${inWords('Imported', moved)}.`])
}

async function importIntoFolder(
  dataDir: string,
  path: string,
  { wanted, progress }: TransferWork,
): Promise<TransferProgress> {
  return await refusalsInWords(async () => {
    const metadataFile = await metadataFileOf(path)
    const { project, database, kinds, namespaces } = wanted
    const onProgress = ({ entities, entitiesTotal }: ImportProgress): void => progress.say(entities, entitiesTotal)
    return await closing(openStore({ dir: dataDir }), (engine) =>
      engine.importEntities(engine.database(project, database), { metadataFile, kinds, namespaces, onProgress }),
    )
  })
}
