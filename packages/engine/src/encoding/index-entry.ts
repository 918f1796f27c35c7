/**
 * The entries of an entity in the property indexes: one for each distinct value of each indexed property.
 *
 * X1  Entries of one entity are distinct by (property, valueCode).   made so by index-entries.ts
 */

export interface IndexEntry {
  /** The property's name; nested ones by their dotted path (`address.city`). */
  readonly property: string
  /** The value in order-preserving code (encoding/value-codec.ts): class byte and payload, as in the row key. */
  readonly valueCode: string
  /** The original type, 0 null … 9 key (`typeBytes` in encoding/value-codec.ts). */
  readonly type: number
  /** Whether the property has more than one entry in this entity. */
  readonly multi: boolean
}
