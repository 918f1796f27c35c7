/**
 * Keys in the form of App Engine's v3 API, as in exports.
 *
 *   Reference         app 13, path 14 (a Path), namespace 20, database 23            the key of an entity
 *   Path              group 1 { kind 2, id 3, name 4 }*                              root first
 *   ReferenceValue    app 13, group 14 { kind 15, id 16, name 17 }*, namespace 20, database 23       a key as a value
 *
 * `app` is the project; production prefixes it with a letter for the kind of store: `s~project`. An embedded entity without a
 * key has a Reference with an empty app and an empty path.
 *
 * Measured: all field numbers, on files of both of Google's emulators. Believed: the letters of production.
 */
import { type WireReader, type WireWriter, wireBytes } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import type { Key, PathElement } from '../model/key.ts'

/** Writes a group, between the tags of its start and its end; all groups here have field numbers below 16. */
export function writeGroup(writer: WireWriter, field: number, writeContent: () => void): void {
  writer.raw(Uint8Array.of((field << 3) | 3))
  writeContent()
  writer.raw(Uint8Array.of((field << 3) | 4))
}

interface ElementFields {
  readonly group: number
  readonly kind: number
  readonly id: number
  readonly name: number
}

const pathFields: ElementFields = { group: 1, kind: 2, id: 3, name: 4 }
const valueFields: ElementFields = { group: 14, kind: 15, id: 16, name: 17 }

/** Writes the fields of a Reference; those of an empty one without a key. */
export function writeReference(writer: WireWriter, key: Key | undefined): void {
  writer.text(13, key?.partition.projectId ?? '')
  const path = writer.open(14)
  for (const element of key?.path ?? []) writeElement(writer, element, pathFields)
  writer.close(path)
  if (key !== undefined) writeRest(writer, key)
}

/** Writes the Path of the root alone, which is the entity group; nothing without a key, or for an incomplete root. */
export function writeEntityGroup(writer: WireWriter, key: Key | undefined): void {
  const root = key?.path[0]
  if (root !== undefined && (root.id !== undefined || root.name !== undefined)) writeElement(writer, root, pathFields)
}

function writeElement(writer: WireWriter, { kind, id, name }: PathElement, fields: ElementFields): void {
  writeGroup(writer, fields.group, () => {
    writer.text(fields.kind, kind)
    if (id !== undefined) writer.int64(fields.id, id)
    else if (name !== undefined) writer.text(fields.name, name)
  })
}

export function writeReferenceValue(writer: WireWriter, key: Key): void {
  writer.text(13, key.partition.projectId)
  for (const element of key.path) writeElement(writer, element, valueFields)
  writeRest(writer, key)
}

function writeRest(writer: WireWriter, { partition: { namespaceId, databaseId } }: Key): void {
  if (namespaceId !== '') writer.text(20, namespaceId)
  if (databaseId !== '') writer.text(23, databaseId)
}

/** Calls `look` for each field up to the end of the message, or with `group` up to the end of that group. */
export function eachField(reader: WireReader, group: number, look: (tag: number, field: number) => void): void {
  const endTag = group === 0 ? 0 : (group << 3) | 4
  for (;;) {
    const tag = reader.tag()
    if (tag === endTag) return
    if (tag === 0) throw reader.malformed(reader.position, `the group of field ${group} is not closed`)
    look(tag, tag >>> 3)
  }
}

/** Calls `look` with the reader limited to the next message. @returns its result */
export function inMessage<T>(reader: WireReader, tag: number, what: string, look: () => T): T {
  reader.expect(tag, wireBytes, what)
  const outer = reader.end
  const end = reader.length() + reader.position
  reader.end = end
  const result = look()
  reader.position = end
  reader.end = outer
  return result
}

function startsElement(tag: number, { group }: ElementFields): boolean {
  return tag === ((group << 3) | 3)
}

function readElement(reader: WireReader, fields: ElementFields): PathElement {
  let kind = ''
  let id: bigint | undefined
  let name: string | undefined
  eachField(reader, fields.group, (tag, field) => {
    if (field === fields.kind) kind = reader.text(tag, 'the kind of a key')
    else if (field === fields.id) id = reader.int64(tag, 'the id of a key')
    else if (field === fields.name) name = reader.text(tag, 'the name of a key')
    else reader.skip(tag)
  })
  // An id of 0 and an empty name mean none.
  return id !== undefined && id !== 0n ? { kind, id } : name !== undefined && name !== '' ? { kind, name } : { kind }
}

/** `s~project` → `project`. */
function projectOfApp(app: string): string {
  return /^[a-z]~/.test(app) ? app.slice(2) : app
}

/** `undefined` if its path is empty. */
export function readReference(reader: WireReader): Key | undefined {
  const read = new ReferenceParts()
  eachField(reader, 0, (tag, field) => {
    if (field !== 14) read.rest(reader, tag, field)
    else {
      inMessage(reader, tag, 'the path of a key', () => {
        eachField(reader, 0, (inner) => {
          if (startsElement(inner, pathFields)) read.path.push(readElement(reader, pathFields))
          else reader.skip(inner)
        })
      })
    }
  })
  return read.path.length === 0 ? undefined : read.key()
}

/** Reads the group `group` of a ReferenceValue. */
export function readReferenceValue(reader: WireReader, group: number): Key {
  const read = new ReferenceParts()
  eachField(reader, group, (tag, field) => {
    if (startsElement(tag, valueFields)) read.path.push(readElement(reader, valueFields))
    else read.rest(reader, tag, field)
  })
  if (read.path.length === 0) throw invalidArgument('a key value has no path elements')
  return read.key()
}

class ReferenceParts {
  readonly path: PathElement[] = []
  #app = ''
  #namespace = ''
  #database = ''

  rest(reader: WireReader, tag: number, field: number): void {
    if (field === 13) this.#app = reader.text(tag, 'the application of a key')
    else if (field === 20) this.#namespace = reader.text(tag, 'the namespace of a key')
    else if (field === 23) this.#database = reader.text(tag, 'the database of a key')
    else reader.skip(tag)
  }

  key(): Key {
    const partition = { projectId: projectOfApp(this.#app), databaseId: this.#database, namespaceId: this.#namespace }
    return { partition, path: this.path }
  }
}
