/** Export and import as verbs of the engine: what transfer/ needs, taken from the parts of one engine. */

import type { Scheduler } from '../clock.ts'
import type { RequestContext } from '../context.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { Kv } from '../storage/kv.ts'
import { type ExportOptions, type ExportReport, exportEntities } from '../transfer/export.ts'
import { type ImportOptions, type ImportReport, importEntities } from '../transfer/import.ts'
import type { Database } from './database.ts'

export interface TransferParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly ids: IdAllocator
  readonly scheduler: Scheduler
  /** A context of its own for each request that a transfer is made of. */
  readonly context: () => RequestContext
  pause(): Promise<void>
}

export interface Cancellable {
  /** Aborting it stops between two batches; an export takes its folder away, an import leaves what it has written. */
  readonly signal?: AbortSignal | undefined
}

export function exportDatabase(
  parts: TransferParts,
  database: Database,
  options: ExportOptions,
): Promise<ExportReport> {
  const { kv, log, scheduler, context, pause } = parts
  return exportEntities({ kv, log, scheduler, context: context(), database: database.code, pause }, options)
}

export function importDatabase(
  parts: TransferParts,
  database: Database,
  options: ImportOptions,
): Promise<ImportReport> {
  const { ids, context, pause } = parts
  const { projectId, databaseId } = database
  return importEntities(
    {
      projectId,
      databaseId,
      context: context(),
      advancePast: (keys) => ids.advancePast(context(), keys),
      upsert: (entities) =>
        database.commit(context(), {
          mode: 'nonTransactional',
          mutations: entities.map((entity) => ({ operation: 'upsert', entity })),
        }),
      pause,
    },
    options,
  )
}
