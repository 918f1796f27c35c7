/**
 * Metadata: facts about a database or the whole store, each row under a topic.
 *
 *   M text(project) text(database) text(topic) text(part)…      both empty for facts of the whole store
 */
import { databaseCode } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { encodeText } from '../encoding/ordered.ts'
import { RowReader } from '../encoding/row-reader.ts'
import type { DatabaseName } from '../model/key.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'

/** Stands for the code of a database in facts of the whole store. */
export const wholeStore: string = databaseCode('', '')

/** The row key of a fact. As a prefix it covers the rows that begin with the same parts; rows of a topic sort by them. */
export function topicRowKey(database: string, topic: string, ...parts: readonly string[]): RowKey {
  return keySpaces.Metadata + database + encodeText(topic) + parts.map(encodeText).join('')
}

/** Reads of transactions, at a store with other writers: maybe millions, so the topic sorts after all others. */
export const transactionTopic = 'transaction'

/** The metadata rows of a database without those of its transactions. */
export function factsOf(database: string): KeyRange {
  return { start: keySpaces.Metadata + database, end: topicRowKey(database, transactionTopic) }
}

export function parseMetadataRowKey(row: RowKey): DatabaseName & { readonly topic: string } {
  const parts = new RowReader(row)
  return { ...parts.database(), topic: parts.text() }
}
