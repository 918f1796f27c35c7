/**
 * The size of an entity group's row, counted in its head: a Bigtable holds at most 256 MiB in a row, and refuses every commit of a full group.
 *
 *   in the head, after its other fields      since(8) bytes(8) …      log records and versions of the root, by spans of 15 minutes
 *
 * A span ends at the start of the next one, the last span at the group's version. When a sweep has deleted all records of a span, the next
 * commit removes the span from the count. The row of an entity below the root is smaller than the group's row, which has each of its versions in a
 * record. The count omits one version of the root, one prepared record, and records that were written before heads had counts.
 *
 * A commit that would raise the count above 200 MiB is refused with RESOURCE_EXHAUSTED, and changes nothing. group-bytes.test.ts
 */
import { decodeUint64, encodeUint64, type RowKey } from '@sixtables/engine/store'

export interface BytesSpan {
  /** Stamp of its first commit. */
  readonly since: bigint
  readonly bytes: number
}

/** Oldest first. */
export type GroupBytes = readonly BytesSpan[]

const spanMicros = 900_000_000n
const spansMax = 10
const spanCode = 16
const cellBytes = 16

export const groupBytesMax: number = 200 * 1024 * 1024

export function encodeGroupBytes(spans: GroupBytes): string {
  return spans.map(({ since, bytes }) => encodeUint64(since) + encodeUint64(BigInt(bytes))).join('')
}

/** @param at - start of the first span */
export function decodeGroupBytes(code: string, at: number): GroupBytes {
  const spans: BytesSpan[] = []
  for (let i = at; i < code.length; i += spanCode) {
    spans.push({ since: decodeUint64(code, i), bytes: Number(decodeUint64(code, i + 8)) })
  }
  return spans
}

/** The bytes of a cell, including key, family and timestamp, which a Bigtable stores with each cell. */
export function bytesOfCell(key: RowKey, value: Uint8Array): number {
  return key.length + value.length + cellBytes
}

export function sumOf(spans: GroupBytes): number {
  return spans.reduce((sum, { bytes }) => sum + bytes, 0)
}

/**
 * The spans that still have records.
 *
 * @param version - of the group
 * @param swept - the stamp up to which rows are swept
 */
export function unsweptOf(spans: GroupBytes, version: bigint, swept: bigint): GroupBytes {
  return spans.filter((_, i) => (spans[i + 1]?.since ?? version + 1n) > swept + 1n)
}

export function withBytes(spans: GroupBytes, stamp: bigint, bytes: number): GroupBytes {
  const last = spans.at(-1)
  if (last !== undefined && stamp - last.since < spanMicros) {
    return [...spans.slice(0, -1), { since: last.since, bytes: last.bytes + bytes }]
  }
  const [first, second, ...others] = spans
  const isFull = spans.length >= spansMax && first !== undefined && second !== undefined
  const kept = isFull ? [{ since: first.since, bytes: first.bytes + second.bytes }, ...others] : spans
  return [...kept, { since: stamp, bytes }]
}
