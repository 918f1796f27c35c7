/**
 * The stored form of an entity. Its properties stay the bytes that a client sent; a read copies them into its answer, and
 * they are decoded only if the engine needs a value.
 */

export interface EntityImage {
  /** The commitVersion that made this state: microseconds, strictly increasing over the whole store. */
  readonly version: bigint
  /** Microseconds since the epoch. */
  readonly createTime: bigint
  readonly updateTime: bigint
  /** The `properties` fields (tag 3) of a google.datastore.v1.Entity, concatenated; no key field. */
  readonly properties: Uint8Array
}
