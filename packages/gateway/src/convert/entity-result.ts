/**
 * Entities in answers. An encoded Entity is its key followed by its properties, so the stored bytes of the properties are copied undecoded.
 *
 *   EntityResult  entity 1 { key 1, properties 3 … }, cursor 3, version 4, update_time 5, create_time 6
 */
import {
  andThen,
  type EntityImage,
  giveWay,
  type Key,
  type MaybePromise,
  type QueryResult,
  type RequestContext,
  StoredImage,
} from '@sixtables/engine'
import { type AnswerWriter, writeAnswer } from './answer-writer.ts'

/** Writing this many bytes takes as long as reading a row. */
const bytesOfWork = 64

/** Room for key, cursor, version and times of a result: mostly enough. */
const overheadBytes = 256

/** An answer with results. A long one is written in a turn of its own, if the client still waits. */
export function writeResults(
  context: RequestContext,
  results: readonly { readonly image?: EntityImage | undefined; readonly projected?: Uint8Array | undefined }[],
  write: (writer: AnswerWriter) => void,
): MaybePromise<Buffer> {
  let bytes = 0
  for (const { image, projected } of results) {
    if (projected !== undefined) bytes += projected.length
    else if (image instanceof StoredImage) bytes += image.propertiesBytes
    else if (image !== undefined) bytes += image.properties.length
  }
  return andThen(giveWay(context, bytes / bytesOfWork), () =>
    writeAnswer(write, bytes + overheadBytes * (results.length + 1)),
  )
}

/** Writes the result for a key without an entity. `version` is that of the read, present for all but eventual reads. */
export function writeMissing(writer: AnswerWriter, field: number, key: Key, version: bigint | undefined): void {
  const end = writer.mark()
  if (version !== undefined) writer.int64(4, version)
  const entityEnd = writer.mark()
  writer.key(1, key)
  writer.head(1, entityEnd)
  writer.head(field, end)
}

/** Writes an entity that a lookup found, or a result of a query, which has a cursor. */
export function writeResult(
  writer: AnswerWriter,
  field: number,
  { key, image, projected, cursor }: Omit<QueryResult, 'cursor'> & Partial<QueryResult>,
): void {
  const end = writer.mark()
  // A stored image is written without a bigint and without a view: 25 of them cost half as much this way.
  const stored = image instanceof StoredImage ? image : undefined
  if (stored !== undefined) {
    writer.timestamp(6, stored.numberOf('createTime'))
    writer.timestamp(5, stored.numberOf('updateTime'))
    const version = stored.numberOf('version')
    if (Number.isSafeInteger(version)) writer.safeInt64(4, version)
    else writer.int64(4, stored.version)
  } else if (image !== undefined) {
    writer.timestamp(6, Number(image.createTime))
    writer.timestamp(5, Number(image.updateTime))
    writer.int64(4, image.version)
  }
  if (cursor !== undefined) writer.bytes(3, cursor)
  const entityEnd = writer.mark()
  if (projected !== undefined) writer.raw(projected)
  else if (stored !== undefined) writer.rawFrom(stored.row, StoredImage.propertiesAt)
  else if (image !== undefined) writer.raw(image.properties)
  writer.key(1, key)
  writer.head(1, entityEnd)
  writer.head(field, end)
}
