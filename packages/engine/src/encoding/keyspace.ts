/**
 * The key spaces of the rows, each named by the first byte of a row key.
 *
 *   A EntitiesByPropertyAsc   C EntitiesByCompositeProperty   D EntitiesByPropertyDesc   E Entities
 *   I IdSequences             K EntitiesByKind                L Log                      M Metadata     P Pending
 *
 * After it comes text(project) text(database) in every space, so that a database is one contiguous range in each. The layouts
 * are in tables/; docs/reference/keyspace.md records all of them.
 *
 * S1  No two key spaces share a first byte, and none starts with FF.   keyspace.test.ts
 */

export const keySpaces = {
  EntitiesByPropertyAsc: 'A',
  EntitiesByCompositeProperty: 'C',
  EntitiesByPropertyDesc: 'D',
  Entities: 'E',
  IdSequences: 'I',
  EntitiesByKind: 'K',
  Log: 'L',
  Metadata: 'M',
  Pending: 'P',
} as const

export type KeySpace = keyof typeof keySpaces

/** By the first byte: this is asked of every row that is written. */
const spaceByByte: readonly (KeySpace | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  (Object.keys(keySpaces) as KeySpace[]).find((space) => keySpaces[space].charCodeAt(0) === byte),
)

/** The key space of a row; `undefined` when its first byte names none, or when it has no byte. */
export function keySpaceOf(rowKey: string): KeySpace | undefined {
  return spaceByByte[rowKey.charCodeAt(0)]
}
