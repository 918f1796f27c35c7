/** A map from rows to values that can be searched by a read set: by its rows and its key ranges. */
import type { RowKey } from '../storage/kv.ts'
import { rangeOfRow } from '../tables/rows.ts'
import type { ReadSet } from './read-set.ts'
import { SpanTree } from './span-tree.ts'

export class RowIndex<T> extends Map<RowKey, T> {
  /** The same rows in order, each as a span of one row. Rows of `#unordered` are added when a key range is searched. */
  readonly #ordered = new SpanTree<RowKey>()
  readonly #unordered = new Set<RowKey>()

  override set(row: RowKey, value: T): this {
    if (!this.has(row)) this.#unordered.add(row)
    return super.set(row, value)
  }

  override delete(row: RowKey): boolean {
    const isGone = super.delete(row)
    if (isGone && !this.#unordered.delete(row)) this.#ordered.delete(rangeOfRow(row))
    return isGone
  }

  /** The rows in `reads` with their values, possibly repeated. @param aside - a read set whose rows are left out */
  of(reads: ReadSet, aside?: ReadSet): readonly (readonly [RowKey, T])[] {
    const found: (readonly [RowKey, T])[] = []
    if (this.size === 0) return found
    const add = (row: RowKey): false => {
      const value = this.get(row)
      if (value !== undefined && aside?.has(row) !== true) found.push([row, value])
      return false
    }
    for (const row of reads.rows()) add(row)
    if (!reads.hasSpans) return found
    for (const row of this.#unordered) this.#ordered.add(rangeOfRow(row), row)
    this.#unordered.clear()
    for (const span of reads.spans) this.#ordered.some(span, add)
    return found
  }
}
