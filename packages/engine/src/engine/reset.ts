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
import type { Database } from '../database/database.ts'
import type { Indexes } from '../database/index-builds/indexes.ts'
import { encodeText } from '../encoding/ordered.ts'
import { invalidArgument } from '../errors.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { PartitionScope } from '../model/key.ts'
import type { KeyRange, Kv, KvReader } from '../storage/kv.ts'
import { compositeCodes } from '../tables/composite-codes.ts'
import { everySpace, rowsOf } from '../tables/rows.ts'
import type { Transactions } from '../transactions/transactions.ts'

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

export interface ResetParts {
  readonly kv: Kv
  readonly log: CommitLog
  readonly ids: IdAllocator
  readonly versions: CommitVersions
  readonly transactions: Transactions
  readonly indexes: Indexes
  readonly databases: () => readonly Database[]
  readonly database: (projectId: string, databaseId: string) => Database
  /** Called after the deletion, before the next write in the scope. */
  readonly onGone: () => void
}

/**
 * Deletes the rows of `scope`. Only one reset may run at a time.
 *
 * @throws CANCELLED or DEADLINE_EXCEEDED if the caller is gone before the deletion
 */
export async function resetStore(parts: ResetParts, scope: ResetScope, context: RequestContext): Promise<void> {
  refuseHalfScope(scope)
  await parts.log.exclusive(() => {
    checkAlive(context)
    return deleteRows(parts, scope, context)
  })
}

async function deleteRows(parts: ResetParts, scope: ResetScope, context: RequestContext): Promise<void> {
  const { kv, log, ids, versions, transactions, indexes } = parts
  const { projectId, namespaceId } = scope
  const affected = namespaceId === undefined ? parts.databases().filter((one) => isIn(one, scope)) : []
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
  parts.onGone()
  kept.reinstate(parts.database)
}

function isIn({ projectId, databaseId }: Database, scope: ResetScope): boolean {
  return (
    (scope.projectId === undefined || scope.projectId === projectId) &&
    (scope.databaseId === undefined || scope.databaseId === databaseId)
  )
}

export function refuseHalfScope({ projectId, databaseId, namespaceId }: ResetScope): void {
  if (projectId === undefined && (databaseId !== undefined || namespaceId !== undefined)) {
    throw invalidArgument('reset of a database or namespace: name its project too')
  }
  if (namespaceId !== undefined && databaseId === undefined) {
    throw invalidArgument('reset of a namespace: name its database too (empty for the default database)')
  }
}

/** The row ranges of a scope. */
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
