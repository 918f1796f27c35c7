/** Export and import as verbs of the engine, with the parts that transfer/ needs. It is loaded when they are used, as few stores are exported. */
import type { Database } from '../database/database.ts'
import type { TableView } from '../tables/table.ts'
import type { ExportOptions, ExportReport } from '../transfer/export.ts'
import type { ImportOptions, ImportReport } from '../transfer/import.ts'
import type { EngineParts } from './engine-parts.ts'

export type { ExportReport, ImportReport }

export interface Cancellable {
  /** Stops between two batches. An export then deletes its folder; an import keeps the entities written so far. */
  readonly signal?: AbortSignal | undefined
}

export type ExportRequest = ExportOptions & Cancellable
export type ImportRequest = ImportOptions & Cancellable

export async function exportDatabase(
  parts: EngineParts,
  database: Database,
  { signal, ...options }: ExportRequest,
): Promise<ExportReport> {
  const { atSnapshot, exportEntities } = await import('../transfer/export.ts')
  const { place, scheduler } = parts
  const { code } = database
  const context = parts.backgroundContext(signal)
  const atOneMoment = async <T>(work: (view: TableView) => Promise<T>): Promise<T> =>
    await (place.port === undefined ? atSnapshot(context, place.local, code, work) : place.port.atOneMoment(code, work))
  return await exportEntities({ scheduler, context, database: code, atOneMoment }, options)
}

export async function importDatabase(
  parts: EngineParts,
  database: Database,
  { signal, ...options }: ImportRequest,
): Promise<ImportReport> {
  const { importEntities } = await import('../transfer/import.ts')
  const { projectId, databaseId } = database
  // Each request of an import has its own context.
  const context = () => parts.backgroundContext(signal)
  return await importEntities(
    {
      projectId,
      databaseId,
      context: context(),
      reserveIds: (keys) => database.reserveIds(context(), keys),
      upsert: (entities) =>
        database.commit(context(), {
          mode: 'nonTransactional',
          mutations: entities.map((entity) => ({ operation: 'upsert', entity })),
        }),
    },
    options,
  )
}
