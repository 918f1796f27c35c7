/**
 * Deletes data of the whole store, a project, a database or a namespace.
 *
 *   M "reset" → the scope, in JSON        from before the first deletion until after the last
 *
 * X1  A reset is done wholly or not at all: one that a crash cut off is finished by the next opening, before anything is
 *     read.   reset.test.ts, packages/gateway/test/contract/crash-reset.test.ts
 *
 * The rows go in many batches, and a store without batches has nothing larger than a row; so the wish is stored first.
 */
import { keySpaces, metadataRowKey } from '../encoding/keyspace.ts'
import { encodeText } from '../encoding/ordered.ts'
import { invalidArgument } from '../errors.ts'
import type { CommitLog } from '../log/commit-log.ts'
import type { Kv, KvWrite, RowKey } from '../storage/kv.ts'
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

async function deleteScope(kv: Kv, scope: ResetScope): Promise<void> {
  const { projectId, namespaceId } = scope
  if (projectId === undefined) {
    // clear() goes through the rows in their order, and of what comes after the stored wish there is nothing left then.
    await deleteRange(kv, keySpaces.Pending)
    await kv.clear()
    return
  }
  const prefix = scopeCode(scope)
  if (namespaceId === undefined) {
    for (const space of Object.values(keySpaces)) await deleteRange(kv, space + prefix)
  } else await deleteNamespace(kv, prefix, namespaceId)
  await kv.mutate({ key: resetRow, value: undefined })
}

async function deleteNamespace(kv: Kv, prefix: string, namespaceId: string): Promise<void> {
  const partition = prefix + encodeText(namespaceId)
  for (const space of partitionedSpaces) await deleteRange(kv, space + partition)
  // The rows of a composite index have its number before the namespace.
  await deleteRange(
    kv,
    keySpaces.EntitiesByCompositeProperty + prefix,
    (key) => parseCompositeHead(key).partition.namespaceId === namespaceId,
  )
}

async function deleteRange(kv: Kv, prefix: string, matches: (key: string) => boolean = () => true): Promise<void> {
  const scan = kv.scan({ start: prefix, end: `${prefix}\xff` }, { onlyKept: true })
  try {
    for (;;) {
      const rows = await scan.next(batchRows)
      if (rows.length === 0) return
      const writes: KvWrite[] = []
      for (const { key } of rows) if (matches(key)) writes.push({ key, value: undefined })
      if (writes.length === 0) continue
      if (kv.supports.batch) await kv.batch(writes)
      else for (const write of writes) await kv.mutate(write)
    }
  } finally {
    scan.close()
  }
}
