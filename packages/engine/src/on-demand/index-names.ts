/**
 * The names of each kind's property indexes, for readers that scan a property table without knowing them. Such a reader
 * need not materialise all rows.
 *
 *   within(range) ──▶ the names of a kind, from one pass over its entities ──▶ the part of the range that is one index
 *   note(prefix)  ◀── each index that a later write touches
 *
 * Every index with a row is among the known names of its kind; an index without rows may be too.
 */
import { indexEntries } from '../encoding/index-entries.ts'
import { encodeText } from '../encoding/ordered.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { entityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { scatterProperty } from '../tables/entity-rows.ts'
import { overlap, prefixRange } from '../tables/ranges.ts'
import { type EntitySource, forEntities, type GoOn, kindsIn, placeOfKind, splitIndexPrefix } from './missing-indexes.ts'

interface Known {
  /** Codes of the properties. */
  readonly codes: Set<string>
  /** The pass over the entities; settled when it has ended. */
  ready: MaybePromise<void>
}

export class IndexNames {
  readonly #source: EntitySource
  readonly #goOn: () => GoOn
  /** By the row prefix of a kind, without the byte of the table. */
  readonly #known = new Map<string, Known>()

  /** @param goOn - a new {@link GoOn} for each pass */
  constructor(source: EntitySource, goOn: () => GoOn) {
    this.#source = source
    this.#goOn = goOn
  }

  /** The first part of a property table's range that is in one index, or with `reverse` the last; `undefined`: none. */
  within(range: KeyRange, reverse: boolean): MaybePromise<KeyRange | undefined> {
    const space = range.start.slice(0, 1)
    // The row key at the begin of the range names its index.
    const { kind, property } = splitIndexPrefix(reverse ? range.end : range.start)
    const begun = property === '' ? undefined : overlap(range, prefixRange(space + kind + property))
    if (begun !== undefined) return begun
    const kinds = kindsIn(range, this.#source.store)
    if (reverse) kinds.reverse()
    return this.#firstOf(range, kinds, reverse)
  }

  #firstOf(
    range: KeyRange,
    [kind, ...others]: readonly string[],
    reverse: boolean,
  ): MaybePromise<KeyRange | undefined> {
    if (kind === undefined) return undefined
    const head = range.start.slice(0, 1) + kind
    if (overlap(range, prefixRange(head)) === undefined) return this.#firstOf(range, others, reverse)
    return andThen(this.#of(kind), (codes) => {
      if (reverse) codes.reverse()
      for (const code of codes) {
        const found = overlap(range, prefixRange(head + code))
        if (found !== undefined) return found
      }
      return this.#firstOf(range, others, reverse)
    })
  }

  /** Codes of the properties of a kind, sorted. */
  #of(kind: string): MaybePromise<string[]> {
    let known = this.#known.get(kind)
    if (known === undefined) {
      known = { codes: new Set([encodeText(scatterProperty)]), ready: undefined }
      this.#known.set(kind, known)
      known.ready = this.#collect(kind, known.codes)
    }
    const { codes, ready } = known
    return andThen(ready, () => [...codes].sort())
  }

  #collect(kind: string, codes: Set<string>): MaybePromise<void> {
    const { store, optionsOf } = this.#source
    const { partition, database } = placeOfKind(kind)
    const names = new Set<string>()
    const take = (path: string): number => {
      const image = store.get(entityRowKey(partition, path))
      if (image === undefined) return 0
      const entries = indexEntries(propertiesOfImage(image), optionsOf(database))
      for (const { property } of entries) {
        if (names.has(property)) continue
        names.add(property)
        codes.add(encodeText(property))
      }
      return entries.length
    }
    return forEntities(kind, store, take, this.#goOn())
  }

  /** Notes a write of rows with this prefix. @returns whether the names of its kind are known */
  note(prefix: RowKey): boolean {
    if (this.#known.size === 0) return false
    const { kind, property } = splitIndexPrefix(prefix)
    const known = this.#known.get(kind)
    if (property === '') return known !== undefined
    known?.codes.add(property)
    return false
  }

  /** Called when the store is replaced. */
  clear(): void {
    this.#known.clear()
  }
}
