/**
 * Scans the rows under one prefix of a table. The position of a row is its key behind the prefix: under the prefix of ToDo's
 * priority, the row of ToDo:1 with priority = 5 has the position <code of 5> <path of ToDo:1>.
 *
 * The range of the scan is one span. With several spans, rows between two are skipped by a seek; at most a batch of them is
 * read. Mirrored rows (planner/plan-node.ts) are inverted. Inverting a bound that is no code is not exact, so the range is a
 * little too wide, and each row is checked.
 */
import type { RequestContext } from '../context.ts'
import { invert, prefixEnd } from '../encoding/bytes.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import type { ScanNode } from '../planner/plan-node.ts'
import { codesEnd, intersectSpans, type Span } from '../planner/spans.ts'
import type { KvRow } from '../storage/kv.ts'
import type { RowScan, TableView } from '../tables/table.ts'
import { isBefore } from './position.ts'
import { emptyStream, noRows, type PositionedRow, type RowStream } from './row-stream.ts'

export interface ScanSettings {
  readonly reverse: boolean
  /** Positions outside are skipped: a query continues from a cursor this way. */
  readonly bounds: Span | undefined
  /** The number of rows that will probably be needed first. */
  readonly expect: number
}

export function openScan(
  context: RequestContext,
  view: TableView,
  node: ScanNode,
  { reverse, bounds, expect }: ScanSettings,
): RowStream {
  const spans = bounds === undefined ? node.spans : intersectSpans(node.spans, [bounds])
  const first = spans[0]
  const last = spans[spans.length - 1]
  if (first === undefined || last === undefined) return emptyStream
  const range = node.mirrored
    ? { start: node.prefix + mirroredLow(last.upper), end: node.prefix + mirroredHigh(first.lower) }
    : { start: node.prefix + first.lower, end: node.prefix + last.upper }
  const scan = view.scan(context, node.table, range, { reverse: reverse !== node.mirrored, expect })
  if (spans.length === 1 && !node.mirrored) return new ScanStream(scan, node.prefix, reverse)
  return new SpanScanStream(scan, node, reverse ? [...spans].reverse() : spans, reverse)
}

/** A row key at or before all rows whose inverted rest is before `bound`. */
function mirroredLow(bound: string): string {
  return invert(bound.endsWith(codesEnd) ? bound.slice(0, -1) : bound)
}

/** A row key after all rows whose inverted rest is at or after `bound`. */
function mirroredHigh(bound: string): string {
  // A row key may continue after the bound with 00, as the path of an ancestor does: inverted, that is FF.
  return prefixEnd(invert(bound))
}

class ScanStream implements RowStream {
  readonly #scan: RowScan
  readonly #prefix: string
  readonly #reverse: boolean
  /** The position of the last row read. */
  #last: string | undefined

  constructor(scan: RowScan, prefix: string, reverse: boolean) {
    this.#scan = scan
    this.#prefix = prefix
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    const rows = this.#scan.next(count)
    return rows instanceof Promise ? rows.then((late) => this.#positioned(late)) : this.#positioned(rows)
  }

  count(count: number): MaybePromise<number> {
    const rows = this.#scan.next(count)
    return rows instanceof Promise ? rows.then((late) => this.#counted(late)) : this.#counted(rows)
  }

  #counted(rows: readonly KvRow[]): number {
    const { key } = rows[rows.length - 1] ?? {}
    if (key !== undefined) this.#last = key.slice(this.#prefix.length)
    return rows.length
  }

  #positioned(rows: readonly KvRow[]): readonly PositionedRow[] {
    const prefixLength = this.#prefix.length
    const positioned: PositionedRow[] = []
    for (const { key, value } of rows) {
      positioned.push({ position: key.slice(prefixLength), cell: value, image: undefined })
    }
    if (positioned.length > 0) this.#last = positioned[positioned.length - 1]?.position
    return positioned
  }

  seek(position: string): void {
    if (this.#last === undefined || isBefore(this.#last, position, this.#reverse)) {
      this.#scan.seek(this.#prefix + position)
    }
  }

  close(): void {
    this.#scan.close()
  }
}

const batchMin = 4

class SpanScanStream implements RowStream {
  readonly #scan: RowScan
  readonly #prefix: string
  readonly #mirrored: boolean
  readonly #reverse: boolean
  /** In result order. */
  readonly #spans: readonly Span[]
  #span = 0
  /** Small behind a gap, since the next gap may be near. */
  #batch = Number.POSITIVE_INFINITY
  /** Rows before it are skipped; only a seek that was too wide gives any. */
  #from: string | undefined
  #lastKey: string | undefined

  constructor(scan: RowScan, node: ScanNode, spans: readonly Span[], reverse: boolean) {
    this.#scan = scan
    this.#prefix = node.prefix
    this.#mirrored = node.mirrored
    this.#spans = spans
    this.#reverse = reverse
  }

  next(count: number): MaybePromise<readonly PositionedRow[]> {
    while (this.#span < this.#spans.length) {
      const rows = this.#scan.next(Math.min(count, this.#batch))
      this.#batch *= 2
      if (rows instanceof Promise) {
        return rows.then((late) => {
          const chosen = this.#choose(late)
          return chosen.length === 0 && late.length > 0 ? this.next(count) : chosen
        })
      }
      const chosen = this.#choose(rows)
      if (chosen.length > 0 || rows.length === 0) return chosen
    }
    return noRows
  }

  #choose(rows: readonly KvRow[]): readonly PositionedRow[] {
    const chosen: PositionedRow[] = []
    this.#lastKey = rows[rows.length - 1]?.key ?? this.#lastKey
    for (const [i, { key, value }] of rows.entries()) {
      const rest = key.slice(this.#prefix.length)
      const position = this.#mirrored ? invert(rest) : rest
      if (this.#from !== undefined && isBefore(position, this.#from, this.#reverse)) continue
      let span = this.#spans[this.#span]
      while (span !== undefined && (this.#reverse ? position < span.lower : position >= span.upper)) {
        span = this.#spans[++this.#span]
      }
      if (span === undefined) return chosen
      if (position >= span.lower && position < span.upper) chosen.push({ position, cell: value, image: undefined })
      else if (i === rows.length - 1) {
        this.#batch = batchMin
        this.seek(this.#reverse ? span.upper : span.lower)
      }
    }
    return chosen
  }

  seek(position: string): void {
    if (this.#from === undefined || isBefore(this.#from, position, this.#reverse)) this.#from = position
    const rest = !this.#mirrored ? position : this.#reverse ? mirroredLow(position) : mirroredHigh(position)
    const target = this.#prefix + rest
    // The scan may be past the target, since targets in mirrored rows can be too wide: then it reads on instead.
    if (this.#lastKey === undefined || isBefore(this.#lastKey, target, this.#reverse !== this.#mirrored)) {
      this.#scan.seek(target)
    }
  }

  close(): void {
    this.#scan.close()
  }
}
