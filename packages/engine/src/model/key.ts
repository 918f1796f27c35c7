/**
 * Keys: the full names of entities. ToDo:5 under User:"ada" has the path User:"ada"/ToDo:5.
 *
 * Order (measured, both of Google's emulators): project, database, namespace, then element by element: kind by UTF-8 bytes,
 * numeric ids (signed) before names, names by UTF-8 bytes. A parent sorts directly before its descendants.
 */
/** The database and namespace of a key. An empty `databaseId` or `namespaceId` is the default one. */
export interface PartitionId {
  readonly projectId: string
  readonly databaseId: string
  readonly namespaceId: string
}

export type DatabaseName = Pick<PartitionId, 'projectId' | 'databaseId'>

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

export function isCompleteKey({ path }: Key): boolean {
  const { id, name } = path[path.length - 1] as PathElement
  return id !== undefined || name !== undefined
}

export function kindOf({ path }: Key): string {
  return (path[path.length - 1] as PathElement).kind
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

/** @param partition - or a database, for a scope without a namespace */
export function isInScope(partition: DatabaseName & Partial<PartitionId>, scope: PartitionScope): boolean {
  const { projectId, databaseId, namespaceId } = scope
  if (projectId !== undefined && projectId !== partition.projectId) return false
  if (databaseId !== undefined && databaseId !== partition.databaseId) return false
  return namespaceId === undefined || namespaceId === partition.namespaceId
}

/** A readable key, root first: `ToDo:1`, `User:"ada"/ToDo:?`. The partition is left out. */
export function formatKey(key: Key): string {
  return key.path.map((element) => `${element.kind}:${identifierOf(element)}`).join('/')
}

/** `1`, `"ada"`, or `?` for an incomplete element. */
export function identifierOf({ id, name }: PathElement): string {
  if (id !== undefined) return id.toString()
  return name === undefined ? '?' : JSON.stringify(name)
}
