/**
 * Rows of a LevelDB store kept in memory: those that scans have read, in spans that are known to the last row.
 *
 *   spans   start → { start, end }     disjoint; of every row between the two the cache knows the value, or that it is absent
 *   rows    key → value                 the rows inside the spans
 *
 * A scan inside a span costs 1–3 µs where LevelDB takes 60–140 (measured), and answers at once. Since one process at a time
 * has the folder, all writes pass here: each is applied when it is acknowledged, if a span covers its key.
 *
 *   LevelDB at moment n ──begin fill────────── rows arrive ──▶ span added, then what was written since n is applied again
 *
 * C1  Inside a span the cache has the rows of the newest acknowledged moment.
 * C2  Its bytes stay under the limit: the spans not read for longest go first. So do spans that are written and not read.
 *
 * Both trees are copy-on-write: a reader of an older moment keeps them as they were.
 */
import { BTree, floorFrom, type TreeNode, type TreeView } from './btree.ts'
import { TreeScan } from './btree-scan.ts'
import type { KeyRange, KvRow, KvWrite, RowKey } from './kv.ts'

/** Known to the last row from `start` (inclusive) to `end` (exclusive). */
export interface Span extends KeyRange {
  /** Rows, keys and overhead. */
  bytes: number
  /** Read since the last look for spans to drop. */
  used: boolean
  /** Writes to it since it was last read. */
  unread: number
}

/** What the cache knew at one moment. */
export interface CacheView {
  readonly rows: TreeView<Uint8Array>
  readonly spans: TreeView<Span>
}

/** A read of LevelDB that will be added; writes acknowledged meanwhile are applied to it. */
export interface Fill {
  readonly since: number
}

/** Memory of a row or span beside its bytes: string and array headers, tree slots. Believed, from heap sizes. */
const overheadBytes = 150

/** Adjacent spans are joined up to this size: larger ones cost a scan less, smaller ones can be dropped one by one. */
const joinedBytesMax = 64 << 10

/** A span that grew over this by writes is dropped, to be read again in smaller ones. */
const grownBytesMax = 256 << 10

/** Keeping a span true costs 1–2 µs a write, reading it from LevelDB 60 and more: after so many writes it does not pay. */
const unreadWritesMax = 256

/** LevelDB gives one-byte and empty values, those of index rows, in arrays of their own; these are shared instead. */
const noBytes = new Uint8Array(0)
const oneByte: readonly Uint8Array[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))

function shared(value: Uint8Array): Uint8Array {
  if (value.length > 1) return value
  return value.length === 0 ? noBytes : (oneByte[value[0] as number] as Uint8Array)
}

export class RowCache {
  readonly #bytesMax: number
  readonly #rows = new BTree<Uint8Array>()
  readonly #spans = new BTree<Span>()
  /** The spans from the one added or found in use longest ago. */
  readonly #order = new Set<Span>()
  #bytes = 0
  /** Writes acknowledged since the oldest open fill began; the first has number `#firstRecent`. */
  #recent: (readonly KvWrite[])[] = []
  #firstRecent = 0
  readonly #fills = new Set<Fill>()

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): number {
    return this.#bytes
  }

  view(): CacheView {
    return { rows: this.#rows.view(), spans: this.#spans.view() }
  }

  release(view: CacheView): void {
    this.#rows.release(view.rows)
    this.#spans.release(view.spans)
  }

  /** The span in which a scan that stands at `frontier` can go on, now or as of a view. */
  spanFrom(frontier: RowKey, reverse: boolean, view?: CacheView): Span | undefined {
    const spans = view?.spans ?? this.#spans
    if (spans.size === 0) return undefined
    const span = reverse ? spanBefore(spans.root, spans.height, frontier) : spanAt(spans.root, spans.height, frontier)
    if (span !== undefined) {
      span.used = true
      span.unread = 0
    }
    return span
  }

  /** Up to `count` rows of a range that lies inside one span, in scan order. */
  read(range: KeyRange, reverse: boolean, count: number, view?: CacheView): KvRow[] {
    const rows = view?.rows ?? this.#rows
    return new TreeScan(rows.root, rows.height, range, reverse).next(count)
  }

  /** To be called when LevelDB is asked, at the newest acknowledged moment. */
  beginFill(): Fill {
    const fill = { since: this.#firstRecent + this.#recent.length }
    this.#fills.add(fill)
    return fill
  }

  /** Adds what the fill has read: all `rows` of `range`, in any order. Without them the fill is given up. */
  endFill(fill: Fill, range?: KeyRange, rows: readonly KvRow[] = []): void {
    this.#fills.delete(fill)
    if (range !== undefined && fill.since >= this.#firstRecent) {
      this.#add(range, rows)
      for (const writes of this.#recent.slice(fill.since - this.#firstRecent)) this.#apply(writes)
      this.#shrink()
    }
    if (this.#fills.size === 0) this.#forgetRecent()
  }

  /** To be called with each group of writes when it is acknowledged. */
  apply(writes: readonly KvWrite[]): void {
    if (this.#fills.size > 0) this.#recent.push(writes)
    this.#apply(writes)
    this.#shrink()
  }

  /** Every row is gone. Open fills are given up. */
  clear(): void {
    this.#rows.clear()
    this.#spans.clear()
    this.#order.clear()
    this.#bytes = 0
    this.#forgetRecent()
    this.#firstRecent++
  }

  #forgetRecent(): void {
    this.#firstRecent += this.#recent.length
    this.#recent = []
  }

  #apply(writes: readonly KvWrite[]): void {
    if (this.#spans.size === 0) return
    let span: Span | undefined
    for (const { key, value } of writes) {
      if (span === undefined || key < span.start || key >= span.end) {
        span = spanAt(this.#spans.root, this.#spans.height, key)
        if (span === undefined) continue
      }
      if (value === undefined) {
        const old = this.#rows.delete(key)
        if (old !== undefined) this.#count(span, -bytesOf(key, old))
      } else {
        const old = this.#rows.set(key, shared(value))
        this.#count(span, bytesOf(key, value) - (old === undefined ? 0 : bytesOf(key, old)))
      }
      if (++span.unread > unreadWritesMax || span.bytes > grownBytesMax) {
        this.#order.delete(span)
        this.#drop(span)
        span = undefined
      }
    }
  }

  /** Adds the parts of the range that no span covers yet. */
  #add(range: KeyRange, rows: readonly KvRow[]): void {
    let from = range.start
    while (from < range.end) {
      const covering = spanAt(this.#spans.root, this.#spans.height, from)
      if (covering !== undefined) {
        from = covering.end
        continue
      }
      const gap = { start: from, end: range.end }
      const next = new TreeScan(this.#spans.root, this.#spans.height, gap, false).next(1)[0]
      const end = next === undefined ? range.end : next.key
      this.#addSpan({ start: from, end }, rows)
      from = end
    }
  }

  /** Adds a part that no span covers, together with its neighbours if they are small. */
  #addSpan(part: KeyRange, rows: readonly KvRow[]): void {
    const { root, height } = this.#spans
    const left = spanBefore(root, height, part.start)
    const right = spanAt(root, height, part.end)
    const span: Span = { start: part.start, end: part.end, bytes: 0, used: true, unread: 0 }
    this.#count(span, overheadBytes + span.start.length + span.end.length)
    for (const { key, value } of rows) {
      if (key < span.start || key >= span.end) continue
      this.#rows.set(key, shared(value))
      this.#count(span, bytesOf(key, value))
    }
    let joined = span
    if (left !== undefined && left.bytes + joined.bytes <= joinedBytesMax) joined = this.#join(left, joined)
    if (right !== undefined && right.bytes + joined.bytes <= joinedBytesMax) joined = this.#join(joined, right)
    this.#spans.set(joined.start, joined)
    this.#order.add(joined)
  }

  /** One span of two neighbours, which readers of older moments may still use. */
  #join(left: Span, right: Span): Span {
    for (const span of [left, right]) {
      this.#spans.delete(span.start)
      this.#order.delete(span)
    }
    return { start: left.start, end: right.end, bytes: left.bytes + right.bytes, used: true, unread: 0 }
  }

  #count(span: Span, bytes: number): void {
    span.bytes += bytes
    this.#bytes += bytes
  }

  /** C2. A span that was read since the last look gets a second chance. */
  #shrink(): void {
    if (this.#bytes <= this.#bytesMax) return
    for (const span of this.#order) {
      if (this.#bytes <= this.#bytesMax) return
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
    this.#bytes -= span.bytes
    for (const { key } of this.read(span, false, Number.MAX_SAFE_INTEGER)) this.#rows.delete(key)
  }
}

function bytesOf(key: RowKey, value: Uint8Array): number {
  return overheadBytes + key.length + value.length
}

function spanAt(root: TreeNode<Span>, height: number, key: RowKey): Span | undefined {
  const span = floorFrom(root, height, key)
  return span !== undefined && key < span.end ? span : undefined
}

function spanBefore(root: TreeNode<Span>, height: number, key: RowKey): Span | undefined {
  let span = floorFrom(root, height, key)
  // Adjacent spans meet at the key: the rows before it are those of the left one.
  if (span !== undefined && span.start === key)
    span = new TreeScan(root, height, { start: '', end: key }, true).next(1)[0]?.value
  return span !== undefined && span.start < key && key <= span.end ? span : undefined
}
