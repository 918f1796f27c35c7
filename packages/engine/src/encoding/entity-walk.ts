/**
 * A walk over the fields of an Entity that does not decode them: for index entries, masks, statistics, vectors, the decoder.
 *
 *   const walk = new EntityWalk(reader)
 *   while (walk.nextProperty()) { walk.name().text … readValue(readerOf(walk.entry, walk.reader), slot) … }
 *
 * The caller may move the reader inside a field; next() continues behind that field anyway. Fields other than key and properties are
 * skipped, whatever their wire type.
 */
import { type InternedText, internText } from './interned-text.ts'
import { type PropertyEntry, readPropertyEntry } from './value-slot.ts'
import { type WireReader, wireBytes } from './wire.ts'

export const entityField = { key: 1, properties: 3 } as const

export class EntityWalk {
  readonly reader: WireReader
  /** Name and Value of the current property. This object is used again for the next property. */
  readonly entry: PropertyEntry
  /** Bounds of the current field, with its tag. */
  fieldStart: number
  fieldEnd: number
  readonly #end: number

  /** The fields fill [reader.position, reader.end). */
  constructor(reader: WireReader) {
    this.reader = reader
    this.entry = { bytes: reader.bytes, nameStart: 0, nameEnd: 0, start: 0, end: 0 }
    this.fieldStart = reader.position
    this.fieldEnd = reader.position
    this.#end = reader.end
  }

  /**
   * Moves to the next field and returns its number; 0 at the end. A property is read into {@link entry}. For a key, the
   * reader is placed before its Key, which ends at {@link fieldEnd}.
   */
  next(): number {
    const { reader } = this
    reader.position = this.fieldEnd
    reader.end = this.#end
    this.fieldStart = reader.position
    const tag = reader.tag()
    const field = tag >>> 3
    if (field === entityField.properties || field === entityField.key) {
      reader.expect(tag, wireBytes, field === entityField.key ? 'the key of an entity' : 'a property')
      this.fieldEnd = reader.length() + reader.position
      reader.end = this.fieldEnd
      if (field === entityField.properties) readPropertyEntry(reader, this.entry)
    } else if (field !== 0) {
      reader.skip(tag)
      this.fieldEnd = reader.position
    }
    return field
  }

  /** Moves to the next property and skips other fields; false at the end. */
  nextProperty(): boolean {
    let field = this.next()
    while (field !== entityField.properties && field !== 0) field = this.next()
    return field !== 0
  }

  /** The name of the current property. INVALID_ARGUMENT unless it is UTF-8. */
  name(): InternedText {
    return internText(this.reader.bytes, this.entry.nameStart, this.entry.nameEnd, 'a property name')
  }
}
