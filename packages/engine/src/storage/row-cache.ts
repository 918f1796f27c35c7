/**
 * Rows of a LevelDB store in memory: those that scans have read, in spans without gaps.
 *
 *   spans   start → { start, end, rows }     disjoint; every row between start and end is known, `rows` are the existing ones
 *
 * After a scan of ToDo:1 … ToDo:9 found ToDo:3, the cache knows that ToDo:4 does not exist. A scan inside a span takes 1 µs and answers at
 * once, where LevelDB takes 60–140 µs (measured). Only one process has the folder, so all writes pass here: each is applied when it is
 * acknowledged. A fill, a read of LevelDB whose rows become a span, notes the writes that are acknowledged meanwhile and applies them
 * again.
 *
 * Bytes stay under the limit: the least recently read spans are dropped first, and so are spans that are written and not read. Scans of
 * older versions go to LevelDB's snapshot. Tried: the rows of all spans in one tree (decision 0004).
 */

import { prefixEnd } from '../encoding/bytes.ts'
import { lowerBound } from '../lower-bound.ts'
import { BTree } from './btree.ts'
import { floorFrom } from './btree-node.ts'
import { TreeScan } from './btree-scan.ts'
import { ownRest } from './key-parts.ts'
import { handOver, type KeyRange, type KvRow, type RowKey, type WriteSink, type Writes } from './kv.ts'

/** A range, from `start` (inclusive) to `end` (exclusive), whose rows are all known. */
export interface Span extends KeyRange {
  /** Ascending. */
  rows: KvRow[]
  /** Rows, keys and overhead. */
  bytes: number
  /** Read since the last search for spans to drop. */
  used: boolean
  /** Writes to it since it was last read. */
  unread: number
}

/** A read of LevelDB in progress; writes acknowledged meanwhile are applied to its rows. */
export interface Fill {
  readonly since: number
}

/** Memory of a row beside the characters of its key: the string's header, the row's object and its slot. */
const rowBytes = 80
/** Memory of a value of more than one byte beside its bytes: LevelDB gives an array with a buffer of its own. */
const valueBytes = 250
/** Memory of a span beside its keys and rows. */
const spanBytes = 300

/** Adjacent spans are joined up to this size: larger ones make scans cheaper, smaller ones are dropped one by one. */
const joinedBytesMax = 64 << 10

/** A span that writes made larger than this is dropped, to be read again in smaller ones. */
const grownBytesMax = 256 << 10

/** After this many unread writes, 1 µs each, a span is dropped: to read it again takes 60 µs or more. */
const unreadWritesMax = 256

/** Shared values of index rows: LevelDB gives each empty or one-byte value an array of its own. */
const noBytes = new Uint8Array(0)
const oneByte: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

/** A row; its value is shared if it is empty or one byte. */
export function rowOf(key: RowKey, value: Uint8Array): KvRow {
  if (value.length > 1) return { key, value }
  return { key, value: value.length === 0 ? noBytes : (oneByte[value[0] as number] as Uint8Array) }
}

export class RowCache {
  readonly #bytesMax: number
  readonly #spans = new BTree<Span>()
  /** The spans, the one added or found in use longest ago first. */
  readonly #order = new Set<Span>()
  bytes = 0
  /** Writes acknowledged since the oldest open fill began; the first has number `#firstRecent`. */
  #recent: Writes[] = []
  #firstRecent = 0
  readonly #fills = new Set<Fill>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The span from which a scan at `frontier` can read on. */
  spanFrom(frontier: RowKey, reverse: boolean): Span | undefined {
    if (this.#order.size === 0) return undefined
    const span = reverse ? spanBefore(this.#spans, frontier) : spanAt(this.#spans, frontier)
    if (span !== undefined) {
      span.used = true
      span.unread = 0
    }
    return span
  }

  /** Must be called when LevelDB is asked, at the newest acknowledged version. */
  beginFill(): Fill {
    const fill = { since: this.#firstRecent + this.#recent.length }
    this.#fills.add(fill)
    return fill
  }

  /** Adds the result of a fill: all `rows` of `range`, ascending. Without a range the fill is cancelled. */
  endFill(fill: Fill, range?: KeyRange, rows: readonly KvRow[] = []): void {
    this.#fills.delete(fill)
    if (range !== undefined && fill.since >= this.#firstRecent) {
      this.#add(range, rows)
      const sink: WriteSink = { wants: (prefix) => this.wants(prefix), write: (key, value) => this.write(key, value) }
      for (const writes of this.#recent.slice(fill.since - this.#firstRecent)) handOver(writes, sink)
      this.#shrink()
    }
    if (this.#fills.size === 0) this.#forgetRecent()
  }

  /** Must be called with each group of writes that was acknowledged, after it was handed to this sink. */
  applied(writes: Writes): void {
    if (this.#fills.size > 0) this.#recent.push(writes)
    this.#shrink()
  }

  /** Drops all spans. Open fills are cancelled. */
  clear(): void {
    this.#spans.clear()
    this.#order.clear()
    this.bytes = 0
    this.#forgetRecent()
    this.#firstRecent++
  }

  #forgetRecent(): void {
    this.#firstRecent += this.#recent.length
    this.#recent = []
  }

  /** Whether a span covers keys with this prefix: the last one that starts before their end ends after their start. */
  wants(prefix: RowKey): boolean {
    if (this.#order.size === 0) return false
    const last = floorFrom(this.#spans.root, this.#spans.height, prefixEnd(prefix))
    return last !== undefined && last.end > prefix
  }

  /** Changes an acknowledged row, if a span covers its key. */
  write(key: RowKey, value: Uint8Array | undefined): void {
    const span = spanAt(this.#spans, key)
    if (span === undefined) return
    this.#write(span, key, value)
    if (++span.unread <= unreadWritesMax && span.bytes <= grownBytesMax) return
    this.#order.delete(span)
    this.#drop(span)
  }

  #write(span: Span, key: RowKey, value: Uint8Array | undefined): void {
    const { rows } = span
    const at = placeOf(rows, key)
    const old = rows[at]
    const isThere = old?.key === key
    if (isThere) this.#count(span, -bytesOf(old))
    if (value === undefined) {
      if (isThere) rows.splice(at, 1)
      return
    }
    // A copy: a concatenated string would keep its parts in memory.
    const row = rowOf(isThere ? old.key : ownRest(key, 0), value)
    this.#count(span, bytesOf(row))
    rows.splice(at, isThere ? 1 : 0, row)
  }

  #add(range: KeyRange, rows: readonly KvRow[]): void {
    let from = range.start
    while (from < range.end) {
      const covering = spanAt(this.#spans, from)
      if (covering !== undefined) {
        from = covering.end
        continue
      }
      const gap = { start: from, end: range.end }
      const next = new TreeScan(this.#spans, gap, false).next(1)[0]
      const end = next === undefined ? range.end : next.key
      this.#addSpan({ start: from, end }, rows)
      from = end
    }
  }

  /** Adds a part that no span covers, joined with its neighbours if they are small. */
  #addSpan(part: KeyRange, rows: readonly KvRow[]): void {
    const left = spanBefore(this.#spans, part.start)
    const right = spanAt(this.#spans, part.end)
    const { start, end } = part
    const inside = rows.slice(placeOf(rows, start), placeOf(rows, end))
    const span: Span = { start, end, rows: inside, bytes: 0, used: true, unread: 0 }
    let bytes = spanBytes + start.length + end.length
    for (const row of inside) bytes += bytesOf(row)
    this.#count(span, bytes)
    let joined = span
    if (left !== undefined && left.bytes + joined.bytes <= joinedBytesMax) joined = this.#join(left, joined)
    if (right !== undefined && right.bytes + joined.bytes <= joinedBytesMax) joined = this.#join(joined, right)
    this.#spans.set(joined.start, joined)
    this.#order.add(joined)
  }

  #join(left: Span, right: Span): Span {
    for (const span of [left, right]) {
      this.#spans.delete(span.start)
      this.#order.delete(span)
    }
    const [rows, bytes] = [left.rows.concat(right.rows), left.bytes + right.bytes]
    return { start: left.start, end: right.end, rows, bytes, used: true, unread: 0 }
  }

  #count(span: Span, bytes: number): void {
    span.bytes += bytes
    this.bytes += bytes
  }

  /** Drops spans until the bytes are under the limit. A span that was read since the last call gets a second chance. */
  #shrink(): void {
    if (this.bytes <= this.#bytesMax) return
    for (const span of this.#order) {
      if (this.bytes <= this.#bytesMax) return
      this.#order.delete(span)
      if (span.used) {
        span.used = false
        this.#order.add(span)
      } else {
        this.#drop(span)
      }
    }
  }

  #drop(span: Span): void {
    this.#spans.delete(span.start)
    this.bytes -= span.bytes
  }
}

/** Up to `count` rows of a range inside the span, in scan order. */
export function rowsOfSpan(span: Span, range: KeyRange, reverse: boolean, count: number): KvRow[] {
  const { rows } = span
  const start = range.start === span.start ? 0 : placeOf(rows, range.start)
  const end = range.end === span.end ? rows.length : placeOf(rows, range.end)
  if (reverse) return rows.slice(Math.max(start, end - count), end).reverse()
  return rows.slice(start, Math.min(end, start + count))
}

function placeOf(rows: readonly KvRow[], key: RowKey): number {
  return lowerBound(rows.length, (place) => (rows[place] as KvRow).key < key)
}

function bytesOf({ key, value }: KvRow): number {
  return rowBytes + key.length + (value.length > 1 ? valueBytes + value.length : 0)
}

function spanAt(spans: BTree<Span>, key: RowKey): Span | undefined {
  const span = floorFrom(spans.root, spans.height, key)
  return span !== undefined && key < span.end ? span : undefined
}

function spanBefore(spans: BTree<Span>, key: RowKey): Span | undefined {
  let span = floorFrom(spans.root, spans.height, key)
  // Adjacent spans meet at the key: the rows before it are those of the left one.
  if (span !== undefined && span.start === key)
    span = new TreeScan(spans, { start: '', end: key }, true).next(1)[0]?.value
  return span !== undefined && span.start < key && key <= span.end ? span : undefined
}
