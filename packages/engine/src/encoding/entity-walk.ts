/**
 * The fields of an Entity, one after the other, without decoding what is in them. Every loop over the properties of stored
 * bytes is this walk: index entries, masks, statistics, vectors, the decoder.
 *
 *   const walk = new EntityWalk(reader)
 *   while (walk.nextProperty()) { walk.name().text … readValue(readerOf(walk.entry, walk.reader), slot) … }
 *
 * EW1  The walk goes on behind the field at hand, wherever its caller has moved the reader.   entity-walk.test.ts
 * EW2  Fields that are neither key nor properties are passed over, with any wire type.        entity-walk.test.ts
 *
 * Known: google/datastore/v1/entity.proto for the numbers.
 */
import { type InternedText, internText } from './interned-text.ts'
import { type PropertyEntry, propertyEntry, readPropertyEntry } from './value-slot.ts'
import { type WireReader, wireBytes } from './wire.ts'

/** Field numbers of Entity. */
export const entityField = { key: 1, properties: 3 } as const

export class EntityWalk {
  readonly reader: WireReader
  /** The property at hand: where its name and its Value are. The same object for all. */
  readonly entry: PropertyEntry
  /** Bounds of the field at hand, its tag included. */
  fieldStart: number
  fieldEnd: number
  readonly #end: number

  /** Walks the fields that fill [reader.position, reader.end). */
  constructor(reader: WireReader) {
    this.reader = reader
    this.entry = propertyEntry(reader.bytes)
    this.fieldStart = reader.position
    this.fieldEnd = reader.position
    this.#end = reader.end
  }

  /**
   * Goes on to the next field and gives its number; 0 at the end. Of a property {@link entry} is read; of a key the reader
   * stands before its Key, which ends at {@link fieldEnd}.
   */
  next(): number {
    const { reader } = this
    reader.position = this.fieldEnd
    reader.end = this.#end
    this.fieldStart = reader.position
    const tag = reader.tag()
    const field = tag >>> 3
    if (field === entityField.properties) {
      reader.expect(tag, wireBytes, 'a property')
      this.#enter()
      readPropertyEntry(reader, this.entry)
    } else if (field === entityField.key) {
      reader.expect(tag, wireBytes, 'the key of an entity')
      this.#enter()
    } else if (field !== 0) {
      reader.skip(tag)
      this.fieldEnd = reader.position
    }
    return field
  }

  /** Goes on to the next property, past other fields; false at the end. */
  nextProperty(): boolean {
    let field = this.next()
    while (field !== entityField.properties && field !== 0) field = this.next()
    return field !== 0
  }

  /** The name of the property at hand. INVALID_ARGUMENT unless it is UTF-8. */
  name(): InternedText {
    return internText(this.reader.bytes, this.entry.nameStart, this.entry.nameEnd, 'a property name')
  }

  #enter(): void {
    const { reader } = this
    this.fieldEnd = reader.length() + reader.position
    reader.end = this.fieldEnd
  }
}
