/**
 * Deletes all data of a store, a project, a database or a namespace.
 *
 * X1  A reset happens wholly or not at all, also if the process dies: the rows are deleted by one write (Kv.deleteRanges), which
 *     also writes the index definitions that stay.
 * X2  A reset takes one turn of commits. A commit that began before it and is not stored yet runs after it, with the
 *     definitions of that moment. AllocateIds and ReserveIds that are not over run again after it.
 *
 * No reader sees half of a reset. It ends with nothing deleted if its caller is gone before the write.
 * docs/architecture/transactions.md has the answers that open transactions get.
 */
import { checkAlive, type RequestContext } from '../context.ts'
import type { LocalParts } from '../database/database-parts.ts'
import { encodeText } from '../encoding/ordered.ts'
import { invalidArgument } from '../errors.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { isInScope, type PartitionScope } from '../model/key.ts'
import type { KeyRange, KvReader } from '../storage/kv.ts'
import { compositeCodes } from '../tables/entities-by-composite-property.ts'
import { everySpace, rowsOf } from '../tables/rows.ts'
import type { EngineParts } from './engine-parts.ts'

/** The scope of a reset. A database needs its project, a namespace its database; with a scope, ids and index definitions stay. */
export type ResetScope = PartitionScope

/** Spaces with rows of each namespace, under its partition code. */
const partitionedSpaces = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'Log',
  'Pending',
] as const

/** The code prefix of the databases in a scope. */
export function scopeCode({ projectId, databaseId }: ResetScope): string {
  if (projectId === undefined) return ''
  return encodeText(projectId) + (databaseId === undefined ? '' : encodeText(databaseId))
}

/**
 * Deletes the rows of a scope, in a turn of the log. Only one reset may run at a time.
 *
 * @throws CANCELLED or DEADLINE_EXCEEDED if the caller is gone before the deletion
 */
export async function resetStore(
  parts: EngineParts,
  { kv, log, versions, transactions }: LocalParts,
  scope: ResetScope,
  context: RequestContext,
): Promise<void> {
  checkAlive(context)
  const { ids, indexes, databases } = parts
  const { projectId, namespaceId } = scope
  const affected = namespaceId === undefined ? databases.all().filter((one) => isInScope(one, scope)) : []
  if (namespaceId === undefined) {
    indexes.giveUp(scopeCode(scope))
    indexes.refused.forget(scopeCode(scope))
  }
  await log.quiesce()
  await ids.release(context)
  if (projectId !== undefined) await log.rollForwardAll('release')
  const ranges = await rangesOf(kv, scope)
  checkAlive(context)
  let allDeleted = (): void => {}
  const deletion = new Promise<void>((resolve) => {
    allDeleted = resolve
  })
  const isPart = namespaceId !== undefined
  const kept = indexes.keptBy(affected)
  transactions.rowsGo({ databases: scopeCode(scope), ranges: isPart ? ranges : undefined }, deletion)
  try {
    await log.applier.alone(async () => {
      if (projectId !== undefined) return await kv.deleteRanges(ranges, kept.rows)
      log.pending.clear()
      log.retention.clear()
      await kv.clear(kept.rows)
    })
  } finally {
    allDeleted()
  }
  if (projectId === undefined) {
    versions.forgetCeiling()
    ids.forget()
  } else for (const database of affected) ids.forget(database)
  // Index work that began meanwhile uses the old catalogues.
  if (namespaceId === undefined) indexes.giveUp(scopeCode(scope))
  forget(parts, scope)
  kept.reinstate((project, database) => databases.of(project, database).keep())
}

function forget(parts: EngineParts, scope: ResetScope): void {
  if (scope.projectId === undefined) {
    parts.tablets.reset()
    parts.isStoreNew = true
    parts.findings.clear()
  } else parts.tablets.rows.recount()
  parts.databases.forget(scope)
  parts.feed.reload({ reason: 'reset', ...scope })
}

export function refuseHalfScope({ projectId, databaseId, namespaceId }: ResetScope): void {
  if (projectId === undefined && (databaseId !== undefined || namespaceId !== undefined)) {
    throw invalidArgument('reset of a database or namespace: name its project too')
  }
  if (namespaceId !== undefined && databaseId === undefined) {
    throw invalidArgument('reset of a namespace: name its database too (empty for the default database)')
  }
}

export function rangesOf(kv: KvReader, scope: ResetScope): MaybePromise<readonly KeyRange[]> {
  const prefix = scopeCode(scope)
  const { namespaceId } = scope
  if (namespaceId === undefined) return everySpace.map((space) => rowsOf(space, prefix))
  const partition = prefix + encodeText(namespaceId)
  // A row of a composite index begins with the index number, then the namespace.
  return andThen(compositeCodes(kv, prefix), (indexes) => [
    ...partitionedSpaces.map((space) => rowsOf(space, partition)),
    ...indexes.map((index) => rowsOf('EntitiesByCompositeProperty', index + encodeText(namespaceId))),
  ])
}
