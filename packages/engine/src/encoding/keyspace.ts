/**
 * The key spaces of the rows. The first byte of a row key names its space; none is FF (keyspace.test.ts).
 *
 * In every space text(project) text(database) follows, so that a database is one contiguous range in each: the row of ToDo:1 begins
 * with E text("p") text(""). The layouts are in tables/; docs/reference/keyspace.md lists all of them.
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

/** An array, because every written row asks for its space. */
const spaceByByte: readonly (KeySpace | undefined)[] = Array.from({ length: 256 }, (_, byte) =>
  (Object.keys(keySpaces) as KeySpace[]).find((space) => keySpaces[space].charCodeAt(0) === byte),
)

/** The key space of a row; `undefined` if its first byte names none, or if it is empty. */
export function keySpaceOf(rowKey: string): KeySpace | undefined {
  return spaceByByte[rowKey.charCodeAt(0)]
}
