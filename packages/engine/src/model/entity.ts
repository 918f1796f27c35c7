/**
 * The stored form of an entity: its properties stay the bytes they came in, and are decoded only when needed
 * inside (design: on a read, key, property bytes, version and times are spliced into the answer as they are).
 */

/** One committed state of an entity. */
export interface EntityImage {
  /** The commitVersion that made this state; microseconds, store-wide strictly increasing. */
  readonly version: bigint
  /** Microseconds since the epoch. */
  readonly createTime: bigint
  readonly updateTime: bigint
  /** The `properties` fields (tag 3) of a google.datastore.v1.Entity, concatenated; no key field. */
  readonly properties: Uint8Array
}
