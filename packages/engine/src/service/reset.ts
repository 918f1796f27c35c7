/**
 * Deletes data of the whole store, a project, a database or a namespace.
 *
 *   M "reset" → the scope, in JSON        from before the first deletion until after the last
 *
 * X1  A reset is done wholly or not at all: one that a crash cut off is finished by the next opening, before anything is
 *     read.   reset.test.ts, packages/gateway/test/contract/crash-reset.test.ts
 *
 * X2  In memory all rows go in one turn: a read that came in between would find half of them, and index rows that it has
 *     made then (tables/on-demand-rows.ts) would be left over.            reset.test.ts
 *
 * The rows go in many batches, and a store without batches has nothing larger than a row; so the wish is stored first.
 */
import { keySpaces, metadataRowKey } from '../encoding/keyspace.ts'
import { encodeText } from '../encoding/ordered.ts'
import { invalidArgument } from '../errors.ts'
import type { CommitLog } from '../log/commit-log.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import { closingAfter } from '../metadata/skip-scan.ts'
import type { Kv, KvRow, KvWrite, RowKey } from '../storage/kv.ts'
import { parseCompositeHead } from '../tables/entities-by-composite-property.ts'

export interface ResetScope {
  readonly projectId?: string | undefined
  /** Only with a project; empty = its default database. */
  readonly databaseId?: string | undefined
  /** Only with a project and a database; empty = the default namespace. Ids and index definitions stay. */
  readonly namespaceId?: string | undefined
}

const batchRows = 1000

const resetRow: RowKey = metadataRowKey({ projectId: '', databaseId: '', topic: 'reset' })

/** Spaces whose rows a namespace has of its own, under its partition code. */
const partitionedSpaces = [
  keySpaces.Entities,
  keySpaces.EntitiesByKind,
  keySpaces.EntitiesByPropertyAsc,
  keySpaces.EntitiesByPropertyDesc,
  keySpaces.Log,
  keySpaces.Pending,
]

/** What the codes of the databases in a scope begin with. */
export function scopeCode({ projectId, databaseId }: ResetScope): string {
  if (projectId === undefined) return ''
  return encodeText(projectId) + (databaseId === undefined ? '' : encodeText(databaseId))
}

/**
 * Deletes the rows of `scope`. The caller sees to it that nothing is committed meanwhile; strong reads that want something
 * applied wait until it is gone.
 */
export async function clearStore(kv: Kv, log: CommitLog, scope: ResetScope): Promise<void> {
  const { projectId, databaseId, namespaceId } = scope
  if (projectId === undefined) {
    if (databaseId !== undefined || namespaceId !== undefined) {
      throw invalidArgument('reset of a database or namespace: name its project too')
    }
  } else {
    if (namespaceId !== undefined && databaseId === undefined) {
      throw invalidArgument('reset of a namespace: name its database too (empty for the default database)')
    }
    await log.rollForwardAll('release')
  }
  await log.applier.alone(async () => {
    if (projectId === undefined) {
      log.pending.clear()
      log.retention.clear()
    }
    await kv.mutate({ key: resetRow, value: new TextEncoder().encode(JSON.stringify(scope)) })
    await deleteScope(kv, scope)
  })
}

/** Does the rest of a reset that a crash cut off, if there was one (X1). */
export async function finishReset(kv: Kv): Promise<void> {
  const stored = await kv.get(resetRow)
  if (stored === undefined) return
  await deleteScope(kv, JSON.parse(new TextDecoder().decode(stored)) as ResetScope)
}

function deleteScope(kv: Kv, scope: ResetScope): MaybePromise<void> {
  const { projectId, namespaceId } = scope
  if (projectId === undefined) {
    // clear() goes through the rows in their order, and of what comes after the stored wish there is nothing left then.
    return andThen(deleteRange(kv, { prefix: keySpaces.Pending }), () => kv.clear())
  }
  const prefix = scopeCode(scope)
  const ranges =
    namespaceId === undefined
      ? Object.values(keySpaces).map((space): Deletion => ({ prefix: space + prefix }))
      : rangesOfNamespace(prefix, namespaceId)
  const deleted = forEachInOrder(ranges, (range) => deleteRange(kv, range))
  return andThen(deleted, () => kv.mutate({ key: resetRow, value: undefined }))
}

/** The rows that begin with a prefix, or some of them. */
interface Deletion {
  readonly prefix: string
  readonly matches?: (key: RowKey) => boolean
}

function rangesOfNamespace(prefix: string, namespaceId: string): readonly Deletion[] {
  const partition = prefix + encodeText(namespaceId)
  return [
    ...partitionedSpaces.map((space): Deletion => ({ prefix: space + partition })),
    // The rows of a composite index have its number before the namespace.
    {
      prefix: keySpaces.EntitiesByCompositeProperty + prefix,
      matches: (key) => parseCompositeHead(key).partition.namespaceId === namespaceId,
    },
  ]
}

function deleteRange(kv: Kv, { prefix, matches }: Deletion): MaybePromise<void> {
  const scan = kv.scan({ start: prefix, end: `${prefix}\xff` }, { onlyKept: true })
  const isDone = (rows: readonly KvRow[]): MaybePromise<boolean> => {
    if (rows.length === 0) return true
    const writes: KvWrite[] = []
    for (const { key } of rows) if (matches === undefined || matches(key)) writes.push({ key, value: undefined })
    if (writes.length === 0) return false
    const written = kv.supports.batch ? kv.batch(writes) : forEachInOrder(writes, (write) => kv.mutate(write))
    return andThen(written, () => false)
  }
  const run = (): MaybePromise<void> => {
    for (;;) {
      const done = andThen(scan.next(batchRows), isDone)
      if (done instanceof Promise) return done.then((yes) => (yes ? undefined : run()))
      if (done) return
    }
  }
  return closingAfter(scan, run)
}
