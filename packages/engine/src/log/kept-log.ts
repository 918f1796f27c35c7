/**
 * The log records that are kept, in the order in which they were applied. They are found by their entity group, and by the
 * kinds of the entities that they changed, without a look at other records.
 *
 *   place        7      8      9      10     11        places only rise: they stay when older records are trimmed
 *   row          g1 50  g2 51  g1 52  g3 53  g1 54     log rows: group and version
 *   group g1     7  ◀─────────  9  ◀───────── 11       linked from the newest back
 *   kind ToDo    [7, 8, 11]      kind User [9, 10]
 *
 * K1  A list is only appended to, and replaced when something else is to change: so a reader keeps the list and its two ends.
 * K2  The records of a group, and so those of an entity, stand in the order of their versions.
 */
import { fnv } from '../fnv.ts'
import { lowerBound } from '../lower-bound.ts'
import type { RowKey } from '../storage/kv.ts'
import { type GroupCode, groupOfLogRow } from '../tables/log-rows.ts'
import type { TablePart } from '../tables/table-part.ts'

/** A record that is wholly applied. */
export interface AppliedRecord {
  readonly logRow: RowKey
  readonly logBytes: number
  readonly group: GroupCode
  /** Partition code of the group. */
  readonly partition: string
  readonly changes: readonly { readonly codes: { readonly kind: string } }[]
}

/** The records that changed entities of one kind. */
export interface RecordsOfKind {
  /** Partition and kind. */
  readonly name: string
  /** Code of the kind. */
  readonly kind: string
  /** Ascending. */
  readonly places: readonly number[]
}

type ByKind = Map<string, number[]>

const firstCapacity = 64

export class KeptLog {
  /** The place of the first row. */
  readonly base: number
  readonly rows: RowKey[]
  readonly sizes: number[]
  /** By partition and kind. */
  readonly #kinds: Map<string, ByKind>
  /** Hashes of the groups of the rows. */
  #hashes: Int32Array
  /** For each row and for each part of the hashes: 1 + the index of the row before it, 0 = none. As many as hashes fit. */
  #previous: Int32Array
  #heads: Int32Array

  constructor(
    base = 0,
    rows: RowKey[] = [],
    sizes: number[] = [],
    kinds: Map<string, ByKind> = new Map<string, ByKind>(),
    hashes: Int32Array = new Int32Array(firstCapacity),
  ) {
    this.base = base
    this.rows = rows
    this.sizes = sizes
    this.#kinds = kinds
    this.#hashes = hashes
    this.#previous = this.#heads = hashes
    this.#linkAll(hashes)
  }

  get length(): number {
    return this.rows.length
  }

  add({ logRow, logBytes, group, partition, changes }: AppliedRecord): void {
    const index = this.rows.length
    if (index === this.#hashes.length) {
      const hashes = new Int32Array(2 * index)
      hashes.set(this.#hashes)
      this.#linkAll(hashes)
    }
    this.rows.push(logRow)
    this.sizes.push(logBytes)
    this.#hashes[index] = fnv(group)
    this.#link(index)
    const place = this.base + index
    let places: number[] | undefined
    let last: string | undefined
    for (const { codes } of changes) {
      if (codes.kind === last) continue
      last = codes.kind
      places = this.#ofKind(partition, last)
      if (places.at(-1) !== place) places.push(place)
    }
  }

  /** Places of the records of a group from one place to before another, ascending. */
  ofGroup(group: GroupCode, from: number, end: number): readonly number[] {
    const hash = fnv(group)
    const places: number[] = []
    const first = from - this.base
    for (let at = this.#head(hash); at >= first && at >= 0; at = (this.#previous[at] as number) - 1) {
      if (at >= end - this.base || this.#hashes[at] !== hash) continue
      if (groupOfLogRow(this.rows[at] as RowKey) === group) places.push(this.base + at)
    }
    return places.reverse()
  }

  /**
   * The records up to before a place that changed entities of a part's partitions and kinds.
   *
   * @param from - by name of the kind, the first place that counts
   */
  *ofPart(
    { database, partition, kind }: TablePart,
    from: (name: string) => number,
    end: number,
  ): Iterable<RecordsOfKind> {
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

  /** A list of its own of the rows from one index to before another. */
  part(start: number, end: number): KeptLog {
    const kinds = new Map<string, ByKind>()
    for (const [partition, byKind] of this.#kinds) {
      const own: ByKind = new Map()
      for (const [kind, all] of byKind) {
        const places = between(all, this.base + start, this.base + end)
        if (places.length > 0) own.set(kind, places)
      }
      if (own.size > 0) kinds.set(partition, own)
    }
    const hashes = roomFor(end - start)
    hashes.set(this.#hashes.subarray(start, end))
    return new KeptLog(this.base + start, this.rows.slice(start, end), this.sizes.slice(start, end), kinds, hashes)
  }

  /** A list of its own that begins with the rows of another one. */
  behind(older: KeptLog): KeptLog {
    const base = this.base - older.length
    const kinds = new Map<string, ByKind>()
    for (const [log, shift] of [[older, base - older.base] as const, [this, 0] as const]) {
      for (const [partition, byKind] of log.#kinds) {
        const own = kinds.get(partition) ?? new Map<string, number[]>()
        kinds.set(partition, own)
        for (const [kind, places] of byKind) {
          own.set(kind, (own.get(kind) ?? []).concat(places.map((place) => place + shift)))
        }
      }
    }
    const hashes = roomFor(older.length + this.length)
    hashes.set(older.#hashes.subarray(0, older.length))
    hashes.set(this.#hashes.subarray(0, this.length), older.length)
    return new KeptLog(base, older.rows.concat(this.rows), older.sizes.concat(this.sizes), kinds, hashes)
  }

  #ofKind(partition: string, kind: string): number[] {
    let byKind = this.#kinds.get(partition)
    if (byKind === undefined) {
      byKind = new Map()
      this.#kinds.set(partition, byKind)
    }
    let places = byKind.get(kind)
    if (places === undefined) {
      places = []
      byKind.set(kind, places)
    }
    return places
  }

  /** The index of the newest row whose group's hash is in the same part of the hashes; -1 = there is none. */
  #head(hash: number): number {
    return (this.#heads[hash & (this.#heads.length - 1)] as number) - 1
  }

  #link(index: number): void {
    const part = (this.#hashes[index] as number) & (this.#heads.length - 1)
    this.#previous[index] = this.#heads[part] as number
    this.#heads[part] = index + 1
  }

  #linkAll(hashes: Int32Array): void {
    this.#hashes = hashes
    this.#previous = new Int32Array(hashes.length)
    this.#heads = new Int32Array(hashes.length)
    for (let index = 0; index < this.rows.length; index++) this.#link(index)
  }
}

function roomFor(rows: number): Int32Array {
  let capacity = firstCapacity
  while (capacity < rows) capacity *= 2
  return new Int32Array(capacity)
}

function between(places: number[], from: number, end: number): number[] {
  const first = lowerBound(places.length, (at) => (places[at] as number) < from)
  const last = lowerBound(places.length, (at) => (places[at] as number) < end, first)
  return places.slice(first, last)
}
