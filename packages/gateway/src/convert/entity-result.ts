/**
 * Entities in answers: the key and the stored property bytes side by side, which is an Entity, without a look inside.
 *
 *   EntityResult  entity 1 { key 1, properties 3 … }, cursor 3, version 4, update_time 5, create_time 6
 */
import type { EntityImage, Key, QueryResult } from '@sixtables/engine'
import type { AnswerWriter } from './answer-writer.ts'

/** An entity as it is stored. */
export function writeFound(writer: AnswerWriter, field: number, key: Key, image: EntityImage): void {
  writeResult(writer, field, key, image, image.properties, undefined)
}

/** A key of which there is no entity; `version` is that of the read, which the API sets on each one that is not eventual. */
export function writeMissing(writer: AnswerWriter, field: number, key: Key, version: bigint | undefined): void {
  const end = writer.mark()
  if (version !== undefined) writer.int64(4, version)
  const entityEnd = writer.mark()
  writer.key(1, key)
  writer.head(1, entityEnd)
  writer.head(field, end)
}

export function writeQueryResult(writer: AnswerWriter, field: number, result: QueryResult): void {
  const { key, image, projected, cursor } = result
  writeResult(writer, field, key, image, projected ?? image?.properties, cursor)
}

function writeResult(
  writer: AnswerWriter,
  field: number,
  key: Key,
  image: EntityImage | undefined,
  properties: Uint8Array | undefined,
  cursor: Uint8Array | undefined,
): void {
  const end = writer.mark()
  if (image !== undefined) {
    writer.timestamp(6, image.createTime)
    writer.timestamp(5, image.updateTime)
    writer.int64(4, image.version)
  }
  if (cursor !== undefined) writer.bytes(3, cursor)
  const entityEnd = writer.mark()
  if (properties !== undefined) writer.raw(properties)
  writer.key(1, key)
  writer.head(1, entityEnd)
  writer.head(field, end)
}
