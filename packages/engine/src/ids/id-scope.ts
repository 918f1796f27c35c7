/**
 * Names of counters, as row keys of IdSequences.
 *
 *   scattered                                                    one counter per database, for all namespaces and kinds
 *   sequential  namespace  (kind "#id" | kind "=name")*  kind    one counter per (parent, kind), named by the parent's path
 *   storewide                                                    one counter for all projects; its row has an empty project
 *
 * The counter of ToDo under User:"ada" is sequential, "", "User", "=ada", "ToDo". Different parents, kinds or namespaces have different
 * scopes (id-scope.test.ts).
 *
 * Known: automatic ids are unique per parent and kind. Measured: Google's emulators have one counter for all. Ours: one scattered
 * counter per database, so that AllocateIds and automatic ids never collide.
 */
import { encodeText } from '../encoding/ordered.ts'
import { invariant } from '../invariant.ts'
import type { Key, PathElement } from '../model/key.ts'
import { idSequenceRowKey, parseIdSequenceRowKey } from '../tables/id-sequences.ts'
import type { IdSpace } from './scatter.ts'

/** A parsed counter name, for the inspector. */
export interface IdScope {
  readonly space: IdSpace | 'storewide'
  /** Empty for the store-wide counter. */
  readonly projectId: string
  readonly databaseId: string
  /** Sequential only: an incomplete key with the namespace, the parent and the kind. */
  readonly key: Key | undefined
}

export function scatteredRowKey(projectId: string, databaseId: string): string {
  return idSequenceRowKey(projectId, databaseId, ['scattered'])
}

/** No project has an empty name, so only a reset of the whole store deletes this row. */
export const storewideRowKey: string = idSequenceRowKey('', '', ['storewide'])

/** The row of the sequential counter for the kind and parent of a key, whose own id or name does not matter. */
export function sequentialRowKey(key: Key): string {
  return sequentialRowKeys(key).at(-1) as string
}

/** {@link sequentialRowKey} for each element of the path, under the elements before it, which must be complete. */
export function sequentialRowKeys({ partition: { projectId, databaseId, namespaceId }, path }: Key): readonly string[] {
  let rowKey = idSequenceRowKey(projectId, databaseId, ['sequential', namespaceId])
  return path.map(({ kind, id, name }, at) => {
    const ofKind = rowKey + encodeText(kind)
    invariant(id !== undefined || name !== undefined || at === path.length - 1, 'an ancestor of a key is complete')
    rowKey = ofKind + encodeText(id !== undefined ? `#${id}` : `=${name}`)
    return ofKind
  })
}

export function parseIdScope(rowKey: string): IdScope {
  const { projectId, databaseId, scope } = parseIdSequenceRowKey(rowKey)
  const [space, namespaceId = '', ...texts] = scope
  if (space === 'scattered' || space === 'storewide') return { space, projectId, databaseId, key: undefined }
  invariant(space === 'sequential' && texts.length % 2 === 1, 'not a scope of ids')
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
