/**
 * google.datastore.v1.Key: from bytes to the model and back.
 *
 *   Key   partition_id 1 {project_id 2, database_id 3, namespace_id 4}, path 2 {kind 1, oneof id 2 / name 3}
 *
 * Decoding checks the form, and the number of path elements before it makes them: an element without id and name is incomplete; an id 0 and
 * an empty name are kept, and refused by validate-key.ts. Measured: a key without a project is in the request's project and database; a key with a project but no
 * database is in the default database of that project.
 */
import { invalidArgument } from '../errors.ts'
import type { DatabaseName, Key, PartitionId, PathElement } from '../model/key.ts'
import { countedMax, partLimits } from '../part-limits.ts'
import { internField } from './interned-text.ts'
import { recentPartition } from './recent-partitions.ts'
import { WireReader, WireWriter, wireBytes } from './wire.ts'

const { pathElements } = partLimits

/** Project and database of the request, for keys that name none. */
export type KeyDefaults = DatabaseName

/** For stored bytes: the empty parts of their keys were filled when they were stored. */
export const noDefaults: KeyDefaults = { projectId: '', databaseId: '' }

/** The partition with the request's project and database, if it has no project; else the same object. */
export function fillPartition(partition: PartitionId, defaults: KeyDefaults): PartitionId {
  const { projectId, databaseId, namespaceId } = partition
  return projectId === '' ? filled(databaseId, namespaceId, defaults) : partition
}

function filled(databaseId: string, namespaceId: string, defaults: KeyDefaults): PartitionId {
  return recentPartition(defaults.projectId, databaseId === '' ? defaults.databaseId : databaseId, namespaceId)
    .partition
}

/** The key with its partition filled; the same object if it was complete. */
export function fillKey(key: Key, defaults: KeyDefaults): Key {
  const partition = fillPartition(key.partition, defaults)
  return partition === key.partition ? key : { partition, path: key.path }
}

/** Reads the Key that fills [reader.position, reader.end), and fills its partition; without defaults it stays as it is. */
export function readKey(reader: WireReader, defaults: KeyDefaults = noDefaults): Key {
  let projectId = ''
  let databaseId = ''
  let namespaceId = ''
  // Made with the first element: V8 gives an empty array that grows room for 17.
  let path: PathElement[] | undefined
  let tooMany = 0
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 2) {
      reader.expect(tag, wireBytes, 'a path element')
      if (path === undefined) path = [readPathElement(reader)]
      else if (path.length < pathElements.max) path.push(readPathElement(reader))
      else {
        reader.skip(tag)
        if (++tooMany > countedMax) break
      }
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
        const text = internField(reader, inner, 'a part of the partition of a key')
        if (part === 2) projectId = text
        else if (part === 3) databaseId = text
        else namespaceId = text
      }
      reader.end = outerEnd
    } else reader.skip(tag)
  }
  if (tooMany > 0) throw pathElements.refusal(pathElements.max + tooMany)
  if (path === undefined)
    throw invalidArgument('a key has no path elements; it needs at least a kind', 'Key path is empty.')
  // Without one of no project, which would take a place among the few recent partitions.
  const partition =
    projectId === ''
      ? filled(databaseId, namespaceId, defaults)
      : recentPartition(projectId, databaseId, namespaceId).partition
  return { partition, path }
}

function readPathElement(reader: WireReader): PathElement {
  const outerEnd = reader.end
  reader.end = reader.length() + reader.position
  let kind = ''
  let id: bigint | undefined
  let name: string | undefined
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 1) kind = internField(reader, tag, 'the kind of a key')
    else if (field === 2) {
      id = reader.int64(tag, 'an id')
      name = undefined
    } else if (field === 3) {
      name = reader.text(tag, 'the name of a key')
      id = undefined
    } else reader.skip(tag)
  }
  reader.end = outerEnd
  return id !== undefined ? { kind, id } : name !== undefined ? { kind, name } : { kind }
}

/** Decodes a google.datastore.v1.Key, perhaps incomplete. INVALID_ARGUMENT for malformed bytes and an empty path. */
export function decodeKey(bytes: Uint8Array, defaults: KeyDefaults): Key {
  return readKey(new WireReader(bytes), defaults)
}

/** The keys in a field of a request, in order. A key with the same bytes as the one before is the same object. */
export function decodeKeys(request: Uint8Array, field: number, defaults: KeyDefaults): Key[] {
  const reader = new WireReader(request)
  const { bytes, end } = reader
  const keys: Key[] = []
  let [keyAt, keyEnd] = [0, 0]
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag >>> 3 !== field || (tag & 7) !== wireBytes) {
      reader.skip(tag)
      continue
    }
    reader.end = reader.length() + reader.position
    const { position: at, end: next } = reader
    const last = keys[keys.length - 1]
    const isSame = next - at === keyEnd - keyAt && areSame(bytes, keyAt, at, next - at)
    keys.push(isSame && last !== undefined ? last : readKey(reader, defaults))
    ;[keyAt, keyEnd] = [at, next]
    reader.position = next
    reader.end = end
  }
  return keys
}

/** Compares from the end, where keys mostly differ. */
function areSame(bytes: Buffer, one: number, other: number, length: number): boolean {
  for (let i = length - 1; i >= 0; i--) if (bytes[one + i] !== bytes[other + i]) return false
  return true
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

export function encodeKey(key: Key): Uint8Array {
  const writer = new WireWriter()
  writeKey(writer, key)
  return writer.finish()
}
