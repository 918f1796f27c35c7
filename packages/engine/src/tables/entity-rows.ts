/**
 * The row producer: turns the change of an entity into the rows that are written and deleted in all tables. All rows are made
 * here. Example: a put changes ToDo:1 from {title: "x", done: false} to {title: "x", done: true}.
 *
 *   EntityRows    compares the index entries of both images   come: done=true   gone: done=false   title="x" stays
 *   RowProducer   makes the rows, and writes them to a sink   Entities                 ToDo:1               the new image
 *                                                             EntitiesByKind           nothing: its row stays
 *                                                             EntitiesByPropertyAsc    done=true, ToDo:1    written
 *                                                                                      done=false, ToDo:1   deleted
 *                                                             EntitiesByPropertyDesc   the same two
 *                                                             EntitiesByCompositeProperty: by the indexes of ToDo, if any
 *
 * A sink can decline the rows of a prefix (`wants`), as does a store that makes index rows at their first read (on-demand/). Such
 * rows are not made, but `count` contains them.
 *
 * The rows of an entity follow from its key, properties, definitions and scatter value alone.
 * R2  The rows of a change turn the rows of the entity before it into those after it, and touch no row that stays. The rows
 *     of the opposite change undo them.                                           both: test/property/entity-rows.test.ts
 *
 * Known: which rows a put writes, and that an update writes only the rows that differ.
 */
import { invert, sameBytes } from '../encoding/bytes.ts'
import { type IndexEntry, indexEntries } from '../encoding/index-entries.ts'
import { type KeyCodes, keyCodesOfPath, skipPartition } from '../encoding/key-codec.ts'
import { keySpaceOf, keySpaces } from '../encoding/keyspace.ts'
import { encodeBytes, encodeText } from '../encoding/ordered.ts'
import { indexRowValue, typeOf } from '../encoding/value-codec.ts'
import { typeBytes } from '../encoding/value-types.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { invariant } from '../invariant.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { RowTally } from '../request-trace.ts'
import type { KvWrite, RowKey } from '../storage/kv.ts'
import { entityRowKey, propertiesOfImage } from './entities.ts'
import { compositeRows, countCompositeRows } from './entities-by-composite-property.ts'
import { emptyValue, kindHead } from './entities-by-kind.ts'
import { propertyHead } from './entities-by-property.ts'
import { type GroupCode, groupOf } from './log-rows.ts'
import { type StoredIndexOptions, scatterOf } from './scatter.ts'
import type { TableId } from './table.ts'

export interface IndexRules {
  readonly indexes: readonly CompositeIndex[]
  readonly indexOptions: StoredIndexOptions
}

/** The change of an entity, before its rows are known. */
export interface EntityDelta {
  readonly codes: KeyCodes
  /** Its cells in Entities (entities.ts); `undefined` = no entity. */
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
  /** Its row in Entities, if the caller knows it. */
  readonly row?: RowKey | undefined
  /** Index entries of `after`, if the caller knows them; those of one property suffice for a sink of that property. */
  readonly afterEntries?: readonly IndexEntry[] | undefined
}

export interface RowSink {
  wants?(prefix: RowKey): boolean
  /** @param wasThere - whether the row existed before, with another value if it still exists */
  write(key: RowKey, value: Uint8Array | undefined, wasThere: boolean): void
}

export interface RowChange extends KvWrite {
  readonly wasThere: boolean
}

/** The hidden property by which query splitters sample keys. */
export const scatterProperty = '__scatter__'

const noEntries: readonly IndexEntry[] = []
const noRows: readonly RowChange[] = []

interface CompositeChange {
  readonly value: Uint8Array | undefined
  readonly old: Uint8Array | undefined
}

/** A change of an entity, and which index entries come and go with it. Its rows are made by {@link RowProducer}. */
export class EntityRows {
  readonly codes: KeyCodes
  readonly path: string
  readonly row: RowKey
  readonly before: Uint8Array | undefined
  after: Uint8Array | undefined
  readonly count: number
  /**
   * The index updates that a commit's answer reports: rows that are added or deleted. A value replaced by an equal one of
   * another type (integer 5 for timestamp 5) counts as both. A row that only changes its mark of several values does not
   * count, though it is written (measured on Google's legacy emulator).
   */
  readonly updates: number
  /** Entries whose rows are written, the first `replaced` ones over existing rows, and entries of deleted rows. */
  readonly come: readonly IndexEntry[]
  readonly replaced: number
  readonly gone: readonly IndexEntry[]
  readonly #indexes: readonly CompositeIndex[]
  #composites: readonly RowChange[] | undefined
  /** The list of {@link indexRows}; `undefined` = not made yet. */
  madeRows: readonly RowChange[] | undefined

  constructor({ codes, row, before, after, afterEntries }: EntityDelta, { indexes, indexOptions }: IndexRules) {
    this.codes = codes
    this.path = codes.path
    this.row = row ?? entityRowKey(codes.partition, codes.path)
    this.before = before
    this.after = after
    this.#indexes = indexes
    if (before !== undefined && after !== undefined) {
      const old = entriesOf(before, indexOptions)
      const fresh = afterEntries ?? entriesOf(after, indexOptions)
      const { come, gone, replaced, retyped } = entryChanges(old, fresh)
      this.come = come
      this.gone = gone
      this.replaced = replaced
      // A row that only changes its mark of several values is no update; one of another type is two.
      let updates = 2 * (come.length + gone.length - replaced + 2 * retyped)
      let count = 2 * (come.length + gone.length)
      this.#composites = noRows
      if (indexes.length > 0 && count > 0) {
        const changes = compositeChanges(codes, indexes, old, fresh, come, gone)
        for (const change of changes.values()) updates += updatesOf(change)
        count += changes.size
        this.#composites = Array.from(changes, ([key, { value, old }]) => ({ key, value, wasThere: old !== undefined }))
      }
      this.count = count
      this.updates = updates
      return
    }
    const cell = after ?? before
    let entries = cell === undefined ? noEntries : ((after && afterEntries) ?? entriesOf(cell, indexOptions))
    let count = cell === undefined ? 0 : 1
    for (const index of indexes) count += countCompositeRows(index, codes, entries)
    if (cell !== undefined && indexOptions.scatter !== undefined) {
      const scatter = scatterOf(codes.path, indexOptions.scatter)
      if (scatter !== undefined) entries = [...entries, scatterEntry(scatter)]
    }
    this.come = after === undefined ? noEntries : entries
    this.gone = after === undefined ? entries : noEntries
    this.replaced = 0
    this.count = count + 2 * entries.length
    this.updates = this.count
  }

  /** The rows in all tables but Entities, made at the first call: locks, a simulation and observers share one list with the store. */
  get indexRows(): readonly RowChange[] {
    if (this.madeRows === undefined) {
      const rows: RowChange[] = []
      new RowProducer({ write: (key, value, wasThere) => rows.push({ key, value, wasThere }) }).indexRows(this)
      this.madeRows = rows
    }
    return this.madeRows
  }

  get composites(): readonly RowChange[] {
    if (this.#composites !== undefined) return this.#composites
    if (this.#indexes.length === 0 || this.before === this.after) return noRows
    const rows: RowChange[] = []
    const isGone = this.after === undefined
    const entries = isGone ? this.gone : this.come
    for (const index of this.#indexes) {
      compositeRows(index, this.codes, entries, (key, value) =>
        rows.push({ key, value: isGone ? undefined : value, wasThere: isGone }),
      )
    }
    this.#composites = rows
    return rows
  }

  get places(): number {
    return 1 + this.come.length + this.gone.length + this.composites.length
  }

  /** Adds the rows of milestone A, or of B, to a tally. Of these rows, it makes only changed composite ones. */
  tally(milestone: 'A' | 'B', tally: RowTally): void {
    const { before, after, come, gone } = this
    const addRow = (table: TableId, value: Uint8Array | undefined): void =>
      addTo(tally, table, value === undefined ? 0 : 1, value === undefined ? 1 : 0)
    if (milestone === 'A') {
      if (before !== after) addRow('Entities', after)
      return
    }
    if ((before === undefined) !== (after === undefined)) addRow('EntitiesByKind', after)
    addTo(tally, 'EntitiesByPropertyAsc', come.length, gone.length)
    addTo(tally, 'EntitiesByPropertyDesc', come.length, gone.length)
    for (const { value } of this.composites) addRow('EntitiesByCompositeProperty', value)
  }
}

function addTo(tally: RowTally, table: TableId, written: number, deleted: number): void {
  if (written === 0 && deleted === 0) return
  tally[table] ??= { written: 0, deleted: 0 }
  tally[table].written += written
  tally[table].deleted += deleted
}

function entriesOf(cell: Uint8Array, options: StoredIndexOptions): readonly IndexEntry[] {
  return indexEntries(propertiesOfImage(cell), options)
}

/** The entry of a scatter value, as if it were a property. */
export function scatterEntry(scatter: Uint8Array): IndexEntry {
  return { property: scatterProperty, valueCode: `\x28${encodeBytes(scatter)}`, type: typeBytes.blob, multi: false }
}

/** The entries that differ between two states of an entity; `come` begins with those whose value existed before. */
function entryChanges(before: readonly IndexEntry[], after: readonly IndexEntry[]) {
  // Mostly both are in one order, and all but a few are equal.
  let start = 0
  while (start < before.length && start < after.length && isSame(before[start], after[start])) start++
  let beforeEnd = before.length
  let afterEnd = after.length
  while (beforeEnd > start && afterEnd > start && isSame(before[beforeEnd - 1], after[afterEnd - 1])) {
    beforeEnd--
    afterEnd--
  }
  // Only properties with several values need a map of their values: one for each property takes 2 µs.
  const single = new Map<string, IndexEntry>()
  const several = new Map<string, Map<string, IndexEntry>>()
  for (const entry of before.slice(start, beforeEnd)) {
    const { property, valueCode } = entry
    if (!entry.multi) single.set(property, entry)
    else getOrInsert(several, property, () => new Map<string, IndexEntry>()).set(valueCode, entry)
  }
  const come: IndexEntry[] = []
  const others: IndexEntry[] = []
  let retyped = 0
  for (const entry of after.slice(start, afterEnd)) {
    const { property, valueCode } = entry
    const values = single.get(property)?.valueCode === valueCode ? single : several.get(property)
    const name = values === single ? property : valueCode
    const known = values?.get(name)
    if (known === undefined) others.push(entry)
    else {
      values?.delete(name)
      if (known.type !== entry.type) retyped++
      if (!isSame(known, entry)) come.push(entry)
    }
  }
  const replaced = come.length
  for (const entry of others) come.push(entry)
  const gone = [...single.values()]
  for (const values of several.values()) for (const entry of values.values()) gone.push(entry)
  return { come, gone, replaced, retyped }
}

function isSame(a: IndexEntry | undefined, b: IndexEntry | undefined): boolean {
  return a?.property === b?.property && a?.valueCode === b?.valueCode && a?.type === b?.type && a?.multi === b?.multi
}

/** The rows of composite indexes that differ between two states of an entity, by row key. */
function compositeChanges(
  codes: KeyCodes,
  indexes: readonly CompositeIndex[],
  before: readonly IndexEntry[],
  after: readonly IndexEntry[],
  ...changed: readonly (readonly IndexEntry[])[]
): Map<RowKey, CompositeChange> {
  const changes = new Map<RowKey, CompositeChange>()
  const names = new Set(changed.flat().map(({ property }) => property))
  for (const index of indexes) {
    if (!index.properties.some(({ name }) => names.has(name))) continue
    compositeRows(index, codes, before, (key, old) => changes.set(key, { value: undefined, old }))
    compositeRows(index, codes, after, (key, value) => {
      const old = changes.get(key)?.old
      if (sameBytes(old, value)) changes.delete(key)
      else changes.set(key, { value, old })
    })
  }
  return changes
}

function updatesOf({ value, old }: CompositeChange): number {
  if (value === undefined || old === undefined) return 1
  return value.every((byte, i) => typeOf(byte) === typeOf(old[i] ?? 0)) ? 0 : 2
}

/** Prefixes of the rows of a property in both tables; `undefined` = not wanted. */
interface PropertyHeads {
  readonly property: string
  readonly up: RowKey | undefined
  readonly down: RowKey | undefined
}

/** Gives the rows of entities to a sink, and keeps the common parts of successive entities of a kind. */
export class RowProducer {
  readonly #sink: RowSink
  readonly #wantsEntities: boolean
  readonly #wantsComposites: boolean
  #partition: string | undefined
  #kind = ''
  #ofKind: RowKey | undefined
  #up: RowKey | undefined
  #down: RowKey | undefined
  /** By the position of an entry: entities of a kind mostly have the same properties in the same order. */
  #byPlace: PropertyHeads[] = []

  constructor(sink: RowSink) {
    this.#sink = sink
    this.#wantsEntities = this.#wanted(keySpaces.Entities) !== undefined
    this.#wantsComposites = this.#wanted(keySpaces.EntitiesByCompositeProperty) !== undefined
  }

  entity({ row, before, after }: EntityRows): void {
    if (this.#wantsEntities && before !== after) this.#sink.write(row, after, before !== undefined)
  }

  /** All other rows. Place 0 has the kind row, each next one two rows of an entry, then come composite rows. */
  indexRows(rows: EntityRows, from = 0, to: number = Number.POSITIVE_INFINITY): void {
    const { codes, before, after, come, gone, replaced } = rows
    const { partition, kind, path } = codes
    if (this.#partition !== partition || this.#kind !== kind) this.#begin(partition, kind)
    const isGone = after === undefined
    if (from === 0 && this.#ofKind !== undefined && (before === undefined) !== isGone) {
      this.#sink.write(this.#ofKind + path, isGone ? undefined : emptyValue, isGone)
    }
    const goneFrom = 1 + come.length
    if (this.#up !== undefined || this.#down !== undefined) {
      for (let i = Math.max(0, from - 1); i < come.length && 1 + i < to; i++) {
        const entry = come[i] as IndexEntry
        this.#property(i, entry, path, indexRowValue(entry.type, entry.multi), i < replaced)
      }
      for (let i = Math.max(0, from - goneFrom); i < gone.length && goneFrom + i < to; i++) {
        this.#property(i, gone[i] as IndexEntry, path, undefined, true)
      }
    }
    const compositesFrom = goneFrom + gone.length
    if (!this.#wantsComposites || to <= compositesFrom) return
    const { composites } = rows
    for (let i = Math.max(0, from - compositesFrom); i < composites.length && compositesFrom + i < to; i++) {
      const { key, value, wasThere } = composites[i] as RowChange
      this.#sink.write(key, value, wasThere)
    }
  }

  #wanted(prefix: RowKey): RowKey | undefined {
    return this.#sink.wants?.(prefix) === false ? undefined : prefix
  }

  #begin(partition: string, kind: string): void {
    this.#partition = partition
    this.#kind = kind
    this.#ofKind = this.#wanted(kindHead(partition, kind))
    this.#up = this.#wanted(propertyHead('EntitiesByPropertyAsc', partition, kind))
    this.#down = this.#wanted(propertyHead('EntitiesByPropertyDesc', partition, kind))
    this.#byPlace = []
  }

  #property(
    place: number,
    { property, valueCode }: IndexEntry,
    path: string,
    value: Uint8Array | undefined,
    wasThere: boolean,
  ): void {
    let heads = this.#byPlace[place]
    if (heads?.property !== property) {
      const code = encodeText(property)
      heads = {
        property,
        up: this.#up === undefined ? undefined : this.#wanted(this.#up + code),
        down: this.#down === undefined ? undefined : this.#wanted(this.#down + code),
      }
      this.#byPlace[place] = heads
    }
    const sink = this.#sink
    if (heads.up !== undefined) sink.write(heads.up + valueCode + path, value, wasThere)
    if (heads.down !== undefined) sink.write(heads.down + invert(valueCode) + path, value, wasThere)
  }
}

export function handRows(delta: EntityDelta, rules: IndexRules, sink: RowSink): void {
  const rows = new EntityRows(delta, rules)
  const producer = new RowProducer(sink)
  producer.entity(rows)
  producer.indexRows(rows)
}

export function codesOfEntityRow(row: RowKey): KeyCodes {
  const partitionEnd = skipPartition(row, 1)
  return keyCodesOfPath(row.slice(1, partitionEnd), row.slice(partitionEnd))
}

export function groupOfEntityRow(row: RowKey): GroupCode {
  const { partition, path } = codesOfEntityRow(row)
  return groupOf(partition, path)
}

/** The table of a row, for a ledger; pending markers count as rows of the log. */
export function tableOfRow(rowKey: RowKey): TableId {
  const space = keySpaceOf(rowKey)
  invariant(space !== undefined, 'a row key starts with the byte of a key space')
  return space === 'Pending' ? 'Log' : space
}
