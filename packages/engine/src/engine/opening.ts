/** The opening of an engine (engine/E1): reads the state of earlier runs, and finishes their work. */
import { systemScheduler } from '../clock.ts'
import { CommitVersions } from '../log/commit-version.ts'
import { everyRow } from '../observe/tablets/every-row.ts'
import { closing, firstOf } from '../storage/kv.ts'
import { rowsOf } from '../tables/rows.ts'
import type { EngineOptions } from './engine-options.ts'
import { EngineParts } from './engine-parts.ts'
import { openStore } from './open-kv.ts'

export async function openParts(options: EngineOptions): Promise<EngineParts> {
  const parts = options.store === undefined ? await localParts(options) : new EngineParts(options.store, options)
  await recover(parts).catch(closing(parts.kv))
  return parts
}

async function localParts(options: EngineOptions): Promise<EngineParts> {
  const store = await openStore(options)
  const opened = async (): Promise<EngineParts> => {
    const versions = await CommitVersions.open(store.kv, options.scheduler ?? systemScheduler)
    return new EngineParts({ ...store, versions }, options)
  }
  return await opened().catch(closing(store.kv))
}

/** Reads the recorded databases and indexes, then the pending records. */
async function recover(parts: EngineParts): Promise<void> {
  const { kv, place, databases, tablets, indexes, ttl, options } = parts
  if (place.port !== undefined) {
    const isLook = options.rollForward === false
    for (const code of await place.port.open(isLook)) await databases.adoptMetadata(kv, code)
    parts.isStoreNew = await place.port.isNew()
    if (isLook) return
    parts.isAtWork = true
    place.port.start()
    ttl.start()
    await useIndexFile(parts)
    indexes.open(databases.all())
    return
  }
  const { local } = place
  await databases.adoptMetadata(kv)
  parts.isStoreNew = (await firstOf(kv.scan(rowsOf('Entities')))) === undefined
  await local.log.recover()
  if (options.rollForward === false) return
  await local.log.rollForwardAll('opening')
  tablets.watch(() => everyRow(local.kv, local.log, (code) => databases.byCode(code)))
  ttl.start()
  await useIndexFile(parts)
  await indexes.file?.create()
  indexes.open(databases.all())
}

export async function useIndexFile({ options, indexes }: EngineParts): Promise<void> {
  const { dir, indexFile, store, onIndexFileTrouble = () => {} } = options
  const path = indexFile ?? (dir === undefined ? false : `${dir}/index.yaml`)
  if (path === false) return
  const { IndexFile } = await import('../indexes/index-file.ts')
  indexes.file = await IndexFile.open({ path, onTrouble: onIndexFileTrouble, isReadOnly: store !== undefined })
}
