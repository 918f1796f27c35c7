/**
 * The names of each kind's property indexes, for readers that scan a property table without knowing them. Such a reader
 * need not materialise all rows.
 *
 *   within(range) ──▶ the names of a kind, from one pass over its entities ──▶ the part of the range that is one index
 *   note(prefix)  ◀── each index that a later write touches
 *
 * Every index with a row is among the known names of its kind; an index without rows may be too.
 */
import type { RequestContext } from '../context.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import { encodeText } from '../encoding/ordered.ts'
import { andThen, type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { runInSlices } from '../slices.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { entityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { scatterProperty } from '../tables/entity-rows.ts'
import { overlap, prefixRange } from '../tables/rows.ts'
import { type EntitySource, forEntities, kindsIn, placeOfKind, splitIndexPrefix } from './missing-indexes.ts'

interface Known {
  /** Codes of the properties. */
  readonly codes: Set<string>
  /** The pass over the entities; settled when it has ended. */
  ready: MaybePromise<void>
}

export class IndexNames {
  readonly #source: EntitySource
  readonly #context: () => RequestContext
  /** By the row prefix of a kind, without the byte of the table. */
  readonly #known = new Map<string, Known>()

  /** @param context - gives a new one for each pass */
  constructor(source: EntitySource, context: () => RequestContext) {
    this.#source = source
    this.#context = context
  }

  /** The first part of a property table's range that is in one index, or with `reverse` the last; `undefined`: none. */
  within(range: KeyRange, reverse: boolean): MaybePromise<KeyRange | undefined> {
    const space = range.start.slice(0, 1)
    // The row key at the begin of the range names its index.
    const { kind, property } = splitIndexPrefix(reverse ? range.end : range.start)
    const begun = property === '' ? undefined : overlap(range, prefixRange(space + kind + property))
    if (begun !== undefined) return begun
    return runSteps(this.#firstOf(range, reverse))
  }

  *#firstOf(range: KeyRange, reverse: boolean): Steps<KeyRange | undefined> {
    for (const kind of kindsIn(range, this.#source.store, reverse)) {
      const head = range.start.slice(0, 1) + kind
      if (overlap(range, prefixRange(head)) === undefined) continue
      const codes = yield* waitFor(this.#of(kind))
      for (const code of reverse ? codes.reverse() : codes) {
        const found = overlap(range, prefixRange(head + code))
        if (found !== undefined) return found
      }
    }
    return undefined
  }

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
    return runInSlices(this.#context(), forEntities(kind, store, take))
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

  clear(): void {
    this.#known.clear()
  }
}
