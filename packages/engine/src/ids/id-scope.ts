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
import type { DatabaseName, Key } from '../model/key.ts'
import { idSequenceRowKey } from '../tables/id-sequences.ts'

/** The start of the rows of all counters of a database. */
export function rowsOfDatabase({ projectId, databaseId }: DatabaseName): string {
  return idSequenceRowKey(projectId, databaseId, [])
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
