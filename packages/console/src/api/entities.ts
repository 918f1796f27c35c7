/** One entity over HTTP. A write names the version that it is based on: it never takes the place of another writer's unseen. */
import { signal } from '@preact/signals'
import type { CommitPreview } from '@sixtables/engine'
import type { ApiKey } from '../model/key-text.ts'
import { dataPath, type EntityScope, given, inRequest } from '../model/scope.ts'
import { type JsonObject, keyJson } from '../model/typed-json.ts'
import type { QueryAnswer } from './datastore.ts'
import { wrote } from './events.ts'
import { type CallOptions, getJson, postJson } from './http.ts'

export interface StoredEntity {
  /** Absent = there is none. */
  readonly properties?: JsonObject
  /** Commit version; '0' without an entity. */
  readonly version: string
}

export type Write =
  | { readonly operation: 'insert'; readonly properties: JsonObject }
  /** A conflict if another version is stored, also if the entity was deleted; version '0' is none. */
  | { readonly operation: 'upsert'; readonly properties: JsonObject; readonly baseVersion: string }
  | { readonly operation: 'delete'; readonly baseVersion: string }

export type KeyedWrite = Write & { readonly key: string }

interface LookupAnswer {
  readonly found?: readonly { readonly entity: { readonly properties?: JsonObject }; readonly version: string }[]
}

interface MutationResult {
  readonly key?: ApiKey
  /** The version stored now; absent after a conflict where nothing is stored. */
  readonly version?: string
  readonly conflictDetected?: boolean
}

export function entityQuery({ project, database, namespace }: EntityScope, key: string): string {
  return new URLSearchParams({ project, database, namespace, key }).toString()
}

/** @param version - a version of its past; absent = the newest */
export async function readEntity(
  scope: EntityScope,
  key: string,
  { version, ...options }: CallOptions & { readonly version?: string | undefined } = {},
): Promise<StoredEntity> {
  const past = version === undefined ? '' : `&version=${version}`
  const answer = await getJson<LookupAnswer>(`/emulator/inspect/entity?${entityQuery(scope, key)}${past}`, options)
  const found = answer.found?.[0]
  if (found === undefined) return { version: '0' }
  return { version: found.version, properties: found.entity.properties ?? {} }
}

/** @throws ApiError as the commit would */
export function previewWrites(scope: EntityScope, writes: readonly KeyedWrite[], options: CallOptions) {
  const body = { projectId: scope.project, ...commitOf(scope, mutationsOf(scope, writes)) }
  return postJson<CommitPreview>('/emulator/preview', body, options)
}

type StoredEntities = ReadonlyMap<string, Required<StoredEntity>>

/** The entities that this page stored last: a list that has them need not wait until it is read again. */
export const stored = signal<Readonly<{ scope: EntityScope; entities: StoredEntities }> | undefined>(undefined)

/**
 * Each write for itself is written, or in conflict: then another version was stored. A result has the `key` where the commit gave its id.
 * `entities` are those of {@link stored}. @throws ApiError
 */
export async function commitWrites(scope: EntityScope, writes: readonly KeyedWrite[]) {
  const results = await commit(scope, mutationsOf(scope, writes))
  const entities = new Map<string, Required<StoredEntity>>()
  for (const [i, write] of writes.entries()) {
    const { version = '0', conflictDetected = false } = results[i] ?? { conflictDetected: true }
    if (!conflictDetected && 'properties' in write) entities.set(write.key, { properties: write.properties, version })
  }
  stored.value = { scope, entities }
  return { results, entities }
}

export interface Deletion {
  readonly key: ApiKey
  /** The version that the user saw; absent = any. */
  readonly version?: string | undefined
}

/** Deletes entities, at most a page of them, each for itself. @returns how many stay, as another version is stored */
export async function deleteEntities(scope: EntityScope, entities: readonly Deletion[]): Promise<number> {
  const mutations = entities.map(({ key, version }) => ({ delete: key, ...given({ baseVersion: version }) }))
  const results = await commit(scope, mutations)
  return results.filter(({ conflictDetected, version }) => conflictDetected === true && version !== undefined).length
}

async function commit(scope: EntityScope, mutations: readonly object[]) {
  const path = dataPath(scope.project, 'commit')
  const answer = await postJson<{ readonly mutationResults: readonly MutationResult[] }>(
    path,
    commitOf(scope, mutations),
  )
  wrote()
  return answer.mutationResults
}

function commitOf({ database }: EntityScope, mutations: readonly object[]) {
  return { ...given({ databaseId: database }), mode: 'NON_TRANSACTIONAL', mutations }
}

function mutationsOf(scope: EntityScope, writes: readonly KeyedWrite[]): readonly object[] {
  return writes.map((write) => {
    const key = keyJson(write.key, scope)
    const written = write.operation === 'delete' ? key : { key, properties: write.properties }
    return { ...('baseVersion' in write && { baseVersion: write.baseVersion }), [write.operation]: written }
  })
}

export type FirstEntities = Awaited<ReturnType<typeof readFirst>>

/**
 * The first entities of a namespace by their keys, or the first below one. They are read as they are applied, so a look at them applies
 * nothing. @param limit - at most so many; large entities fill an answer earlier
 */
export async function readFirst(scope: EntityScope, ancestor: string | undefined, limit: number, options: CallOptions) {
  const value = { keyValue: ancestor === undefined ? {} : keyJson(ancestor, scope) }
  const filters = ['HAS_ANCESTOR', 'GREATER_THAN'].map((op) => ({
    propertyFilter: { property: { name: '__key__' }, op, value },
  }))
  const filter = ancestor === undefined ? {} : { filter: { compositeFilter: { op: 'AND', filters } } }
  const body = { ...inRequest(scope), readOptions: { readConsistency: 'EVENTUAL' }, query: { ...filter, limit } }
  const { batch } = await postJson<QueryAnswer>(dataPath(scope.project, 'runQuery'), body, options)
  const entities = batch.entityResults?.map(({ entity }) => entity) ?? []
  return { entities, hasMore: batch.moreResults !== 'NO_MORE_RESULTS' }
}

interface RowsPage {
  readonly rows: readonly unknown[]
  /** Where to go on behind; absent with the last rows, which the log comes with. */
  readonly next?: string
}

/** The rows of an entity in all tables, page by page, and the log of its group. */
export async function readRows<T extends RowsPage>(query: string, options?: CallOptions): Promise<T> {
  let page = await getJson<T>(`/emulator/inspect/rows?${query}`, options)
  const rows = [...page.rows]
  while (page.next !== undefined) {
    page = await getJson<T>(`/emulator/inspect/rows?${query}&${new URLSearchParams({ after: page.next })}`, options)
    rows.push(...page.rows)
  }
  return { ...page, rows }
}
