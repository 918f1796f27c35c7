/**
 * The kept log records, in the order in which they were applied. A reader finds those of an entity group, or of a kind,
 * without a look at other records.
 *
 *   place        7      8      9      10     11        places only rise: trimming older records does not change them
 *   row          g1 50  g2 51  g1 52  g3 53  g1 54     log rows: group and version
 *   group g1     [7, 9, 11]
 *   kind ToDo    [7, 8, 11]      kind User [9, 10]
 *
 * A commit only adds its row. Links are made when a read of the past needs them, since most stores have no such reads.
 * A list is only appended to; any other change makes a new list, so a reader can keep a list and its two ends. The
 * records of one group are in version order.
 */

import { getOrInsert } from '../get-or-insert.ts'
import { lowerBound } from '../lower-bound.ts'
import { runAtOnce } from '../slices.ts'
import type { RowKey } from '../storage/kv.ts'
import { type GroupCode, parseLogRowKey } from '../tables/log-rows.ts'
import type { TablePart } from '../tables/table-part.ts'

export interface AppliedRecord {
  readonly logRow: RowKey
  readonly logBytes: number
  readonly changes: readonly { readonly codes: { readonly kind: string } }[]
}

export interface RecordsOfKind {
  /** Partition and kind. */
  readonly name: string
  readonly kind: string
  /** Ascending. */
  readonly places: readonly number[]
}

type ByKind = Map<string, number[]>

/** Codes of the kinds whose entities a record changed: mostly one. */
type Kinds = string | readonly string[]

export class KeptLog {
  readonly base: number
  readonly rows: RowKey[]
  readonly sizes: number[]
  readonly #kindsOf: Kinds[]
  #linked = 0
  readonly #kinds = new Map<string, ByKind>()
  readonly #groups = new Map<GroupCode, number[]>()

  constructor(base = 0, rows: RowKey[] = [], sizes: number[] = [], kindsOf: Kinds[] = []) {
    this.base = base
    this.rows = rows
    this.sizes = sizes
    this.#kindsOf = kindsOf
  }

  add({ logRow, logBytes, changes }: AppliedRecord): void {
    this.rows.push(logRow)
    this.sizes.push(logBytes)
    const [first] = changes
    const isOne = changes.length === 1 && first !== undefined
    this.#kindsOf.push(isOne ? first.codes.kind : [...new Set(changes.map(({ codes }) => codes.kind))])
  }

  /** Links the unlinked rows, in steps. */
  *linking(): Generator<number, void> {
    while (this.#linked < this.rows.length) {
      this.#link(this.#linked++)
      yield 1
    }
  }

  /** Places of its records, ascending, from `from` to before `end`. */
  ofGroup(group: GroupCode, from: number, end: number): readonly number[] {
    runAtOnce(this.linking())
    return between(this.#groups.get(group) ?? [], from, end)
  }

  /** The records before a place that changed entities of a part. @param from - by name of a kind, its first place */
  *ofPart(
    { database, partition, kind }: TablePart,
    from: (name: string) => number,
    end: number,
  ): Iterable<RecordsOfKind> {
    runAtOnce(this.linking())
    for (const code of partition === undefined ? this.#kinds.keys() : [partition]) {
      const byKind = this.#kinds.get(code)
      if (byKind === undefined || !code.startsWith(database)) continue
      for (const one of kind === undefined ? byKind.keys() : [kind]) {
        const name = code + one
        const places = between(byKind.get(one) ?? [], from(name), end)
        if (places.length > 0) yield { name, kind: one, places }
      }
    }
  }

  part(start: number, end: number): KeptLog {
    const [rows, sizes, kinds] = [this.rows, this.sizes, this.#kindsOf]
    return new KeptLog(this.base + start, rows.slice(start, end), sizes.slice(start, end), kinds.slice(start, end))
  }

  /** A new list that begins with the rows of `older`. */
  behind(older: KeptLog): KeptLog {
    const rows = older.rows.concat(this.rows)
    const kinds = older.#kindsOf.concat(this.#kindsOf)
    return new KeptLog(this.base - older.rows.length, rows, older.sizes.concat(this.sizes), kinds)
  }

  #link(index: number): void {
    const { group, partition } = parseLogRowKey(this.rows[index] as RowKey)
    const place = this.base + index
    const places = this.#groups.get(group)
    // A list that begins with its one place takes 24 bytes; an empty one that grows, 150.
    if (places === undefined) this.#groups.set(group, [place])
    else places.push(place)
    const kinds = this.#kindsOf[index] as Kinds
    const byKind = getOrInsert(this.#kinds, partition, (): ByKind => new Map())
    for (const kind of typeof kinds === 'string' ? [kinds] : kinds) getOrInsert(byKind, kind, () => []).push(place)
  }
}

function between(places: number[], from: number, end: number): number[] {
  const first = lowerBound(places.length, (at) => (places[at] as number) < from)
  const last = lowerBound(places.length, (at) => (places[at] as number) < end, first)
  return places.slice(first, last)
}
