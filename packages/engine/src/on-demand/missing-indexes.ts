/**
 * The property indexes that a range needs and a store does not have yet, and their rows, made from the entities.
 *
 *   range ──▶ missingIn: indexes of one kind and property, or all of a kind ──▶ materialiseRows: from Entities
 *
 * An index is one property of a kind, ToDo.done, in one of the two property tables; its rows share a prefix. A wider range
 * (of the inspector or the checker) needs all indexes of its kinds. For the rules see on-demand-rows.ts.
 */
import { prefixEnd } from '../encoding/bytes.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import { keyCodes, skipPartition } from '../encoding/key-codec.ts'
import { keySpaces } from '../encoding/keyspace.ts'
import { decodeText, skipText } from '../encoding/ordered.ts'
import { InvariantError, invariant } from '../invariant.ts'
import type { KeyRange, KvRow, RowKey } from '../storage/kv.ts'
import type { MemoryKv, MemorySnapshot } from '../storage/memory-kv.ts'
import { entityRowKey, propertiesOfImage } from '../tables/entities.ts'
import { type PropertyTable, parsePropertyRowKey } from '../tables/entities-by-property.ts'
import { EntityRows, RowProducer } from '../tables/entity-rows.ts'
import { rowAfter } from '../tables/rows.ts'
import type { StoredIndexOptions } from '../tables/scatter.ts'

type MemoryReader = Pick<MemoryKv | MemorySnapshot, 'scan'>

/** Property indexes by row prefix of their kind (`A` or `D`, partition, kind): all indexes of the kind, or those with these prefixes. */
type KeptIndexes = ReadonlyMap<RowKey, 'all' | ReadonlySet<RowKey>>

/** The materialised parts of the property tables. Immutable: a change makes a new object. */
export interface Kept {
  readonly everything: boolean
  readonly kinds: KeptIndexes
  /** Indexes whose rows are written from now on: the complete ones, and those being materialised. */
  readonly begun: KeptIndexes
}

export interface Missing {
  readonly table: PropertyTable
  /** Row prefix of the kind, without the byte of the table. */
  readonly kind: string
  /** Row prefix of the index; absent = all indexes of the kind. */
  readonly prefix?: RowKey | undefined
}

export function nameOf({ table, kind, prefix }: Missing): string {
  return `${table} ${prefix ?? kind}`
}

/** The index rules of a database, by its code. */
export type IndexOptionsOf = (databaseCode: string) => StoredIndexOptions

export interface EntitySource {
  readonly store: MemoryKv
  readonly optionsOf: IndexOptionsOf
}

const tables: readonly PropertyTable[] = ['EntitiesByPropertyAsc', 'EntitiesByPropertyDesc']

/** The length of the first `count` texts of `code`; -1 if it has fewer. */
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

/** Texts of a kind: project, database, namespace, kind. A property is one more. */
const kindTexts = 4

/** Whether a key of a property table names an index. A store accepts any key. */
export function namesIndex(key: RowKey): boolean {
  return textsEnd(key.slice(1), kindTexts + 1) >= 0
}

/** Whether a row of a property table, or a row prefix of a kind or an index, belongs to these indexes. */
export function isAmong(indexes: KeptIndexes, key: RowKey): boolean {
  if (indexes.size === 0) return false
  const kindEnd = skipText(key, skipPartition(key, 1))
  const known = indexes.get(key.slice(0, kindEnd))
  if (known === undefined || known === 'all' || key.length === kindEnd) return known !== undefined
  return known.has(key.slice(0, skipText(key, kindEnd)))
}

/** The parts of a range that are not materialised. */
export function missingIn(
  { start, end }: KeyRange,
  { everything, kinds }: Pick<Kept, 'everything' | 'kinds'>,
  store: MemoryReader,
): Missing[] {
  const missing: Missing[] = []
  if (everything) return missing
  for (const table of tables) {
    const space = keySpaces[table]
    const spaceEnd = prefixEnd(space)
    if (end <= space || start >= spaceEnd) continue
    const low = start < space ? space : start
    const high = end < spaceEnd ? end : spaceEnd
    const { kind, property } = splitIndexPrefix(low)
    const prefix = space + kind + property
    if (property !== '' && high <= prefixEnd(prefix)) {
      const kept = kinds.get(space + kind)
      if (kept !== 'all' && !kept?.has(prefix)) missing.push({ table, kind, prefix })
      continue
    }
    for (const one of kindsIn({ start: low, end: high }, store)) {
      if (kinds.get(space + one) !== 'all') missing.push({ table, kind: one })
    }
  }
  return missing
}

/** The parts of a row key, or row prefix, of a property table; missing parts are empty. */
export function splitIndexPrefix(row: RowKey): { readonly kind: string; readonly property: string } {
  const code = row.slice(1)
  const kindEnd = textsEnd(code, kindTexts)
  if (kindEnd < 0) return { kind: '', property: '' }
  const propertyEnd = textsEnd(code, kindTexts + 1)
  return { kind: code.slice(0, kindEnd), property: propertyEnd < 0 ? '' : code.slice(kindEnd, propertyEnd) }
}

/** The codes of the partition and the database at the begin of a kind's prefix. */
export function placeOfKind(kind: string): { readonly partition: string; readonly database: string } {
  return {
    partition: kind.slice(0, textsEnd(kind, kindTexts - 1)),
    database: kind.slice(0, textsEnd(kind, 2)),
  }
}

/** The kinds with entities that can have rows in a range of a property table, in scan order. Each is found when it is asked for. */
export function* kindsIn({ start, end }: KeyRange, store: MemoryReader, reverse = false): Generator<string, void> {
  const space = keySpaces.EntitiesByKind
  const low = splitIndexPrefix(start).kind
  const high = splitIndexPrefix(end).kind
  const isToEnd = end >= prefixEnd(start.slice(0, 1))
  const range = {
    start: space + (low === '' ? start.slice(1) : low),
    end: isToEnd ? prefixEnd(space) : high === '' ? space + end.slice(1) : prefixEnd(space + high),
  }
  const scan = store.scan(range, { expect: 1, reverse })
  try {
    for (let [row] = scan.next(1); row !== undefined; [row] = scan.next(1)) {
      const code = row.key.slice(1)
      const kind = code.slice(0, textsEnd(code, kindTexts))
      yield kind
      scan.seek(reverse ? space + kind : prefixEnd(space + kind))
    }
  } finally {
    scan.close()
  }
}

export function withIndexes(kinds: KeptIndexes, more: readonly Missing[]): KeptIndexes {
  const all = new Map(kinds)
  for (const { table, kind, prefix } of more) {
    const head = keySpaces[table] + kind
    const known = all.get(head)
    if (prefix === undefined) all.set(head, 'all')
    else if (known !== 'all') all.set(head, new Set([...(known ?? []), prefix]))
  }
  return all
}

const entitiesPerStep = 64
/** Index rows and entities after which a step ends: some hundreds of microseconds of work. One entity has up to 20,000 rows. */
const workPerStep = 1024

/** Writes the rows of an index, or of a kind's in a table, in their current state, while others write them too. */
export function* materialiseRows(index: Missing, source: EntitySource): Generator<number, void> {
  const { store } = source
  const entityOf = indexRowMaker(index, source)
  let rows: KvRow[] = []
  /** The last entity of a step, by the code of its path, if it has too many rows for one. */
  let large: (EntityPlaces & { readonly path: string }) | undefined
  const take = (path: string): number => {
    const entity = entityOf(path)
    invariant(entity !== undefined, 'an entity with a row in EntitiesByKind has one in Entities')
    entity.addTo(rows, 0, workPerStep)
    large = entity.places > workPerStep ? { ...entity, path } : undefined
    return entity.places
  }
  const write = (): void => {
    store.batch(rows)
    rows = []
  }
  for (const work of forEntities(index.kind, store, take)) {
    write()
    yield work
    for (let from = workPerStep; large !== undefined && from < large.places; from += workPerStep) {
      const isUnchanged = large.isCurrent()
      if (isUnchanged) large.addTo(rows, from, from + workPerStep)
      // A commit wrote what it changed, and the next one could come before the last part again.
      else entityOf(large.path)?.addTo(rows)
      write()
      yield workPerStep
      if (!isUnchanged) break
    }
  }
}

/** Walks over the entities of a kind in steps of work. @param take - gets the code of a path, gives the number of rows */
export function* forEntities(kind: string, store: MemoryKv, take: (path: string) => number): Generator<number, void> {
  const start = keySpaces.EntitiesByKind + kind
  for (let at = start; ; at = rowAfter(at)) {
    const scan = store.scan({ start: at, end: prefixEnd(start) })
    const found = scan.next(entitiesPerStep)
    scan.close()
    if (found.length === 0) return
    let work = 0
    for (const { key } of found) {
      work += 1 + take(key.slice(start.length))
      at = key
      if (work >= workPerStep) break
    }
    yield work
  }
}

export interface EntityIndexRows {
  readonly table: PropertyTable
  readonly entityRow: RowKey
  readonly image: Uint8Array
  readonly rows: ReadonlyMap<RowKey, Uint8Array>
}

/** The rows of an index row's entity in its table. `last` is used again for the same state: it may have 20,000. */
export function indexRowsBeside(
  row: RowKey,
  source: EntitySource,
  last: EntityIndexRows | undefined,
): EntityIndexRows | undefined {
  const table = row.startsWith(keySpaces.EntitiesByPropertyAsc) ? 'EntitiesByPropertyAsc' : 'EntitiesByPropertyDesc'
  const { kind } = splitIndexPrefix(row)
  const { partition } = placeOfKind(kind)
  const path = pathOfRow(row)
  const entityRow = path === undefined ? undefined : entityRowKey(partition, path)
  const image = entityRow === undefined ? undefined : source.store.get(entityRow)
  if (path === undefined || entityRow === undefined || image === undefined) return undefined
  if (last?.image === image && last.entityRow === entityRow && last.table === table) return last
  const rows: KvRow[] = []
  indexRowMaker({ table, kind }, source)(path)?.addTo(rows)
  return { table, entityRow, image, rows: new Map(rows.map(({ key, value }) => [key, value])) }
}

/** The code of the path in a row key; `undefined` for an impossible key. */
function pathOfRow(row: RowKey): string | undefined {
  try {
    return keyCodes(parsePropertyRowKey(row).key).path
  } catch (error) {
    if (error instanceof InvariantError) return undefined
    throw error
  }
}

/** The rows of an entity in an index, or in all indexes of its kind. */
interface EntityPlaces {
  /** At least the number of the rows. */
  readonly places: number
  /** Adds the rows of some places to a list; by default of all. */
  addTo(rows: KvRow[], from?: number, to?: number): void
  /** Whether the entity is still as it was. */
  isCurrent(): boolean
}

/** A function that gives the rows of the entity at a path, by its code; `undefined` if there is none. */
function indexRowMaker({ table, kind, prefix }: Missing, { store, optionsOf }: EntitySource) {
  const { partition, database } = placeOfKind(kind)
  const kindCode = kind.slice(partition.length)
  const indexOptions = optionsOf(database)
  const property = prefix === undefined ? undefined : decodeText(prefix, 1 + kind.length).value
  const wanted = prefix ?? keySpaces[table] + kind
  const wants = (head: RowKey): boolean => head.startsWith(wanted) || (wanted.startsWith(head) && head.length > 1)
  return (path: string): EntityPlaces | undefined => {
    const row = entityRowKey(partition, path)
    const after = store.get(row)
    if (after === undefined) return undefined
    const codes = { partition, kind: kindCode, path }
    const afterEntries = indexEntries(propertiesOfImage(after), indexOptions, property)
    const made = new EntityRows({ codes, row, before: undefined, after, afterEntries }, { indexes: [], indexOptions })
    return {
      places: made.places,
      addTo(rows, from, to) {
        const write = (key: RowKey, value: Uint8Array | undefined): void => {
          if (value !== undefined) rows.push({ key, value })
        }
        new RowProducer({ wants, write }).indexRows(made, from, to)
      },
      isCurrent: () => store.get(row) === after,
    }
  }
}
