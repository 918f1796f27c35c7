/**
 * The index entries of an entity, found by a walk over its bytes.
 *
 *   plain value            one entry for its property           excluded value      none, also inside an embedded entity
 *   array                  one for each distinct element        empty array         none; null on request (legacy mode)
 *   embedded entity        its leaves, such as `address.city`   user (meaning 20)   one for the whole user
 *   vector (meaning 31)    none
 *
 * `tags = ["a", "b", "a"]` has two entries, tags="a" and tags="b", both marked `multi`. In an array of entities the leaves share one
 * path; a property that is literally named `address.city` shares it too. Entries are distinct by property and value code.
 *
 * validate-entity.ts uses the same walk, through {@link WalkChecks}, so that a write and the stored bytes have the same entries
 * (test/property/entity-index.test.ts). Stored bytes name each property once per level.
 *
 * Measured on Google's emulators: the table. They differ in one case: only the older one shares a path between the elements of an
 * entity array.
 */
import { invalidArgument } from '../errors.ts'
import { limits } from '../limits.ts'
import { type IndexableValue, userMeaning, vectorMeaning } from '../model/value.ts'
import { memberIn, noDefaults } from './entity-codec.ts'
import { EntityWalk, entityField } from './entity-walk.ts'
import type { KeyDefaults } from './key-message.ts'
import { nullCode, valueCode } from './value-codec.ts'
import { type ByteRange, eachElement, type PropertyEntry, readerOf, readValue, ValueSlot } from './value-slot.ts'
import { typeByteOfMember, typeBytes, valueField } from './value-types.ts'
import { WireReader } from './wire.ts'

export interface IndexEntry {
  /** The property's name; a dotted path for a nested one (`address.city`). */
  readonly property: string
  /** The order-preserving code of the value (value-codec.ts), as in the row key. */
  readonly valueCode: string
  /** The original type, 0 null … 9 key (`typeBytes` in value-types.ts). */
  readonly type: number
  /** Whether the property has other entries in this entity. */
  readonly multi: boolean
}

export interface IndexOptions {
  /** Legacy mode: an empty array is indexed as null. Default: it is not indexed. */
  readonly emptyArrayAsNull?: boolean
}

/** Checks during the walk, for validation. Each may throw. `property` is the dotted path. */
export interface WalkChecks {
  /** @param siblings - the names before it in the same entity */
  name(name: string, property: string, siblings: Set<string>): void
  /** Called before the payload of the value is read. */
  value(slot: ValueSlot, outer: WireReader, property: string, inArray: boolean): void
  key(range: ByteRange, outer: WireReader, use: 'embedded'): void
  /** Called at the end of a top-level property, with its field and the parts of the map entry. */
  propertyEnd(fieldStart: number, fieldEnd: number, entry: PropertyEntry, name: string): void
}

const noNames: Set<string> = new Set()

interface MutableEntry extends IndexEntry {
  multi: boolean
}

export class IndexWalk {
  readonly #entries: MutableEntry[] = []
  readonly #emptyArrayAsNull: boolean
  readonly #checks: WalkChecks | undefined
  readonly #defaults: KeyDefaults
  /** If given, only entries of this property are needed; others may be missing. */
  readonly #only: string | undefined
  #mayRepeat = false

  /** @param defaults - the request's database, for keys that name none */
  constructor(options: IndexOptions, checks: WalkChecks | undefined, defaults: KeyDefaults, only?: string) {
    this.#emptyArrayAsNull = options.emptyArrayAsNull === true
    this.#checks = checks
    this.#defaults = defaults
    this.#only = only
  }

  /**
   * Walks the properties that fill [reader.position, reader.end).
   *
   * @param prefix - dotted path of the entity with a dot at its end; empty at the top level
   * @param indexed - false inside an excluded value
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
    const names = checks === undefined ? noNames : new Set<string>()
    const only = depth === 0 ? this.#only : undefined
    for (let field = walk.next(); field !== 0; field = walk.next()) {
      if (field === entityField.key) {
        checks?.key({ bytes: reader.bytes, start: reader.position, end: walk.fieldEnd }, reader, 'embedded')
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
        if (slot.meaning !== userMeaning) {
          this.properties(readerOf(slot, reader), `${property}.`, live, depth + 1)
          return
        }
        // The fields of a user are validated like others, but the index entry is the whole user.
        if (checks !== undefined) this.properties(readerOf(slot, reader), `${property}.`, false, depth + 1)
    }
    if (!live) return
    const value = memberIn(slot, reader, property, this.#defaults, 0) as IndexableValue
    this.#add(property, valueCode(value), typeByteOfMember[slot.member] as number)
  }

  #array(reader: WireReader, property: string, indexed: boolean, depth: number): void {
    const slot = new ValueSlot(reader.bytes)
    const count = eachElement(reader, (element) => this.#value(element, reader, slot, property, indexed, depth, true))
    if (count > 1) this.#mayRepeat = true
    else if (count === 0 && indexed && this.#emptyArrayAsNull) this.#add(property, nullCode, typeBytes.null)
  }

  #add(property: string, valueCode: string, type: number): void {
    this.#entries.push({ property, valueCode, type, multi: false })
  }

  finish(): readonly IndexEntry[] {
    return this.#mayRepeat ? distinct(this.#entries) : this.#entries
  }
}

/** Whether the property `name` is `path`, or may contain it: `a` for the path `a.b`. */
function isOnTheWay(name: string, path: string): boolean {
  return path.startsWith(name) && (path.length === name.length || path.charAt(name.length) === '.')
}

function distinct(entries: readonly MutableEntry[]): MutableEntry[] {
  const codes = new Map<string, Set<string>>()
  const kept: MutableEntry[] = []
  let last: string | undefined
  let known = new Set<string>()
  for (const entry of entries) {
    // The values of an array follow each other.
    if (entry.property !== last) {
      last = entry.property
      known = codes.get(last) ?? new Set()
      codes.set(last, known)
    }
    const before = known.size
    if (known.add(entry.valueCode).size > before) kept.push(entry)
  }
  for (const entry of kept) entry.multi = (codes.get(entry.property)?.size ?? 0) > 1
  return kept
}

/** The index entries of stored property bytes, not validated. @param only - a dotted path: others may be missing */
export function indexEntries(properties: Uint8Array, options: IndexOptions = {}, only?: string): readonly IndexEntry[] {
  const walk = new IndexWalk(options, undefined, noDefaults, only)
  walk.properties(new WireReader(properties), '', true, 0)
  return walk.finish()
}
