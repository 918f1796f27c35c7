/**
 * The scope of a counter, that is, of a row of IdSequences.
 *
 *   scattered                                                    one counter a database: ids of all namespaces and kinds
 *   sequential  namespace  (kind "#id" | kind "=name")*  kind    one counter a (parent, kind), as the parent's path says
 *
 *   storewide                                                    one counter for all projects, kinds and parents; of no
 *                                                                database: its row has an empty project
 *
 * S1  Different parents, kinds or namespaces have different scopes.   id-scope.test.ts
 *
 * Known: automatic ids are unique per parent and kind; legacy kept a row an entity group. Measured: Google's emulators
 * have one counter for all. Ours: one counter a database where ids are scattered, so that AllocateIds and automatic ids
 * of any kind never meet.
 */
import { invariant } from '../invariant.ts'
import { formatKey, type Key, type PathElement } from '../model/key.ts'
import { idSequenceRowKey, parseIdSequenceRowKey } from '../tables/id-sequences.ts'
import type { IdSpace } from './scatter.ts'

/** A counter in words, for the inspector. */
export interface IdScope {
  readonly space: IdSpace | 'storewide'
  /** Empty for the store-wide counter. */
  readonly projectId: string
  readonly databaseId: string
  /** Sequential only: the namespace, and the path whose last element is the kind alone, as an incomplete key. */
  readonly key: Key | undefined
}

/** The row of a database's scattered counter. */
export function scatteredRowKey(projectId: string, databaseId: string): string {
  return idSequenceRowKey(projectId, databaseId, ['scattered'])
}

/** The row of the store-wide counter: no project has an empty name, so that no reset but that of everything finds it. */
export const storewideRowKey: string = idSequenceRowKey('', '', ['storewide'])

/**
 * The row of the sequential counter that numbers `path[at]`: that element's kind under the elements before it, which are
 * complete. Its own id or name does not matter.
 */
export function sequentialRowKey(key: Key, at: number = key.path.length - 1): string {
  const scope = ['sequential', key.partition.namespaceId]
  for (let i = 0; i < at; i++) {
    const { kind, id, name } = key.path[i] as PathElement
    invariant(id !== undefined || name !== undefined, 'S1: an ancestor of a key is complete')
    scope.push(kind, id !== undefined ? `#${id}` : `=${name}`)
  }
  scope.push((key.path[at] as PathElement).kind)
  return idSequenceRowKey(key.partition.projectId, key.partition.databaseId, scope)
}

/** Which counter a row of IdSequences is. */
export function parseIdScope(rowKey: string): IdScope {
  const { projectId, databaseId, scope } = parseIdSequenceRowKey(rowKey)
  const [space, namespaceId = '', ...texts] = scope
  if (space === 'scattered' || space === 'storewide') return { space, projectId, databaseId, key: undefined }
  invariant(space === 'sequential' && texts.length % 2 === 1, 'S1: not a scope of ids')
  const path: PathElement[] = []
  for (let i = 0; i < texts.length; i += 2) {
    const kind = texts[i] as string
    const leaf = texts[i + 1]
    if (leaf === undefined) path.push({ kind })
    else if (leaf.startsWith('#')) path.push({ kind, id: BigInt(leaf.slice(1)) })
    else path.push({ kind, name: leaf.slice(1) })
  }
  return { space, projectId, databaseId, key: { partition: { projectId, databaseId, namespaceId }, path } }
}

/** `scattered`, or `sequential User:"ada"/ToDo:?`; with the namespace in front when it is not the default one. */
export function formatIdScope(scope: IdScope): string {
  if (scope.key === undefined) return scope.space
  const { namespaceId } = scope.key.partition
  return `${scope.space} ${namespaceId === '' ? '' : `[${namespaceId}] `}${formatKey(scope.key)}`
}
