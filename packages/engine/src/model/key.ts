/**
 * Keys: the full names of entities. ToDo:5 under User:"ada" has the path User:"ada"/ToDo:5.
 *
 * Order (measured, both of Google's emulators): project, database, namespace, then element by element: kind by UTF-8 bytes,
 * numeric ids (signed) before names, names by UTF-8 bytes. A parent sorts directly before its descendants.
 */
import { compareUtf8 } from './compare.ts'

/** The database and namespace of a key. An empty `databaseId` or `namespaceId` is the default one. */
export interface PartitionId {
  readonly projectId: string
  readonly databaseId: string
  readonly namespaceId: string
}

/** One step of a path: a kind with an id or a name. Only the last step may have neither: the key is then incomplete. */
export type PathElement =
  | { readonly kind: string; readonly id: bigint; readonly name?: undefined }
  | { readonly kind: string; readonly name: string; readonly id?: undefined }
  | { readonly kind: string; readonly id?: undefined; readonly name?: undefined }

export interface Key {
  readonly partition: PartitionId
  /** Root first; at least one element. */
  readonly path: readonly PathElement[]
}

export function isComplete(element: PathElement): boolean {
  return element.id !== undefined || element.name !== undefined
}

export function lastElement(key: Key): PathElement {
  return key.path[key.path.length - 1] as PathElement
}

export function isCompleteKey(key: Key): boolean {
  return isComplete(lastElement(key))
}

export function kindOf(key: Key): string {
  return lastElement(key).kind
}

export function withId(key: Key, id: bigint): Key {
  const last: PathElement = { kind: kindOf(key), id }
  return { partition: key.partition, path: key.path.length === 1 ? [last] : [...key.path.slice(0, -1), last] }
}

/** A filter for partitions: absent members match anything. */
export interface PartitionScope {
  readonly projectId?: string | undefined
  /** Empty = the default database. */
  readonly databaseId?: string | undefined
  readonly namespaceId?: string | undefined
}

export function isInScope(partition: PartitionId, scope: PartitionScope): boolean {
  const { projectId, databaseId, namespaceId } = scope
  if (projectId !== undefined && projectId !== partition.projectId) return false
  if (databaseId !== undefined && databaseId !== partition.databaseId) return false
  return namespaceId === undefined || namespaceId === partition.namespaceId
}

export function comparePartitions(a: PartitionId, b: PartitionId): number {
  return (
    compareUtf8(a.projectId, b.projectId) ||
    compareUtf8(a.databaseId, b.databaseId) ||
    compareUtf8(a.namespaceId, b.namespaceId)
  )
}

function compareElements(a: PathElement, b: PathElement): number {
  const byKind = compareUtf8(a.kind, b.kind)
  if (byKind !== 0) return byKind
  if (a.id !== undefined && b.id !== undefined) return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
  if (a.id !== undefined) return -1
  if (b.id !== undefined) return 1
  return compareUtf8(a.name ?? '', b.name ?? '')
}

/** Negative, zero or positive if `a` sorts before, with or after `b`. */
export function compareKeys(a: Key, b: Key): number {
  const byPartition = comparePartitions(a.partition, b.partition)
  if (byPartition !== 0) return byPartition
  const shared = Math.min(a.path.length, b.path.length)
  for (let i = 0; i < shared; i++) {
    const byElement = compareElements(a.path[i] as PathElement, b.path[i] as PathElement)
    if (byElement !== 0) return byElement
  }
  return a.path.length - b.path.length
}

/** A readable key, root first: `ToDo:1`, `User:"ada"/ToDo:?`. The partition is left out. */
export function formatKey(key: Key): string {
  return key.path
    .map((e) => `${e.kind}:${e.id !== undefined ? e.id : e.name !== undefined ? JSON.stringify(e.name) : '?'}`)
    .join('/')
}
