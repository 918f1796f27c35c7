/** The opening of an engine (engine/E1): it takes over what earlier runs recorded, and finishes their work. */
import { systemScheduler } from '../clock.ts'
import { IndexFile } from '../indexes/index-file.ts'
import { CommitVersions } from '../log/commit-version.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import { Sweep } from '../shared/sweep.ts'
import { Watch } from '../shared/watch.ts'
import type { Kv } from '../storage/kv.ts'
import { rowsOf } from '../tables/rows.ts'
import type { EngineOptions } from './engine-options.ts'
import { EngineParts } from './engine-parts.ts'
import { everyRow } from './every-row.ts'
import { openStore } from './open-kv.ts'
import { finishReset } from './reset.ts'

/** Opens the store, and makes it whole. */
export async function openParts(options: EngineOptions): Promise<EngineParts> {
  const store = await openStore(options)
  const { kv } = store
  try {
    await finishReset(kv)
    const versions = await CommitVersions.open(kv, options.scheduler ?? systemScheduler)
    const parts = new EngineParts(store, versions, options)
    await recover(parts)
    return parts
  } catch (error) {
    await kv.close()
    throw error
  }
}

/** Reads what earlier runs recorded of databases and indexes, then takes over their log. */
async function recover(parts: EngineParts): Promise<void> {
  const { kv, databases, log, tablets, indexes, ttl, options } = parts
  await databases.adoptMetadata(kv)
  parts.isStoreNew = await hasNoEntity(kv)
  if (parts.shared !== undefined) {
    if (options.rollForward === false) return
    new Watch(parts.shared).start()
    new Sweep(parts.shared).start()
    ttl.start()
    await useIndexFile(parts)
    indexes.open(databases.all())
    return
  }
  await log.recover()
  if (options.rollForward === false) return
  await log.rollForwardAll('opening')
  tablets.watch(() => everyRow(kv, log, (code) => databases.byCode(code)))
  ttl.start()
  await useIndexFile(parts)
  await indexes.file?.create()
  indexes.open(databases.all())
}

/** Reads index.yaml, and keeps it up to date from then on. @throws INVALID_ARGUMENT when it is not understood */
export async function useIndexFile({ options, indexes }: EngineParts): Promise<void> {
  const { dir, indexFile, shared, onIndexFileTrouble = () => {} } = options
  const path = indexFile ?? (dir === undefined ? false : `${dir}/index.yaml`)
  if (path === false) return
  indexes.file = await IndexFile.open({ path, onTrouble: onIndexFileTrouble, isReadOnly: shared !== undefined })
}

function hasNoEntity(kv: Kv): MaybePromise<boolean> {
  const scan = kv.scan(rowsOf('Entities'))
  const first = (): MaybePromise<boolean> => andThen(scan.next(1), (rows) => rows.length === 0)
  return finallyDo(first, () => scan.close())
}
