/**
 * A log record: what one commit changed in one entity group, before and after.
 *
 *   format(1) 00 transaction(bytes) groups(count, text…) changes(count, { path, before?, after? }…)     format 1
 *   format(1) 00 transaction(bytes) groups(count, text…) commit(text) epoch(4) changes(…)               format 2
 *
 * A put of ToDo:1 {owner: "ada"}, which is new, outside of a transaction:
 *
 *   01 00          format 1
 *   00000000       no transaction
 *   00000000       no groups
 *   00000001       one change: the path ToDo:1, no image before, the image {owner: "ada"} after
 *
 * Counts and lengths are 4 bytes, big-endian. An image is the cell of the Entities row (tables/entities.ts); a missing image has
 * the length FFFFFFFF. The group and the commitVersion are in the row key. Format 2 is for a store that several processes share.
 *
 * R1  decode(encode(r)) = r. A record that does not decode is an error, never skipped: it has acknowledged data.
 *
 * Ours: both images, so that apply never reads the Entities table and history can be read backwards.
 */
import { InvariantError, invariant } from '../invariant.ts'
import type { GroupCode } from '../tables/log-rows.ts'

export interface EntityChange {
  /** Path code of the entity with its end byte; the partition is the record's. */
  readonly path: string
  /** The Entities cell before this commit, with pending records applied; `undefined` = there was no entity. */
  readonly before: Uint8Array | undefined
  /** The Entities cell after it; `undefined` = deleted. */
  readonly after: Uint8Array | undefined
}

export interface LogRecord {
  /** Empty for a commit outside of a transaction. */
  readonly transaction: Uint8Array
  /**
   * Only with an id: the group that decides the commit, which is its first in row key order; then all its others in the record of that
   * group, and the group of the record itself in each other record.
   */
  readonly groups: readonly GroupCode[]
  /** Id of the commit, if several processes write. */
  readonly commit?: string | undefined
  /** Only with an id: the epoch of the index definitions at the commit. */
  readonly epoch?: number | undefined
  readonly changes: readonly EntityChange[]
}

const format = 1
const formatWithCommit = 2
const absent = 0xffff_ffff

/** The fields that all records of one commit share. */
export type LogRecordHead = Omit<LogRecord, 'changes'>

/** The head of the record in one of the commit's groups. All groups in each of 20,000 records would be gigabytes. */
export function headIn(group: GroupCode, head: LogRecordHead): LogRecordHead {
  const [first] = head.groups
  return first === undefined || first === group ? head : { ...head, groups: [first, group] }
}

export function encodeLogRecord(head: LogRecordHead, changes: readonly EntityChange[]): Uint8Array {
  const { transaction, groups, commit } = head
  let length = 14 + transaction.length + (commit === undefined ? 0 : 8 + commit.length)
  for (const group of groups) length += 4 + group.length
  for (const { path, before, after } of changes)
    length += 12 + path.length + (before?.length ?? 0) + (after?.length ?? 0)
  const bytes = spaceFor(length)
  let at = putHead(bytes, head, changes.length)
  for (const { path, before, after } of changes)
    at = putImage(bytes, putImage(bytes, putText(bytes, at, path), before), after)
  invariant(at === bytes.length, 'a log record has the size computed for it')
  return bytes
}

/** A cell that outlives its record keeps its whole slab: in memory, an entity that is new among many writes of others. */
const slabBytes = 8 << 10
let slab = Buffer.alloc(0)
let slabUsed = 0

/** Space from our own slabs: cells stay in memory, and in Node's Buffer pool would keep bytes of finished calls. */
function spaceFor(length: number): Buffer {
  if (length > slabBytes / 8) return Buffer.allocUnsafeSlow(length)
  if (slabUsed + length > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    slabUsed = 0
  }
  slabUsed += length
  return slab.subarray(slabUsed - length, slabUsed)
}

/** Each `put` function writes a part of a record at an offset, and returns the offset behind it. */
function putHead(bytes: Buffer, { transaction, groups, commit, epoch = 0 }: LogRecordHead, changes: number): number {
  bytes[0] = commit === undefined ? format : formatWithCommit
  bytes[1] = 0
  let at = putBlob(bytes, 2, transaction)
  at = putCount(bytes, at, groups.length)
  for (const group of groups) at = putText(bytes, at, group)
  if (commit !== undefined) at = putCount(bytes, putText(bytes, at, commit), epoch)
  return putCount(bytes, at, changes)
}

function putImage(bytes: Buffer, at: number, image: Uint8Array | undefined): number {
  return image === undefined ? putCount(bytes, at, absent) : putBlob(bytes, at, image)
}

function putCount(bytes: Buffer, at: number, count: number): number {
  bytes[at] = count >>> 24
  bytes[at + 1] = count >>> 16
  bytes[at + 2] = count >>> 8
  bytes[at + 3] = count
  return at + 4
}

function putBlob(bytes: Buffer, start: number, blob: Uint8Array): number {
  const at = putCount(bytes, start, blob.length)
  bytes.set(blob, at)
  return at + blob.length
}

function putText(bytes: Buffer, start: number, text: string): number {
  const at = putCount(bytes, start, text.length)
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i)
  return at + text.length
}

/** @throws InvariantError if the bytes are not a whole record of a known format */
export function decodeLogRecord(value: Uint8Array): LogRecord {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  let at = 2
  const take = (length: number): number => {
    if (at + length > bytes.length) throw new InvariantError(`a log record of ${bytes.length} bytes ends early`)
    const start = at
    at += length
    return start
  }
  const count = (): number => bytes.readUInt32BE(take(4))
  const blob = (length: number): Uint8Array => {
    const start = take(length)
    return bytes.subarray(start, at)
  }
  const text = (): string => {
    const length = count()
    const start = take(length)
    return bytes.toString('latin1', start, at)
  }
  const image = (): Uint8Array | undefined => {
    const length = count()
    return length === absent ? undefined : blob(length)
  }
  const hasCommit = bytes[0] === formatWithCommit
  if (bytes.length < 2 || (bytes[0] !== format && !hasCommit))
    throw new InvariantError('a log record has an unknown format')
  if (bytes[1] !== 0) throw new InvariantError('the second byte of a log record is not 0')
  const transaction = blob(count())
  const groups = Array.from({ length: count() }, text)
  const commit = hasCommit ? text() : undefined
  const epoch = hasCommit ? count() : undefined
  const changes = Array.from({ length: count() }, () => ({ path: text(), before: image(), after: image() }))
  if (at !== bytes.length) throw new InvariantError('a log record has bytes behind its end')
  return commit === undefined ? { transaction, groups, changes } : { transaction, groups, commit, epoch, changes }
}
