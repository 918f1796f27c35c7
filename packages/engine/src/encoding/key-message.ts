/**
 * google.datastore.v1.Key as bytes, to the model and back.
 *
 *   Key   partition_id 1 {project_id 2, database_id 3, namespace_id 4}, path 2 {kind 1, oneof id 2 / name 3}
 *
 * Decoding checks the form alone: well-formed bytes and UTF-8, a path that is not empty. An element with neither id nor
 * name is incomplete; an id 0 and an empty name are kept for validate-key.ts to refuse.
 *
 * Known: google/datastore/v1/entity.proto. Measured: a key without project and database is in those of the request; one that
 * names its project and no database is in the default database of that project.
 */
import { invalidArgument } from '../errors.ts'
import type { Key, PartitionId, PathElement } from '../model/key.ts'
import { internText } from './interned-text.ts'
import { recentPartition } from './recent-partitions.ts'
import { int64FromHalves, readText, WireReader, WireWriter, wireBytes, wireVarint } from './wire.ts'

/** Project and database of the request, for keys in which they are empty. */
export type KeyDefaults = Pick<PartitionId, 'projectId' | 'databaseId'>

/**
 * The partition with its project and database filled in where it has no project; the same object where it has one. The
 * empty database of a named project is its default database.
 */
export function fillPartition(partition: PartitionId, defaults: KeyDefaults): PartitionId {
  const { projectId, databaseId, namespaceId } = partition
  if (projectId !== '') return partition
  return recentPartition(defaults.projectId, databaseId === '' ? defaults.databaseId : databaseId, namespaceId)
    .partition
}

/** The key in its filled partition; the same object when nothing was missing. */
export function fillKey(key: Key, defaults: KeyDefaults): Key {
  const partition = fillPartition(key.partition, defaults)
  return partition === key.partition ? key : { partition, path: key.path }
}

/** Reads the Key that fills [reader.position, reader.end), as it is. */
export function readKey(reader: WireReader): Key {
  const { bytes } = reader
  let projectId = ''
  let databaseId = ''
  let namespaceId = ''
  // An empty list that is added to gets room for 17.
  let path: PathElement[] | undefined
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 2) {
      reader.expect(tag, wireBytes, 'a path element')
      const element = readPathElement(reader)
      if (path === undefined) path = [element]
      else path.push(element)
    } else if (field === 1) {
      reader.expect(tag, wireBytes, 'a partition')
      const outerEnd = reader.end
      reader.end = reader.length() + reader.position
      for (let inner = reader.tag(); inner !== 0; inner = reader.tag()) {
        const part = inner >>> 3
        if (part < 2 || part > 4) {
          reader.skip(inner)
          continue
        }
        reader.expect(inner, wireBytes, 'a part of a partition')
        const end = reader.length() + reader.position
        const { text } = internText(bytes, reader.position, end, 'the partition of a key')
        reader.position = end
        if (part === 2) projectId = text
        else if (part === 3) databaseId = text
        else namespaceId = text
      }
      reader.end = outerEnd
    } else reader.skip(tag)
  }
  if (path === undefined)
    throw invalidArgument('a key has no path elements; it needs at least a kind', 'Key path is empty.')
  return { partition: recentPartition(projectId, databaseId, namespaceId).partition, path }
}

function readPathElement(reader: WireReader): PathElement {
  const { bytes } = reader
  const outerEnd = reader.end
  reader.end = reader.length() + reader.position
  let kind = ''
  let id: bigint | undefined
  let name: string | undefined
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 1) {
      reader.expect(tag, wireBytes, 'a kind')
      const end = reader.length() + reader.position
      kind = internText(bytes, reader.position, end, 'the kind of a key').text
      reader.position = end
    } else if (field === 2) {
      reader.expect(tag, wireVarint, 'an id')
      reader.varint()
      id = int64FromHalves(reader.low, reader.high)
      name = undefined
    } else if (field === 3) {
      reader.expect(tag, wireBytes, 'a name')
      const end = reader.length() + reader.position
      name = readText(bytes, reader.position, end, 'the name of a key')
      reader.position = end
      id = undefined
    } else reader.skip(tag)
  }
  reader.end = outerEnd
  return id !== undefined ? { kind, id } : name !== undefined ? { kind, name } : { kind }
}

/**
 * A google.datastore.v1.Key, with empty parts of its partition filled from `defaults`. Its last element may be incomplete.
 * INVALID_ARGUMENT for bytes that are no key, and for an empty path.
 */
export function decodeKey(bytes: Uint8Array, defaults: KeyDefaults): Key {
  return fillKey(readKey(new WireReader(bytes)), defaults)
}

export function writeKey(writer: WireWriter, key: Key): void {
  const { projectId, databaseId, namespaceId } = key.partition
  if (projectId !== '' || databaseId !== '' || namespaceId !== '') {
    const partition = writer.open(1)
    if (projectId !== '') writer.text(2, projectId)
    if (databaseId !== '') writer.text(3, databaseId)
    if (namespaceId !== '') writer.text(4, namespaceId)
    writer.close(partition)
  }
  for (const element of key.path) {
    const at = writer.open(2)
    if (element.kind !== '') writer.text(1, element.kind)
    if (element.id !== undefined) writer.int64(2, element.id)
    else if (element.name !== undefined) writer.text(3, element.name)
    writer.close(at)
  }
}

/** The key as a google.datastore.v1.Key. */
export function encodeKey(key: Key): Uint8Array {
  const writer = new WireWriter()
  writeKey(writer, key)
  return writer.finish()
}
