/**
 * The subject of a finding, as a key of maps and in words.
 *
 *   partition code, then kinds from the root down, with slashes      User/ToDo (namespace n)
 */
import { decodePath, partitionOfCode, splitKeyCode } from '../../encoding/key-codec.ts'
import { prettyPath } from '../../encoding/pretty.ts'
import type { PathElement } from '../../model/key.ts'

/** The name of a kind, below its parents' kinds, in one partition. */
export function kindSubject(partition: string, path: readonly PathElement[]): string {
  const [root] = path
  return partition + (path.length === 1 && root !== undefined ? root.kind : path.map(({ kind }) => kind).join('/'))
}

export function kindInWords(subject: string): string {
  const { partition, path } = splitKeyCode(subject)
  return path + placeInWords(partition)
}

/** @param code - partition code and path code */
export function keyInWords(code: string): string {
  const { partition, path } = splitKeyCode(code)
  return prettyPath(decodePath(path, 0).path) + placeInWords(partition)
}

/** ` (namespace n, database d)`; without default parts, and without the project. */
export function placeInWords(partition: string): string {
  const { namespaceId, databaseId } = partitionOfCode(partition)
  const parts = [
    ...(namespaceId === '' ? [] : [`namespace ${namespaceId}`]),
    ...(databaseId === '' ? [] : [`database ${databaseId}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
