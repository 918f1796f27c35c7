/**
 * The entries of an entity in the property indexes, found by walking its bytes.
 *
 *   plain value            its property, once
 *   excluded value         nothing, and nothing inside an excluded embedded entity
 *   array                  each element that is not excluded, once for each distinct value
 *   empty array            nothing; as null on request (legacy mode)
 *   vector (meaning 31)    nothing
 *   embedded entity        its leaves under dotted paths (`address.city`), pooled over an array of entities and with a
 *                          property whose name is that text
 *   user (meaning 20)      itself, as one value
 *
 * The same walk validates an entity when it is written: validate-entity.ts hooks in by {@link WalkChecks}.
 *
 * X1  Entries of one entity are distinct by (property, valueCode).                    finish()
 * X2  `multi` is true exactly if the property has more than one entry in the entity.   finish()
 * X3  What is found when an entity is written is what is found in its stored bytes.   test/property/entity-index.test.ts
 *
 * Stored bytes name each property once a level (validate-entity.ts sees to it), so that only arrays, and names with a dot,
 * can give one property several values. Measured on Google's emulators: what is indexed; where they differ, see the
 * reference page of differences. That elements of entity arrays are pooled is the older emulator's rule.
 */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { type EntityValue, userMeaning, vectorMeaning } from '../model/value.ts'
import { decodeValue, noDefaults } from './entity-codec.ts'
import { EntityWalk, entityField } from './entity-walk.ts'
import type { IndexEntry } from './index-entry.ts'
import type { KeyDefaults } from './key-message.ts'
import { slotCode } from './slot-code.ts'
import { nullCode } from './value-codec.ts'
import { type ByteRange, type PropertyEntry, readerOf, readTimestamp, readValue, ValueSlot } from './value-slot.ts'
import { typeByteOfMember, typeBytes, valueField } from './value-types.ts'
import { WireReader, wireBytes } from './wire.ts'

export interface IndexOptions {
  /** Legacy mode: an empty array is indexed as null. Default: it is not indexed. */
  readonly emptyArrayAsNull?: boolean
}

/** Checks of a validation along the walk. Each call may throw. `property` is the dotted path. */
export interface WalkChecks {
  /** A property's name, and the names before it in the same entity. */
  name(name: string, property: string, siblings: string[]): void
  /** A value before its payload is read. */
  value(slot: ValueSlot, outer: WireReader, property: string, inArray: boolean): void
  /** The key inside an embedded entity. */
  embeddedKey(range: ByteRange, outer: WireReader): void
  /** A top-level property is done: its field, and the parts of the map entry. */
  propertyEnd(fieldStart: number, fieldEnd: number, entry: PropertyEntry, name: string): void
}

interface MutableEntry extends IndexEntry {
  multi: boolean
}

/** Up to this many entries a search through all before is quicker than sets. */
const searchedEntriesMax = 24

const noNames: string[] = []

/** One walk over one entity. */
export class IndexWalk {
  readonly #entries: MutableEntry[] = []
  readonly #emptyArrayAsNull: boolean
  readonly #checks: WalkChecks | undefined
  readonly #defaults: KeyDefaults
  /** The only property whose entries are wanted; others may be left out. */
  readonly #only: string | undefined
  /** Whether two entries of one property are possible at all. */
  #mayRepeat = false

  /** @param defaults - what fills the empty parts of key values */
  constructor(options: IndexOptions, checks: WalkChecks | undefined, defaults: KeyDefaults, only?: string) {
    this.#emptyArrayAsNull = options.emptyArrayAsNull === true
    this.#checks = checks
    this.#defaults = defaults
    this.#only = only
  }

  /**
   * Walks the properties that fill [reader.position, reader.end).
   *
   * @param prefix - dotted path of the entity, with its last dot; empty at the top
   * @param indexed - false inside something excluded
   */
  properties(reader: WireReader, prefix: string, indexed: boolean, depth: number): void {
    if (depth > limits.embeddedEntityDepthMax) {
      throw invalidArgument(
        `entities are embedded deeper than ${limits.embeddedEntityDepthMax} levels at ${prefix}`,
        `At most ${limits.embeddedEntityDepthMax} nested entity values are supported.`,
      )
    }
    const checks = this.#checks
    const walk = new EntityWalk(reader)
    const slot = new ValueSlot(reader.bytes)
    const names: string[] = checks === undefined ? noNames : []
    const only = depth === 0 ? this.#only : undefined
    for (let field = walk.next(); field !== 0; field = walk.next()) {
      if (field === entityField.key) {
        checks?.embeddedKey({ bytes: reader.bytes, start: reader.position, end: walk.fieldEnd }, reader)
        continue
      }
      if (field !== entityField.properties) continue
      const name = walk.name()
      const property = prefix === '' ? name.text : prefix + name.text
      if (name.dotted) this.#mayRepeat = true
      checks?.name(name.text, property, names)
      if (only !== undefined && !isOnTheWay(name.text, only)) continue
      this.#value(walk.entry, reader, slot, property, indexed, depth, false)
      if (depth === 0) checks?.propertyEnd(walk.fieldStart, walk.fieldEnd, walk.entry, name.text)
    }
  }

  #value(
    range: ByteRange,
    outer: WireReader,
    slot: ValueSlot,
    property: string,
    indexed: boolean,
    depth: number,
    inArray: boolean,
  ): void {
    const reader = readerOf(range, outer)
    readValue(reader, slot)
    const live = indexed && !slot.excluded
    const checks = this.#checks
    if (checks === undefined) {
      if (!live) return
    } else checks.value(slot, reader, property, inArray)
    switch (slot.member) {
      case 0:
        return
      case valueField.array:
        if (!inArray && slot.meaning !== vectorMeaning) this.#array(readerOf(slot, reader), property, live, depth)
        return
      case valueField.entity:
        if (slot.meaning === userMeaning) this.#user(range, slot, reader, property, live, depth)
        else this.properties(readerOf(slot, reader), `${property}.`, live, depth + 1)
        return
      case valueField.timestamp:
        if (checks === undefined) readTimestamp(slot, reader, property)
    }
    if (live)
      this.#add(property, slotCode(slot, reader, this.#defaults, undefined), typeByteOfMember[slot.member] as number)
  }

  #array(reader: WireReader, property: string, indexed: boolean, depth: number): void {
    const { bytes, end } = reader
    const slot = new ValueSlot(bytes)
    let count = 0
    for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
      if (tag >>> 3 !== 1) {
        reader.skip(tag)
        continue
      }
      reader.expect(tag, wireBytes, 'an array element')
      const elementEnd = reader.length() + reader.position
      count++
      this.#value({ bytes, start: reader.position, end: elementEnd }, reader, slot, property, indexed, depth, true)
      reader.position = elementEnd
      reader.end = end
    }
    if (count > 1) this.#mayRepeat = true
    else if (count === 0 && indexed && this.#emptyArrayAsNull) this.#add(property, nullCode, typeBytes.null)
  }

  #user(
    range: ByteRange,
    slot: ValueSlot,
    reader: WireReader,
    property: string,
    indexed: boolean,
    depth: number,
  ): void {
    // Its fields are validated like any others, but only the user as a whole is indexed.
    if (this.#checks !== undefined) this.properties(readerOf(slot, reader), `${property}.`, false, depth + 1)
    if (!indexed) return
    const user = decodeValue(range.bytes.subarray(range.start, range.end), this.#defaults, property) as EntityValue
    this.#add(property, slotCode(slot, reader, this.#defaults, user), typeBytes.entity)
  }

  #add(property: string, valueCode: string, type: number): void {
    this.#entries.push({ property, valueCode, type, multi: false })
  }

  /** The entries in the order in which they were met; of equal ones the first. */
  finish(): readonly IndexEntry[] {
    const entries = this.#entries
    if (!this.#mayRepeat || entries.length < 2) return entries
    return entries.length <= searchedEntriesMax ? distinctBySearch(entries) : distinctBySets(entries)
  }
}

/** Whether a property of this name is `path`, or may have it inside. */
function isOnTheWay(name: string, path: string): boolean {
  return path.startsWith(name) && (path.length === name.length || path.charAt(name.length) === '.')
}

function distinctBySearch(entries: readonly MutableEntry[]): MutableEntry[] {
  const distinct: MutableEntry[] = []
  for (const entry of entries) {
    let equal = false
    for (const before of distinct) {
      if (before.property !== entry.property) continue
      if (before.valueCode === entry.valueCode) {
        equal = true
        break
      }
      before.multi = true
      entry.multi = true
    }
    if (!equal) distinct.push(entry)
  }
  return distinct
}

function distinctBySets(entries: readonly MutableEntry[]): MutableEntry[] {
  const codes = new Map<string, Set<string>>()
  const distinct: MutableEntry[] = []
  for (const entry of entries) {
    const known = codes.get(entry.property)
    if (known === undefined) codes.set(entry.property, new Set([entry.valueCode]))
    else if (known.has(entry.valueCode)) continue
    else known.add(entry.valueCode)
    distinct.push(entry)
  }
  for (const entry of distinct) entry.multi = (codes.get(entry.property)?.size ?? 0) > 1
  return distinct
}

/**
 * The index entries of stored property bytes. No value is validated.
 *
 * @param properties - `properties` fields of an Entity, as prepareEntity gave them out
 * @param only - a property, by its dotted path: its entries are wanted, and those of others may be missing
 */
export function indexEntries(properties: Uint8Array, options: IndexOptions = {}, only?: string): readonly IndexEntry[] {
  const walk = new IndexWalk(options, undefined, noDefaults, only)
  walk.properties(new WireReader(properties), '', true, 0)
  return walk.finish()
}
