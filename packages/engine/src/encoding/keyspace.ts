/**
 * Who owns which rows: the first byte of a row key names its key space.
 *
 *   A EntitiesByPropertyAsc   C EntitiesByCompositeProperty   D EntitiesByPropertyDesc   E Entities
 *   I IdSequences             K EntitiesByKind                L Log                      M Metadata     P Pending
 *
 * After it comes text(project) text(database) in every space, so that a database is one contiguous range in each. The six
 * tables' layouts are in tables/, those of Log and Pending in log/; docs/reference/keyspace.md records all of them.
 *
 * Metadata holds what is about the store or a database and not in it, each row under a topic of words:
 *
 *   M text(project) text(database) text(topic) text(part)…      both empty for facts of the whole store
 *
 * S1  No two key spaces share a first byte, and none starts with FF.   keyspace.test.ts
 */
import { encodeText } from './ordered.ts'

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

/** The key space of a row; `undefined` when its first byte is nobody's, or when it has none. */
export function keySpaceOf(rowKey: string): KeySpace | undefined {
  return spaceByByte[rowKey.charCodeAt(0)]
}

export interface MetadataRow {
  /** Empty, as `databaseId`, for a fact of the whole store. */
  readonly projectId: string
  readonly databaseId: string
  readonly topic: string
  /** What is told apart within the topic; rows of a topic sort by their parts. */
  readonly parts?: readonly string[]
}

/** The row key of a piece of metadata. As a prefix it covers the rows with the same first parts. */
export function metadataRowKey(row: MetadataRow): string {
  let rowKey = keySpaces.Metadata + encodeText(row.projectId) + encodeText(row.databaseId) + encodeText(row.topic)
  for (const part of row.parts ?? []) rowKey += encodeText(part)
  return rowKey
}
