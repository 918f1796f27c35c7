/**
 * Deletes data of the whole store, a project, a database or a namespace.
 *
 *   M "reset" → the scope, in JSON        from before the first deletion until after the last
 *
 * X1  A reset is done wholly or not at all: one that a crash cut off is finished by the next opening, before anything is
 *     read.   reset.test.ts, packages/gateway/test/contract/crash-reset.test.ts
 *
 * X2  No reader finds half of it. In memory all rows go in one turn; on disk they are hidden in one turn, and deleted afterwards
 *     (Kv.deleteRanges).
 *                                                                          reset-ranges.test.ts
 * X3  Until the wish is stored a caller that has gone ends the reset, with nothing deleted; after that it goes on to its end.
 *                                                                          reset-ranges.test.ts
 *
 * X4  While the rows of a project, database or namespace are deleted on disk, commits, ids and index work elsewhere go on, and those
 *     in it wait (log/closed-scopes.ts). A reset of everything holds up all commits.     reset-beside.test.ts
 *
 *   one turn of commits      wish stored ▪ rows hidden ▪ scope closed
 *   beside others            rows deleted
 *   one turn of commits      new databases ▪ wish deleted ▪ scope opened           then the room on disk is given back, beside others
 *
 * docs/architecture/transactions.md has the answers that open transactions get.
 */

import { checkAlive, type RequestContext } from '../context.ts'
import { encodeInt64, encodeText } from '../encoding/ordered.ts'
import { invalidArgument } from '../errors.ts'
import type { IdAllocator } from '../ids/allocator.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { CommitVersions } from '../log/commit-version.ts'
import { andThen, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import type { PartitionScope } from '../model/key.ts'
import type { KeyRange, Kv, KvReader, KvWrite, RangesHidden, RowKey } from '../storage/kv.ts'
import { parseCompositeHead } from '../tables/entities-by-composite-property.ts'
import { metadataRowKey } from '../tables/metadata-rows.ts'
import { everySpace, rowsOf } from '../tables/rows.ts'
import type { Transactions } from '../transactions/transactions.ts'
import type { Database } from './database.ts'
import type { Indexes } from './indexes.ts'

/** A database only with its project, a namespace only with its database; then ids and index definitions stay. */
export type ResetScope = PartitionScope

const batchRows = 1000

const resetRow: RowKey = metadataRowKey({ projectId: '', databaseId: '', topic: 'reset' })

/** Spaces whose rows a namespace has of its own, under its partition code. */
const partitionedSpaces = [
  'Entities',
  'EntitiesByKind',
  'EntitiesByPropertyAsc',
  'EntitiesByPropertyDesc',
  'Log',
  'Pending',
] as const

/** The prefix of the codes of the databases in a scope. */
export function scopeCode({ projectId, databaseId }: ResetScope): string {
  if (projectId === undefined) return ''
  return encodeText(projectId) + (databaseId === undefined ? '' : encodeText(databaseId))
}

/** The prefix of the codes of the databases and entity groups that a reset of the scope empties. */
function writtenCode(scope: ResetScope): string {
  return scopeCode(scope) + (scope.namespaceId === undefined ? '' : encodeText(scope.namespaceId))
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
  /** Called when the rows are deleted, before the next write in the scope. */
  readonly onGone: () => void
}

/**
 * Deletes the rows of `scope`. No other reset may be under way.
 *
 * @returns the ranges that are empty now, for {@link giveRoomBack}
 * @throws CANCELLED or DEADLINE_EXCEEDED when its caller has gone before the first row has; after that it goes on to its end
 */
export async function resetStore(
  parts: ResetParts,
  scope: ResetScope,
  context: RequestContext,
): Promise<readonly KeyRange[]> {
  refuseHalfScope(scope)
  const { log } = parts
  let open = (): void => {}
  try {
    const { ranges, gone, finish } = await log.exclusive(() => {
      checkAlive(context)
      open = log.scopes.close(writtenCode(scope))
      return hideRows(parts, scope, context)
    })
    if (gone !== undefined) {
      await gone
      await log.exclusive(finish)
    }
    return ranges
  } finally {
    open()
  }
}

/** Gives the room that deleted rows still take on disk back, beside other calls. A store that is `closing` leaves it. */
export async function giveRoomBack(kv: Kv, ranges: readonly KeyRange[], closing: () => boolean): Promise<void> {
  for (const range of ranges) if (!closing()) await kv.compact?.(range)
}

/** A reset whose rows no reader finds any more. */
interface HiddenRows extends RangesHidden {
  readonly ranges: readonly KeyRange[]
  /** Puts what is known of the scope right; done already when the rows are deleted. */
  readonly finish: () => Promise<void>
}

async function hideRows(parts: ResetParts, scope: ResetScope, context: RequestContext): Promise<HiddenRows> {
  const { kv, log, ids, versions, transactions, indexes } = parts
  const { projectId, namespaceId } = scope
  const affected = namespaceId === undefined ? parts.databases().filter((one) => isIn(one, scope)) : []
  const reinstate = namespaceId === undefined ? indexes.beforeReset(scopeCode(scope), affected) : undefined
  await log.quiesce()
  await ids.release(context)
  if (projectId !== undefined) await log.rollForwardAll('release')
  const ranges = await rangesOf(kv, scope)
  checkAlive(context)
  const finish = async (): Promise<void> => {
    if (projectId !== undefined) await kv.mutate({ key: resetRow, value: undefined })
    else versions.forgetCeiling()
    if (projectId === undefined) ids.forget()
    else for (const database of affected) ids.forget(database)
    // Work that began meanwhile has the catalogues of before.
    if (namespaceId === undefined) indexes.giveUp(scopeCode(scope))
    parts.onGone()
    await reinstate?.(parts.database)
  }
  let allDeleted = (): void => {}
  const deletion = new Promise<void>((resolve) => {
    allDeleted = resolve
  })
  const isPart = namespaceId !== undefined
  transactions.rowsGo({ databases: scopeCode(scope), ranges: isPart ? ranges : undefined }, deletion)
  try {
    const { gone } = await log.applier.alone(() => clearStore(kv, log, scope))
    if (gone === undefined) await finish()
    else for (const database of parts.databases()) database.forgetRows()
    return { ranges, gone, finish }
  } finally {
    allDeleted()
  }
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

async function clearStore(kv: Kv, log: CommitLog, scope: ResetScope): Promise<RangesHidden> {
  if (scope.projectId === undefined) {
    log.pending.clear()
    log.retention.clear()
  }
  await kv.mutate({ key: resetRow, value: new TextEncoder().encode(JSON.stringify(scope)) })
  return await deleteScope(kv, scope)
}

/** Does the rest of a reset that a crash cut off, if there was one (X1). */
export async function finishReset(kv: Kv): Promise<void> {
  const stored = await kv.get(resetRow)
  if (stored === undefined) return
  const { gone } = await deleteScope(kv, JSON.parse(new TextDecoder().decode(stored)) as ResetScope)
  await gone
  await kv.mutate({ key: resetRow, value: undefined })
}

function deleteScope(kv: Kv, scope: ResetScope): MaybePromise<RangesHidden> {
  const deleted: RangesHidden = { gone: undefined }
  if (scope.projectId === undefined) {
    // clear() goes through the rows in their order, and of what comes after the stored wish there is nothing left then.
    const cleared = andThen(deleteMarkers(kv), () => kv.clear())
    return andThen(cleared, () => deleted)
  }
  return andThen(rangesOf(kv, scope), (ranges) => kv.deleteRanges(ranges))
}

/** The ranges of rows that lie in a scope. */
export function rangesOf(kv: KvReader, scope: ResetScope): MaybePromise<readonly KeyRange[]> {
  const prefix = scopeCode(scope)
  const { namespaceId } = scope
  if (namespaceId === undefined) return everySpace.map((space) => rowsOf(space, prefix))
  const partition = prefix + encodeText(namespaceId)
  // The rows of a composite index have its number before the namespace.
  return andThen(compositeCodes(kv, prefix), (indexes) => [
    ...partitionedSpaces.map((space) => rowsOf(space, partition)),
    ...indexes.map((index) => rowsOf('EntitiesByCompositeProperty', index + encodeText(namespaceId))),
  ])
}

/** The code of database and number of each composite index of a database that has rows. */
export function compositeCodes(kv: KvReader, database: string): MaybePromise<readonly string[]> {
  return runSteps(codesFound(kv, database))
}

function* codesFound(kv: KvReader, database: string): Steps<readonly string[]> {
  const found: string[] = []
  const scan = kv.scan(rowsOf('EntitiesByCompositeProperty', database), { expect: 1 })
  try {
    for (;;) {
      const [row] = yield* waitFor(scan.next(1))
      if (row === undefined) return found
      const index = database + encodeInt64(parseCompositeHead(row.key).indexId)
      found.push(index)
      scan.seek(rowsOf('EntitiesByCompositeProperty', index).end)
    }
  } finally {
    scan.close()
  }
}

function deleteMarkers(kv: Kv): MaybePromise<void> {
  return runSteps(markersDeleted(kv))
}

function* markersDeleted(kv: Kv): Steps<void> {
  const scan = kv.scan(rowsOf('Pending'))
  try {
    for (;;) {
      const rows = yield* waitFor(scan.next(batchRows))
      if (rows.length === 0) return
      const writes = rows.map(({ key }): KvWrite => ({ key, value: undefined }))
      yield* waitFor(kv.batch(writes))
    }
  } finally {
    scan.close()
  }
}
