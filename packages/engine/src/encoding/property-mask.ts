/**
 * Property masks: the properties that an answer returns or a write replaces.
 *
 *   ["a", "e.x", "e.f.y"]   →   a: whole    e: { x: whole    f: { y: whole } }          "e" beside "e.x" is e as a whole
 *
 * With the mask ["e.x"], a write of {e: {x: 2}} to {a: 1, e: {x: 1, y: 1}} leaves {a: 1, e: {x: 2, y: 1}}. Without a written e.x it leaves
 * {a: 1, e: {y: 1}}. If the stored e is no entity, it is replaced by one; if the written e is none, the write counts as without it. A read
 * gives nothing where a path goes through a number or an array. Parts that need no change are copied as bytes.
 *
 * Known: comments of google.datastore.v1. Measured on the newer of Google's emulators: the cases; embedded entities keep their key and
 * flags in a write, and lose the key in a read of a part of them.
 */
import { Buffer } from 'node:buffer'
import { EntityWalk, entityField } from './entity-walk.ts'
import { parsePropertyPath } from './property-path.ts'
import { type ByteRange, readValue, ValueSlot } from './value-slot.ts'
import { valueField } from './value-types.ts'
import { WireReader, WireWriter } from './wire.ts'

export interface PropertyMask {
  readonly parts: ReadonlyMap<string, MaskPart>
}

/** A whole property, or some properties of the entity in it. */
export type MaskPart = 'whole' | PropertyMask

interface MutableMask extends PropertyMask {
  readonly parts: Map<string, 'whole' | MutableMask>
}

const nothing: Uint8Array = new Uint8Array(0)

/** Parses the paths of a mask; `__key__` has no effect. INVALID_ARGUMENT for a bad path or a reserved name. */
export function parsePropertyMask(paths: readonly string[]): PropertyMask {
  const mask: MutableMask = { parts: new Map() }
  for (const text of paths) {
    if (text === '__key__') continue
    const path = parsePropertyPath(text, 'the property mask')
    let parent = mask
    for (const [i, name] of path.entries()) {
      const part = parent.parts.get(name)
      if (part === 'whole') break
      if (i === path.length - 1) parent.parts.set(name, 'whole')
      else if (part !== undefined) parent = part
      else {
        const inner: MutableMask = { parts: new Map() }
        parent.parts.set(name, inner)
        parent = inner
      }
    }
  }
  return mask
}

/** The properties under the mask; a view of the given bytes if those left are whole and side by side. */
export function cutProperties(properties: Uint8Array, { parts }: PropertyMask): Uint8Array {
  if (parts.size === 0) return nothing
  const walk = new EntityWalk(new WireReader(properties))
  const { bytes } = walk.reader
  const pieces: Uint8Array[] = []
  // A run of fields side by side is one piece: joining pieces takes longer than the walk.
  let runStart = 0
  let runEnd = 0
  const endRun = (): void => {
    if (runEnd > runStart) pieces.push(bytes.subarray(runStart, runEnd))
    runStart = runEnd
  }
  // Stored bytes name a property once, so the loop ends when all parts are found.
  for (let missing = parts.size; missing > 0 && walk.nextProperty(); ) {
    const part = parts.get(walk.name().text)
    if (part === undefined) continue
    missing--
    if (part === 'whole') {
      if (runEnd !== walk.fieldStart) {
        endRun()
        runStart = walk.fieldStart
      }
      runEnd = walk.fieldEnd
    } else {
      const { entry } = walk
      endRun()
      pieces.push(cutProperty(bytes.subarray(entry.nameStart, entry.nameEnd), entry, part) ?? nothing)
    }
  }
  endRun()
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
}

/** One property, reduced to the mask's part of its entity; `undefined` if nothing is left or the value is no entity. */
function cutProperty(name: Uint8Array, value: ByteRange, mask: PropertyMask): Uint8Array | undefined {
  const entity = entityIn(value)
  if (entity === undefined) return undefined
  const content = cutProperties(contentOf(entity), mask)
  return content.length === 0 ? undefined : entityProperty(name, entity, content)
}

function entityIn(value: ByteRange): ValueSlot | undefined {
  const slot = new ValueSlot(value.bytes)
  readValue(new WireReader(value.bytes, value.start, value.end), slot)
  return slot.member === valueField.entity ? slot : undefined
}

function contentOf({ bytes, start, end }: ByteRange): Uint8Array {
  return bytes.subarray(start, end)
}

/** @param content - the fields of the Entity, its key included */
function entityProperty(name: Uint8Array, { meaning, excluded }: ValueSlot, content: Uint8Array): Uint8Array {
  const writer = new WireWriter()
  const at = writer.open(entityField.properties)
  writer.bytes(1, name)
  const valueAt = writer.open(2)
  writer.bytes(valueField.entity, content)
  if (meaning !== 0) writer.int64(valueField.meaning, BigInt(meaning))
  if (excluded) writer.uint32(valueField.excludeFromIndexes, 1)
  writer.close(valueAt)
  writer.close(at)
  return writer.finish()
}

/** A field of an Entity. If it is no property, it has no name, and the bytes of name and value mean nothing. */
export interface EntityField {
  readonly name: string | undefined
  readonly nameBytes: Uint8Array
  readonly field: Uint8Array
  readonly value: ByteRange
}

export function entityFields(entity: Uint8Array): EntityField[] {
  const walk = new EntityWalk(new WireReader(entity))
  const { entry, reader } = walk
  const { bytes } = reader
  const fields: EntityField[] = []
  for (let number = walk.next(); number !== 0; number = walk.next()) {
    fields.push({
      name: number === entityField.properties ? walk.name().text : undefined,
      nameBytes: bytes.subarray(entry.nameStart, entry.nameEnd),
      field: bytes.subarray(walk.fieldStart, walk.fieldEnd),
      value: { bytes: entry.bytes, start: entry.start, end: entry.end },
    })
  }
  return fields
}

/**
 * The result of a masked write to a stored entity. For an absent one the result is {@link cutProperties}.
 *
 * @param stored - fields of an Entity, each property named once
 * @param written - the same, from the request
 */
export function mergeProperties(stored: Uint8Array, written: Uint8Array, mask: PropertyMask): Uint8Array {
  const { parts } = mask
  if (parts.size === 0) return stored
  const fresh = new Map<string, EntityField>()
  for (const field of entityFields(written)) {
    if (field.name !== undefined && parts.has(field.name)) fresh.set(field.name, field)
  }
  const writer = new WireWriter()
  for (const field of entityFields(stored)) {
    const part = field.name === undefined ? undefined : parts.get(field.name)
    if (field.name === undefined || part === undefined) {
      writer.raw(field.field)
      continue
    }
    const instead = fresh.get(field.name)
    fresh.delete(field.name)
    if (part === 'whole') {
      if (instead !== undefined) writer.raw(instead.field)
    } else writer.raw(mergeProperty(field, instead, part))
  }
  for (const field of fresh.values()) {
    const part = parts.get(field.name ?? '')
    if (part === 'whole') writer.raw(field.field)
    else if (part !== undefined) writer.raw(cutProperty(field.nameBytes, field.value, part) ?? nothing)
  }
  return writer.finish()
}

function mergeProperty(stored: EntityField, written: EntityField | undefined, mask: PropertyMask): Uint8Array {
  const entity = entityIn(stored.value)
  if (entity === undefined) {
    const created = written === undefined ? undefined : cutProperty(written.nameBytes, written.value, mask)
    return created ?? stored.field
  }
  const fresh = written === undefined ? undefined : entityIn(written.value)
  const content = mergeProperties(contentOf(entity), fresh === undefined ? nothing : contentOf(fresh), mask)
  return entityProperty(stored.nameBytes, entity, content)
}
