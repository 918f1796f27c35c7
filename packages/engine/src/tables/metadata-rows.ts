/**
 * Metadata: what is about the store or a database and not in it, each row under a topic of words.
 *
 *   M text(project) text(database) text(topic) text(part)…      both empty for facts of the whole store
 */
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

export interface MetadataRow {
  /** Empty, as `databaseId`, for a fact of the whole store. */
  readonly projectId: string
  readonly databaseId: string
  readonly topic: string
  /** Parts that tell rows of a topic apart; rows of a topic sort by them. */
  readonly parts?: readonly string[]
}

/** The row key of a piece of metadata. As a prefix it covers the rows with the same first parts. */
export function metadataRowKey({ projectId, databaseId, topic, parts = [] }: MetadataRow): RowKey {
  return topicRowKey(databaseCode(projectId, databaseId), topic, ...parts)
}

/** The row of a topic, from the code of the database. */
export function topicRowKey(database: string, topic: string, ...parts: readonly string[]): RowKey {
  return keySpaces.Metadata + database + encodeText(topic) + parts.map(encodeText).join('')
}

/** Topic of what transactions have read (shared/transaction-rows.ts): a database may have millions of such rows, behind all other topics. */
export const transactionTopic = 'transaction'

/** The rows of a database but for those of its transactions. */
export function factsOf(database: string): KeyRange {
  return { start: keySpaces.Metadata + database, end: topicRowKey(database, transactionTopic) }
}

/** Decodes a row key without its parts. */
export function parseMetadataRowKey(row: RowKey): MetadataRow {
  const project = decodeText(row, 1)
  const database = decodeText(row, project.next)
  return { projectId: project.value, databaseId: database.value, topic: decodeText(row, database.next).value }
}
