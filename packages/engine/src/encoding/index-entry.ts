/** One value of one indexed property of an entity. index-entries.ts makes the entries: for `tags = ["a", "b"]` two of them. */
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
