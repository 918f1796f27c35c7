/**
 * Patterns of the index rows that are written and read.
 *
 *   monotonic-index   of the new values of a property, 4 of 5 are among the 8 highest, or the 8 lowest, of the last 256
 *   unread-index      a composite index had 256 rows written and served no query
 *   needless-index    a kind is queried, and half of its property rows written are of properties that no query names
 */
import type { QueryFact } from '../../call-fact.ts'
import { databaseCode, partitionCode } from '../../encoding/key-codec.ts'
import { decodeInt64, encodeText, skipText } from '../../encoding/ordered.ts'
import { getOrInsert } from '../../get-or-insert.ts'
import { parsePropertyCode } from '../../tables/entities-by-property.ts'
import { type EntityRows, scatterProperty } from '../../tables/entity-rows.ts'
import { rowsOf } from '../../tables/rows.ts'
import { percent } from '../tablets/split-policy.ts'
import { LruMap } from './lru-map.ts'
import { OrderSample } from './order-sample.ts'
import { ShareWindow } from './share-window.ts'
import {
  countInWords,
  type Estimate,
  nothing,
  type PickedChange,
  placeInWords,
  rowsAt,
  type Sighting,
  standingFor,
  sumOf,
} from './sighting.ts'

/** New values of an entity whose order is looked at: the first ones of each property. */
const valuesMax = 256
const subjectsMax = 512
const sampleMin = 64
const eventsMin = 64
const risingShareMin = 0.8
const rowsMin = 256
const queriesMin = 32
const unreadShareMin = 0.5
/** A kind of which queries name so many properties is not judged by them. */
const namesMax = 512

type Property = ReturnType<typeof parsePropertyCode> & {
  readonly sample: OrderSample
  readonly window: ShareWindow
  rows: Estimate
  /** Value code of the latest entity. */
  latest: string
}

export interface IndexPatternsOptions {
  /** A composite index in words, such as `ToDo(owner, due desc)`; `undefined` if it was deleted. */
  readonly indexInWords: (database: string, id: bigint) => string | undefined
}

export class IndexPatterns {
  readonly #options: IndexPatternsOptions
  /** By the code of partition, kind and property. */
  readonly #properties = new LruMap<Property>(subjectsMax, (code) => ({
    ...parsePropertyCode(code),
    sample: new OrderSample(),
    window: new ShareWindow(256),
    rows: nothing,
    latest: '',
  }))
  /** By partition code and kind. */
  readonly #kinds = new LruMap(subjectsMax, () => ({ queries: 0, named: new Set<string>() }))
  /** By database code and index id. */
  readonly #composites = new LruMap<{ rows: Estimate }>(subjectsMax, () => ({ rows: nothing }))
  /** Indexes that served a query, by database code and words. */
  readonly #served = new Set<string>()

  constructor(options: IndexPatternsOptions) {
    this.#options = options
  }

  /** @param picked - changes of one commit: their rows come together, ordered by key and not by value */
  noteCommitted(picked: readonly PickedChange[]): void {
    const values = new Map<string, string[]>()
    for (const { change, standsFor } of picked) {
      const { codes, come, composites } = change
      const properties = new Map<string, string[]>()
      for (const { property, valueCode } of come) getOrInsert(properties, property, () => []).push(valueCode)
      const some = [...properties].slice(0, subjectsMax)
      const each = Math.ceil(valuesMax / some.length)
      for (const [text, all] of some) {
        const name = codes.partition + codes.kind + encodeText(text)
        const property = this.#properties.of(name)
        property.rows = sumOf(property.rows, standingFor(standsFor, all.length))
        getOrInsert(values, name, () => []).push(...all.slice(0, each))
      }
      this.#noteComposites(composites, standsFor)
    }
    for (const [name, codes] of values) this.#noteValues(this.#properties.of(name), codes)
  }

  #noteValues(property: Property, codes: string[]): void {
    const { sample, window } = property
    codes.sort()
    const [lowest = '', highest = lowest] = [codes[0], codes.at(-1)]
    property.latest = sample.isMostlyAbove(highest) ? lowest : highest
    const isJudged = sample.size >= sampleMin
    // Equal values repeat; the keys behind them spread them.
    for (const landing of sample.add(codes)) if (isJudged) window.add(landing?.tops === true)
  }

  #noteComposites(rows: EntityRows['composites'], standsFor: number): void {
    const [first] = rows
    if (first === undefined) return
    // A row begins with its database, which all of them share, and its index.
    const indexEnd = skipText(first.key, skipText(first.key, 1)) + 8
    const written = new Map<string, number>()
    for (const { key, value } of rows) {
      if (value === undefined) continue
      const index = key.slice(1, indexEnd)
      written.set(index, 1 + (written.get(index) ?? 0))
    }
    for (const [index, count] of written) {
      const use = this.#composites.of(index)
      use.rows = sumOf(use.rows, standingFor(standsFor, count))
    }
  }

  noteQuery({ partition, kind, properties, indexes }: Omit<QueryFact, 'call'>): void {
    const { projectId, databaseId } = partition
    for (const index of indexes) this.#served.add(`${databaseCode(projectId, databaseId)} ${index}`)
    if (kind === undefined) return
    const use = this.#kinds.of(partitionCode(partition) + kind)
    use.queries++
    for (const property of properties) if (use.named.size < namesMax) use.named.add(property)
  }

  *sightings(): Iterable<Sighting> {
    yield* this.#monotonic()
    yield* this.#unread()
    yield* this.#needless()
  }

  *#monotonic(): Iterable<Sighting> {
    for (const [code, { partition, kind, property, window, latest }] of this.#properties.entries()) {
      const { events, hits, share, hitsEver } = window
      if (events < eventsMin || share < risingShareMin || property === scatterProperty) continue
      const subject = `${kind}.${property}${placeInWords(partition)}`
      yield {
        kind: 'monotonic-index',
        subject,
        words:
          `New values of ${subject} rise (or fall) all the time: ` +
          'their index rows meet one tablet, however scattered the keys are.',
        evidence: [`${hits} of the last ${events} values (${percent(share)}) are at the end of those before`],
        share,
        count: hitsEver,
        place: rowsAt('EntitiesByPropertyAsc', rowsOf('EntitiesByPropertyAsc', code + latest).start ?? ''),
      }
    }
  }

  *#unread(): Iterable<Sighting> {
    for (const [code, { rows }] of this.#composites.entries()) {
      const database = code.slice(0, -8)
      const index = this.#options.indexInWords(database, decodeInt64(code, database.length))
      if (index === undefined || rows.count < rowsMin || this.#served.has(`${database} ${index}`)) continue
      yield {
        kind: 'unread-index',
        subject: index,
        words: `No query used the composite index ${index}, and every write maintains it.`,
        evidence: [`${countInWords(rows)} rows written, no query served`],
        share: 1,
        count: rows.count,
      }
    }
  }

  *#needless(): Iterable<Sighting> {
    const kinds = new Map<string, { all: Estimate; unread: Estimate; names: string[]; subject: string }>()
    for (const [, { partition, kind, property, rows }] of this.#properties.entries()) {
      if (property === scatterProperty) continue
      const name = partition + kind
      const use = this.#kinds.get(name)
      if (use === undefined || use.queries < queriesMin || use.named.size === namesMax) continue
      const subject = kind + placeInWords(partition)
      const sum = getOrInsert(kinds, name, () => ({ all: nothing, unread: nothing, names: [], subject }))
      sum.all = sumOf(sum.all, rows)
      if (!use.named.has(property)) {
        sum.unread = sumOf(sum.unread, rows)
        sum.names.push(property)
      }
    }
    for (const { all, unread, names, subject } of kinds.values()) {
      const share = unread.count / all.count
      if (unread.count < rowsMin || share < unreadShareMin) continue
      yield {
        kind: 'needless-index',
        subject,
        words: `Most index rows of ${subject} are of properties that no query filters or orders by.`,
        evidence: [
          `${countInWords(unread)} of ${countInWords(all)} property rows (${percent(share)}): ${names.sort().join(', ')}`,
        ],
        share,
        count: unread.count,
      }
    }
  }
}
