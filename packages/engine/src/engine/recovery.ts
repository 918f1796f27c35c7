/** The opening of an engine (engine/E1): it takes over what earlier runs recorded, and finishes their work. */
import { systemScheduler } from '../clock.ts'
import { IndexFile } from '../indexes/index-file.ts'
import { CommitVersions } from '../log/commit-version.ts'
import { andThen, finallyDo, type MaybePromise } from '../maybe-promise.ts'
import { everyRow } from '../observe/tablets/every-row.ts'
import type { KvReader } from '../storage/kv.ts'
import type { RowStore } from '../storage/rows.ts'
import { rowsOf } from '../tables/rows.ts'
import type { EngineOptions } from './engine-options.ts'
import { EngineParts, type WholeStore } from './engine-parts.ts'
import { type LocalStore, openStore } from './open-kv.ts'
import { finishReset } from './reset.ts'

/** Opens the store, and makes it whole. */
export async function openParts(options: EngineOptions): Promise<EngineParts> {
  const store = await openStore(options)
  try {
    const parts = new EngineParts(store.rowsKv === undefined ? await wholeStore(store, options) : store, options)
    await recover(parts)
    return parts
  } catch (error) {
    await (store.rowsKv ?? store.kv).close()
    throw error
  }
}

async function wholeStore(store: LocalStore, { scheduler = systemScheduler }: EngineOptions): Promise<WholeStore> {
  await finishReset(store.kv)
  return { ...store, versions: await CommitVersions.open(store.kv, scheduler) }
}

/** Reads what earlier runs recorded of databases and indexes, then takes over their log. */
async function recover(parts: EngineParts): Promise<void> {
  const { kv, place, databases, tablets, indexes, ttl, options } = parts
  if (place.shared !== undefined) {
    const { shared, modules } = place
    await modules.checkFormat(shared.store, options.rollForward === false)
    await shared.find()
    for (const { clock } of shared.all()) await databases.adoptMetadata(kv, clock.database)
    parts.isStoreNew = await hasNoEntityRow(shared.store.rows)
    if (options.rollForward === false) return
    parts.isAtWork = true
    const { store } = shared
    store.inBackground(() => store.comparedClock.watch((ms) => store.sleep(ms)), true)
    new modules.Watch(shared).start()
    new modules.Sweep(shared).start()
    ttl.start()
    await useIndexFile(parts)
    indexes.open(databases.all())
    return
  }
  const { local } = place
  await databases.adoptMetadata(kv)
  parts.isStoreNew = await hasNoEntity(kv)
  await local.log.recover()
  if (options.rollForward === false) return
  await local.log.rollForwardAll('opening')
  tablets.watch(() => everyRow(local.kv, local.log, (code) => databases.byCode(code)))
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

/** Rows of deleted entities count too: there may be millions of them. */
async function hasNoEntityRow(rows: RowStore): Promise<boolean> {
  const wanted = [{ family: 'v', newest: 1, withoutValues: true }] as const
  return (await rows.scanRows({ range: rowsOf('Entities'), limit: 1, wanted })).length === 0
}

function hasNoEntity(kv: KvReader): MaybePromise<boolean> {
  const scan = kv.scan(rowsOf('Entities'))
  const first = (): MaybePromise<boolean> => andThen(scan.next(1), (rows) => rows.length === 0)
  return finallyDo(first, () => scan.close())
}
