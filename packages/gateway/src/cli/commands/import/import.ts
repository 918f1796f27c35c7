/**
 * `sixtables import <metadata file>`: writes the entities of a managed export into a database.
 *
 * A running server reads the files itself, so it must be on this machine, or see the same paths. With `--data-dir` a store is created if there
 * is none, to prepare a data folder from an export.
 */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { metadataFileOf } from '../../../admin/export-locations.ts'
import type { Flags } from '../../framework/command.ts'
import { exitCodes, UsageError } from '../../framework/errors.ts'
import type { Io } from '../../framework/io.ts'
import { openStore } from '../../target/open-store.ts'
import { placeOf } from '../../target/places.ts'
import { inWords, ProgressLines, refusalsInWords, runOnServer, wantedOf } from '../../target/transfer.ts'

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
  if (flags['json'] === true) io.out(JSON.stringify({ entities, bytes }, null, 2))
  else io.out(`${inWords('Imported', moved)}.`)
  return exitCodes.ok
}

interface Work {
  readonly wanted: ReturnType<typeof wantedOf>
  readonly progress: ProgressLines
}

async function importIntoFolder(
  dataDir: string,
  path: string,
  { wanted, progress }: Work,
): Promise<{ entities: number; bytes: number }> {
  return await refusalsInWords(async () => {
    const metadataFile = await metadataFileOf(path)
    const engine = await openStore({ dir: dataDir })
    try {
      return await engine.importEntities(engine.database(wanted.project, wanted.database), {
        metadataFile,
        kinds: wanted.kinds,
        namespaces: wanted.namespaces,
        onProgress: ({ entities, entitiesTotal }) => progress.say(entities, entitiesTotal),
      })
    } finally {
      await engine.close()
    }
  })
}
