/**
 * Places of data: a database, a namespace in it, the paths of its API, and the addresses of the pages that show them. An empty name is
 * the default one.
 */
import { methodNames } from '@sixtables/gateway/browser'
import type { ApiKey } from './key-text.ts'
import { addressOf, type QueryMembers, type Route } from './route.ts'

export interface DatabaseName {
  readonly project: string
  readonly database: string
}

export interface EntityScope extends DatabaseName {
  readonly namespace: string
}

export function isSameScope(a: EntityScope, b: EntityScope): boolean {
  return a.project === b.project && a.database === b.database && a.namespace === b.namespace
}

/** The scope in an address such as `#/log/demo?database=orders`. @param project - for an address that names none */
export function scopeIn({ parts, query }: Route, project = ''): EntityScope {
  return {
    project: parts[0] || project,
    database: query.get('database') ?? '',
    namespace: query.get('namespace') ?? '',
  }
}

/** The place of a key in a value: a key without a partition is of `home`, and one without a namespace of the default one. */
export function scopeOfKey({ partitionId: { projectId, databaseId, namespaceId } = {} }: ApiKey, home: EntityScope) {
  if (projectId === undefined) return home
  return { project: projectId, database: databaseId ?? '', namespace: namespaceId ?? '' }
}

/** The members that name database and namespace in any address; default ones are left out. */
export function scopeQuery({ database, namespace }: Pick<EntityScope, 'database' | 'namespace'>): QueryMembers {
  return { database: database || undefined, namespace: namespace || undefined }
}

export function addressOfEntity(scope: EntityScope, key: string, more: QueryMembers = {}): string {
  return addressOf('entity', [scope.project, key], { ...scopeQuery(scope), ...more })
}

/** The six tables where the rows of an entity stand. */
export function addressOfRows(scope: EntityScope, key: string): string {
  return addressOf('tables', [scope.project], { ...scopeQuery(scope), key })
}

/** Members of a body or a query, without those that are empty. */
export function given<T extends Readonly<Record<string, unknown>>>(members: T) {
  const present = Object.entries(members).filter(([, value]) => value !== undefined && value !== '')
  return Object.fromEntries(present) as { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }
}

/** A scope as requests of the data API name it. */
export function inRequest({ project, database, namespace }: EntityScope) {
  const databaseId = given({ databaseId: database })
  return { ...databaseId, partitionId: { projectId: project, ...databaseId, ...given({ namespaceId: namespace }) } }
}

export const dataMethods: readonly string[] = Object.keys(methodNames)

/** The path of a method of the data API: `/v1/projects/demo:lookup`. */
export function dataPath(project: string, method: string): string {
  return `/v1/projects/${encodeURIComponent(project)}:${method}`
}
