/**
 * The subject of a finding, as a key of maps and in words.
 *
 *   partition code, then kinds from the root down, with slashes      User/ToDo (namespace n)
 */
import { decodePartition, decodePath, skipPartition } from '../encoding/key-codec.ts'
import { prettyPath } from '../encoding/pretty.ts'
import type { PathElement } from '../model/key.ts'

/** The name of a kind, below its parents' kinds, in one partition. */
export function kindSubject(partition: string, path: readonly PathElement[]): string {
  const [root] = path
  return partition + (path.length === 1 && root !== undefined ? root.kind : path.map(({ kind }) => kind).join('/'))
}

/** @param subject - as {@link kindSubject} makes it */
export function kindInWords(subject: string): string {
  const partitionEnd = skipPartition(subject, 0)
  return subject.slice(partitionEnd) + placeInWords(subject.slice(0, partitionEnd))
}

/** @param code - partition code and path code */
export function keyInWords(code: string): string {
  const partitionEnd = skipPartition(code, 0)
  return prettyPath(decodePath(code, partitionEnd).path) + placeInWords(code.slice(0, partitionEnd))
}

/** ` (namespace n, database d)`; nothing for what is default. The project is left out: a finding is about the keys. */
export function placeInWords(partition: string): string {
  const { namespaceId, databaseId } = decodePartition(partition, 0).value
  const parts = [
    ...(namespaceId === '' ? [] : [`namespace ${namespaceId}`]),
    ...(databaseId === '' ? [] : [`database ${databaseId}`]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}
