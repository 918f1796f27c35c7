/**
 * Which property indexes a range needs that a store does not keep yet, and their rows, made from the entities.
 *
 *   range ──▶ missingIn: indexes of one kind and property, or all of a kind ──▶ makeRows: from EntitiesByKind and Entities
 *
 * An index is a kind and a property in one of the two property tables; its rows share a prefix. Ranges that are wider than one
 * index (the inspector's, the checker's) need all indexes of the kinds that they meet. For the laws see on-demand-rows.ts.
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText } from '../encoding/ordered.ts'
import { indexRowValue } from '../encoding/value-codec.ts'
import { invariant } from '../invariant.ts'
import type { KeptIndexes, KeyRange, KvReader, KvRow, RowKey } from '../storage/kv.ts'
import type { MemoryKv } from '../storage/memory-kv.ts'
import { entityRowKey, propertiesOfImage } from './entities.ts'
import { type PropertyTable, propertyRowsOf, scatterEntry, valueColumn } from './rows.ts'
import { type StoredIndexOptions, scatterOf } from './scatter.ts'

/** What is kept of the property tables. Never changed: another one takes its place. */
export interface Kept {
  readonly everything: boolean
  readonly kinds: KeptIndexes
}

/** Index rows that are to be made: of one property of a kind, or of all. */
export interface Missing {
  readonly table: PropertyTable
  /** What the rows of the kind begin with, without the byte of the table. */
  readonly kind: string
  /** What the rows of the index begin with; absent = all indexes of the kind. */
  readonly prefix?: RowKey | undefined
}

/** By which rules the entities of a database are indexed. */
export type IndexOptionsOf = (databaseCode: string) => StoredIndexOptions

const tables: readonly PropertyTable[] = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc']

/** How long the leading `count` texts of `code` are; -1 when it has not so many. */
function textsEnd(code: string, count: number): number {
  let at = 0
  for (let i = 0; i < count; i++) {
    for (;;) {
      const zero = code.indexOf('\x00', at)
      if (zero < 0 || zero + 1 === code.length) return -1
      at = zero + 2
      if (code.charCodeAt(zero + 1) === 0x01) break
    }
  }
  return at
}

/** Project, database, namespace, kind; and one more of a property. */
const kindTexts = 4

/** What of a range is not kept. */
export function missingIn({ start, end }: KeyRange, { everything, kinds }: Kept, reader: KvReader): Missing[] {
  const missing: Missing[] = []
  if (everything) return missing
  for (const table of tables) {
    const space = keySpaces[table]
    if (end <= space || start >= prefixEnd(space)) continue
    // The range in this table, without the byte of the table.
    const low = start < space ? '' : start.slice(1)
    const high = end < prefixEnd(space) ? end.slice(1) : '\xff'
    const prefix = low.slice(0, Math.max(0, textsEnd(low, kindTexts + 1)))
    if (prefix !== '' && high <= prefixEnd(prefix)) {
      const kind = low.slice(0, textsEnd(low, kindTexts))
      const kept = kinds.get(space + kind)
      if (kept !== 'all' && !kept?.has(space + prefix)) missing.push({ table, kind, prefix: space + prefix })
      continue
    }
    for (const kind of kindsBetween(low, high, reader)) {
      if (kinds.get(space + kind) !== 'all') missing.push({ table, kind })
    }
  }
  return missing
}

/** The kinds that have entities and may have rows from `low` up to `high` in a property table. */
function kindsBetween(low: string, high: string, reader: KvReader): string[] {
  const lowKind = low.slice(0, Math.max(0, textsEnd(low, kindTexts)))
  const highKind = high.slice(0, Math.max(0, textsEnd(high, kindTexts)))
  const space = keySpaces.EntitiesByKind
  const start = space + (lowKind === '' ? low : lowKind)
  const end = highKind === '' ? space + high : prefixEnd(space + highKind)
  const kinds: string[] = []
  const scan = reader.scan({ start, end }, { expect: 1 })
  try {
    for (;;) {
      const [row] = atOnce(scan.next(1))
      if (row === undefined) return kinds
      const kind = row.key.slice(1, 1 + textsEnd(row.key.slice(1), kindTexts))
      kinds.push(kind)
      scan.seek(prefixEnd(space + kind))
    }
  } finally {
    scan.close()
  }
}

/** Puts rows that are not kept yet into the store. @returns what is kept with them */
export function makeRows(missing: readonly Missing[], kept: Kept, store: MemoryKv, optionsOf: IndexOptionsOf): Kept {
  const kinds = new Map(kept.kinds)
  for (const index of missing) {
    store.putSorted(rowsOf(index, store, optionsOf))
    const { table, kind, prefix } = index
    const head = keySpaces[table] + kind
    const known = kinds.get(head)
    if (prefix === undefined) kinds.set(head, 'all')
    else if (known !== 'all') kinds.set(head, new Set([...(known ?? []), prefix]))
  }
  return { ...kept, kinds }
}

/** The rows of an index, or of all indexes of a kind in a table, in their order. */
function rowsOf({ table, kind, prefix }: Missing, store: MemoryKv, optionsOf: IndexOptionsOf): readonly KvRow[] {
  const partition = kind.slice(0, textsEnd(kind, kindTexts - 1))
  const kindCode = kind.slice(partition.length)
  const options = optionsOf(partition.slice(0, textsEnd(partition, 2)))
  const property = prefix === undefined ? undefined : decodeText(prefix, 1 + kind.length).value
  const rows = new RowsToSort(prefix ?? '')
  const start = keySpaces.EntitiesByKind + kind
  const scan = store.scan({ start, end: prefixEnd(start) })
  try {
    for (;;) {
      const found = scan.next(rowsPerStep)
      if (found.length === 0) return rows.inOrder()
      for (const { key } of found) {
        const path = key.slice(start.length)
        const cell = store.get(entityRowKey(partition, path))
        invariant(cell !== undefined, 'OD3: an entity with a row in EntitiesByKind has one in Entities')
        const entries = indexEntries(propertiesOfImage(cell), options, property)
        const scatter = options.scatter === undefined ? undefined : scatterOf(path, options.scatter)
        const all = scatter === undefined ? entries : [...entries, scatterEntry(scatter)]
        if (property === undefined) {
          const codes = { partition, kind: kindCode, path }
          for (const row of propertyRowsOf(table, codes, all)) rows.add(row.key, row.value)
          continue
        }
        for (const entry of all) {
          if (entry.property !== property) continue
          rows.add(valueColumn(table, entry) + path, indexRowValue(entry.type, entry.multi))
        }
      }
    }
  } finally {
    scan.close()
  }
}

const rowsPerStep = 1000

/**
 * Rows to be brought in order. Texts sort four times as fast as rows do, the faster the sooner they differ; and most rows of an
 * index have one value.
 */
class RowsToSort {
  readonly #prefix: RowKey
  /** Of the row keys, what comes after the prefix. */
  readonly #rests: string[] = []
  /** The value of the rows that are not in `others`. */
  #common: Uint8Array | undefined
  readonly #others = new Map<string, Uint8Array>()

  /** @param prefix - of all rows */
  constructor(prefix: RowKey) {
    this.#prefix = prefix
  }

  add(rest: string, value: Uint8Array): void {
    this.#common ??= value
    if (value !== this.#common) this.#others.set(rest, value)
    this.#rests.push(rest)
  }

  inOrder(): KvRow[] {
    const common = this.#common ?? new Uint8Array(0)
    const hasOthers = this.#others.size > 0
    return this.#rests.sort().map((rest) => ({
      key: this.#prefix + rest,
      value: hasOthers ? (this.#others.get(rest) ?? common) : common,
    }))
  }
}

/** A store in memory answers at once. */
function atOnce<T>(value: T | Promise<T>): T {
  invariant(!(value instanceof Promise), 'a store in memory answers at once')
  return value
}
