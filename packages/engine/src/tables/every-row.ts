/**
 * Every row that a store with rows on demand (on-demand-rows.ts) would show: those in its tree, those of the log's list, and
 * the property rows that are not kept, each after its entity. For those who count rows: nothing is kept.
 */
import { indexEntries } from '../encoding/index-entries.ts'
import { keyCodesOfPath, skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { skipText } from '../encoding/ordered.ts'
import { bytesOfValue, type KvRow, type KvScan } from '../storage/kv.ts'
import type { MemoryScan } from '../storage/memory-kv.ts'
import { propertiesOfImage } from './entities.ts'
import type { IndexOptionsOf, Kept } from './missing-indexes.ts'
import { type PropertyTable, propertyRowsOf, scatterEntry } from './rows.ts'
import { scatterOf } from './scatter.ts'
import type { UnreadRows } from './unread-log.ts'

const tables: readonly PropertyTable[] = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc']

export class EveryRow implements KvScan {
  readonly #tree: MemoryScan
  readonly #kept: Kept
  readonly #log: UnreadRows
  readonly #optionsOf: IndexOptionsOf
  #nextOfLog: number

  /** @param tree - all rows of the tree at the moment at which `kept` and `log` are true */
  constructor(tree: MemoryScan, kept: Kept, log: UnreadRows, optionsOf: IndexOptionsOf) {
    this.#tree = tree
    this.#kept = kept
    this.#log = log
    this.#optionsOf = optionsOf
    this.#nextOfLog = log.start
  }

  /** @param count - rows of the tree; those that are made for them come on top */
  next(count: number): readonly KvRow[] {
    const found: KvRow[] = []
    while (found.length === 0) {
      const rows = this.#tree.next(count)
      if (rows.length === 0) return this.#logRows(count)
      for (const row of rows) {
        const space = row.key.charAt(0)
        if (space === keySpaces.Entities) found.push(row, ...this.#madeOf(row))
        // Of an index that is being made the tree has some rows.
        else if (!isOfProperty(space) || this.#keeps(row)) found.push(row)
      }
    }
    return found
  }

  seek(): void {
    throw new TypeError('rows that come in no order cannot be sought')
  }

  close(): void {
    this.#tree.close()
  }

  #madeOf({ key, value }: KvRow): readonly KvRow[] {
    if (this.#kept.everything) return []
    const partitionEnd = skipPartition(key, 1)
    const codes = keyCodesOfPath(key.slice(1, partitionEnd), key.slice(partitionEnd))
    const { partition, path } = codes
    const options = this.#optionsOf(partition.slice(0, skipText(partition, skipText(partition, 0))))
    const entries = indexEntries(propertiesOfImage(value), options)
    const scatter = options.scatter === undefined ? undefined : scatterOf(path, options.scatter)
    const all = scatter === undefined ? entries : [...entries, scatterEntry(scatter)]
    return tables.flatMap((table) => propertyRowsOf(table, codes, all)).filter((row) => !this.#keeps(row))
  }

  #keeps({ key }: KvRow): boolean {
    const { everything, kinds } = this.#kept
    if (everything) return true
    const kindEnd = skipText(key, skipPartition(key, 1))
    const kept = kinds.get(key.slice(0, kindEnd))
    return kept === 'all' || kept?.has(key.slice(0, skipText(key, kindEnd))) === true
  }

  #logRows(count: number): readonly KvRow[] {
    const { rows, values, end } = this.#log
    const found: KvRow[] = []
    for (; this.#nextOfLog < end && found.length < count; this.#nextOfLog++) {
      const value = bytesOfValue(values[this.#nextOfLog])
      if (value !== undefined) found.push({ key: rows[this.#nextOfLog] as string, value })
    }
    return found
  }
}

function isOfProperty(space: string): boolean {
  return space === keySpaces.EntitiesByPropertyAsc || space === keySpaces.EntitiesByPropertyDesc
}
