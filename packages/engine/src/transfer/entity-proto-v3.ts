/**
 * Entities in the form of App Engine's v3 API: the records of an export.
 *
 *   EntityProto   key 13 (Reference), indexed property 14*, excluded property 15*, entity group 16 (Path)
 *                 exact form 50001*       of a property that v3 cannot express: its entry in a google.datastore.v1.Entity
 *
 * Such a property is written twice. Other readers ignore field 50001 and read the v3 form; ours prefers the exact form, so that
 * nothing is lost (test/property/entity-proto-v3.test.ts).
 *
 * Measured: fields 13–16, and that Google's emulators ignore 50001. Ours: 50001, in a range for private use.
 */
import { decodeProperties, writeProperty as writePropertyEntry } from '../encoding/entity-codec.ts'
import { WireReader, WireWriter, wireBytes } from '../encoding/wire.ts'
import { invalidArgument } from '../errors.ts'
import type { Key } from '../model/key.ts'
import type { EntityValue, Properties, Value } from '../model/value.ts'
import { runAtOnce } from '../slices.ts'
import { type EntityForm, propertyFields, readProperty, writeProperty } from './property-v3.ts'
import { inMessage, readReference, writeEntityGroup, writeReference } from './reference-v3.ts'

const asWeHaveIt = 50_001

/** Valid entities nest at most 20 deep; deeper ones than this are not read. */
const depthMax = 100

export interface DecodedEntity {
  readonly key: Key
  readonly properties: Properties
}

/** The record of an entity, in steps that yield the number of their values. */
export function* encodeEntityProto(key: Key, properties: Properties): Generator<number, Uint8Array> {
  const writer = new WireWriter()
  const inexact: [string, Value][] = []
  yield* writeEntity(writer, key, properties, (name, value) => inexact.push([name, value]))
  for (const [name, value] of inexact) {
    // The entry is a field of an Entity; its content is stored.
    const at = writer.open(asWeHaveIt)
    writePropertyEntry(writer, name, value)
    writer.close(at)
  }
  return writer.finish()
}

function* writeEntity(
  writer: WireWriter,
  key: Key | undefined,
  properties: Properties,
  onInexact: (name: string, value: Value) => void,
): Generator<number, void> {
  const keyAt = writer.open(13)
  writeReference(writer, key)
  writer.close(keyAt)
  for (const [name, value] of properties) {
    if (!(yield* writeProperty(writer, name, value, form))) onInexact(name, value)
  }
  const groupAt = writer.open(16)
  writeEntityGroup(writer, key)
  writer.close(groupAt)
}

/** Embedded entities: the same message, without the exact forms. */
const form: EntityForm = {
  write(writer, field, { key, properties }) {
    let exact = true
    const at = writer.open(field)
    runAtOnce(
      writeEntity(writer, key, properties, () => {
        exact = false
      }),
    )
    writer.close(at)
    return exact
  },
  read(bytes, start, end, depth): EntityValue {
    if (depth > depthMax) throw invalidArgument(`entities are nested deeper than ${depthMax}`)
    const { key, properties } = runAtOnce(readEntity(new WireReader(bytes, start, end), depth))
    return key === undefined ? { type: 'entity', properties } : { type: 'entity', key, properties }
  },
}

/** The entity of a record, in steps that yield the number of their values. @throws DatastoreError INVALID_ARGUMENT for malformed bytes */
export function* decodeEntityProto(record: Uint8Array): Generator<number, DecodedEntity> {
  const { key, properties } = yield* readEntity(new WireReader(record), 0)
  if (key === undefined) throw invalidArgument('the entity has no key')
  return { key, properties }
}

interface ReadEntity {
  readonly key: Key | undefined
  readonly properties: Map<string, Value>
}

function* readEntity(reader: WireReader, depth: number): Generator<number, ReadEntity> {
  let key: Key | undefined
  const collector = new PropertyCollector()
  const { properties } = collector
  const kept: Uint8Array[] = []
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    const field = tag >>> 3
    if (field === 13) {
      inMessage(reader, tag, 'the key of an entity', () => {
        key = readReference(reader)
      })
    } else if (field === propertyFields.indexed || field === propertyFields.excluded) {
      inMessage(reader, tag, 'a property', () => {
        const { name, multiple, value } = readProperty(reader, field === propertyFields.excluded, form, depth)
        collector.add(name, value, multiple)
      })
    } else if (field === asWeHaveIt) {
      reader.expect(tag, wireBytes, 'a kept property')
      const end = reader.length() + reader.position
      kept.push(reader.bytes.subarray(reader.position, end))
      reader.position = end
    } else reader.skip(tag)
    yield 1
  }
  if (kept.length > 0) for (const [name, value] of decodeProperties(Buffer.concat(kept))) properties.set(name, value)
  return { key, properties }
}

/** Values by property name, in order. A repeated name is an array, marked or not. */
class PropertyCollector {
  readonly properties: Map<string, Value> = new Map()
  /** The elements of the arrays. */
  readonly #arrays = new Map<string, Value[]>()

  add(name: string, value: Value, multiple: boolean): void {
    const before = this.properties.get(name)
    if (before === undefined && !(multiple && value.type !== 'array')) {
      this.properties.set(name, value)
      return
    }
    let elements = this.#arrays.get(name)
    if (elements === undefined) {
      elements = before === undefined ? [] : before.type === 'array' ? [...before.values] : [before]
      this.#arrays.set(name, elements)
      this.properties.set(name, { type: 'array', values: elements })
    }
    if (value.type === 'array') elements.push(...value.values)
    else elements.push(value)
  }
}
