/**
 * The statistics kinds, `__Stat_…__`: how many entities, rows and bytes a database holds, in all and by namespace, kind and
 * property type.
 *
 * A query of one of them computes all from one walk over the entities, so its figures are of the moment it reads; it then runs
 * like any other query over a small store that holds just the statistic entities.
 *
 *   entity_bytes            the row of Entities
 *   builtin_index_…         rows of EntitiesByKind and of both property tables
 *   composite_index_…       rows of EntitiesByCompositeProperty
 *   bytes                   the sum of the three, of which a kind of statistic has those that it can tell
 *
 * Without an entity outside of the default namespace there are no statistics of namespaces, `__Stat_Ns_…__` (documented).
 *
 * T1  In each namespace the kinds' figures add up to its total, and the namespaces' to that of the database.
 *
 * Known: names, keys and properties of the kinds (App Engine SDK and documentation). Ours: sizes are those of the rows as they
 * stand in this store, statistics are not entities of the database, and so do not count themselves.
 */
import type { RequestContext } from '../context.ts'
import { checkAlive } from '../context.ts'
import { decodeProperties, encodeProperties, encodeValue } from '../encoding/entity-codec.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import {
  databaseCode,
  decodePartition,
  keyCodes,
  keyCodesOfPath,
  pathLength,
  skipPartition,
} from '../encoding/key-codec.ts'
import { decodeText } from '../encoding/ordered.ts'
import { classBytes } from '../encoding/value-codec.ts'
import { type IndexRules, indexRowsOfCell } from '../log/index-delta.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import type { PathElement } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import type { KvRow } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { decodeImage, entitiesOfDatabase } from '../tables/entities.ts'
import { parseCompositeHead } from '../tables/entities-by-composite-property.ts'
import { rowsOf } from '../tables/rows.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { closingAfter } from './skip-scan.ts'

/** Whether a query asks for statistics. */
export function isStatisticsKind(kind: string | undefined): boolean {
  return kind?.startsWith('__Stat_') === true && kind.endsWith('__')
}

export interface StatisticsSource {
  readonly projectId: string
  readonly databaseId: string
  readonly rules: IndexRules
  /** When the figures are of, microseconds. */
  readonly at: bigint
}

/** Figures of one statistic entity; a kind of statistic shows some of them. */
interface Figures {
  count: bigint
  entityBytes: bigint
  builtinBytes: bigint
  builtinCount: bigint
  compositeBytes: bigint
  compositeCount: bigint
}

/** Which figures a kind of statistic shows. */
type Shown = 'e' | 'eb' | 'ebc' | 'plain'

interface Statistic {
  readonly namespaceId: string
  readonly kind: string
  readonly name: PathElement
  readonly properties: readonly (readonly [string, Value])[]
  readonly shown: Shown
  readonly figures: Figures
}

const rowsPerStep = 256

/** The tables as queries of statistics kinds see them: all statistic entities of a database. */
export function statisticsView(
  context: RequestContext,
  view: TableView,
  source: StatisticsSource,
): MaybePromise<TableView> {
  const collector = new Collector(source.rules)
  const range = entitiesOfDatabase(databaseCode(source.projectId, source.databaseId))
  const scan = view.scan(context, 'Entities', range, { expect: rowsPerStep })
  const take = (rows: readonly KvRow[]): boolean => {
    checkAlive(context)
    for (const row of rows) collector.add(row)
    return rows.length > 0
  }
  const run = (): MaybePromise<void> => {
    for (;;) {
      const rows = scan.next(rowsPerStep)
      if (rows instanceof Promise) return rows.then((late) => (take(late) ? run() : undefined))
      if (!take(rows)) return
    }
  }
  return andThen(closingAfter(scan, run), () => storeOf(source, collector.statistics()))
}

function storeOf(source: StatisticsSource, statistics: Iterable<Statistic>): TableView {
  const store = new MemoryKv()
  for (const statistic of statistics) {
    const { namespaceId, kind, name } = statistic
    const { projectId, databaseId } = source
    const codes = keyCodes({ partition: { projectId, databaseId, namespaceId }, path: [{ ...name, kind }] })
    const properties = encodeProperties(propertiesOf(statistic, source.at))
    const image = { version: 1n, createTime: source.at, updateTime: source.at, properties }
    for (const { key: rowKey, value } of rowsOf(codes, image, indexEntries(properties), [])) {
      store.mutate({ key: rowKey, value })
    }
  }
  return new KvTableView(store)
}

function propertiesOf({ shown, figures, properties }: Statistic, at: bigint): ReadonlyMap<string, Value> {
  const integer = (value: bigint): Value => ({ type: 'integer', value })
  const all = new Map<string, Value>([...properties, ['count', integer(figures.count)]])
  all.set('timestamp', { type: 'timestamp', micros: at })
  let bytes = figures.entityBytes
  if (shown !== 'plain') all.set('entity_bytes', integer(figures.entityBytes))
  if (shown === 'eb' || shown === 'ebc') {
    bytes += figures.builtinBytes
    all.set('builtin_index_bytes', integer(figures.builtinBytes))
    all.set('builtin_index_count', integer(figures.builtinCount))
  }
  if (shown === 'ebc') {
    bytes += figures.compositeBytes
    all.set('composite_index_bytes', integer(figures.compositeBytes))
    all.set('composite_index_count', integer(figures.compositeCount))
  }
  if (shown === 'plain') bytes = figures.compositeBytes
  all.set('bytes', integer(bytes))
  return all
}

/** Names of property types by type of value. */
const typeNames: Readonly<Record<Value['type'], string>> = {
  null: 'NULL',
  boolean: 'Boolean',
  integer: 'Integer',
  timestamp: 'Date/Time',
  double: 'Float',
  string: 'String',
  blob: 'Blob',
  geoPoint: 'GeoPt',
  key: 'Key',
  entity: 'EmbeddedEntity',
  array: 'EmbeddedEntity',
}

/** Meanings that name a type of their own. Known: the API's value meanings. */
const typeNamesByMeaning: Readonly<Record<number, string>> = {
  1: 'Category',
  2: 'Link',
  8: 'Email',
  10: 'IM',
  11: 'PhoneNumber',
  12: 'PostalAddress',
  13: 'Rating',
  15: 'Text',
  16: 'ShortBlob',
  17: 'BlobKey',
  20: 'User',
}

function typeNameOf(value: Value): string {
  return typeNamesByMeaning[value.meaning ?? 0] ?? typeNames[value.type]
}

/** Names of the classes that index rows are counted under. */
const classNames: ReadonlyMap<number, string> = new Map([
  [classBytes.null, 'NULL'],
  [classBytes.int64, 'INT64'],
  [classBytes.false, 'BOOLEAN'],
  [classBytes.true, 'BOOLEAN'],
  [classBytes.bytes, 'STRING'],
  [classBytes.double, 'DOUBLE'],
  [classBytes.geoPoint, 'POINT'],
  [classBytes.user, 'USER'],
  [classBytes.key, 'REFERENCE'],
])

class Collector {
  readonly #rules: IndexRules
  readonly #statistics = new Map<string, Statistic>()
  #hasNamespaces = false

  constructor(rules: IndexRules) {
    this.#rules = rules
  }

  statistics(): Iterable<Statistic> {
    const all = [...this.#statistics.values()]
    return this.#hasNamespaces ? all : all.filter(({ kind }) => !kind.startsWith('__Stat_Ns_'))
  }

  add({ key: row, value: cell }: KvRow): void {
    const partitionEnd = skipPartition(row, 1)
    const { namespaceId } = decodePartition(row, 1).value
    const codes = keyCodesOfPath(row.slice(1, partitionEnd), row.slice(partitionEnd))
    const kind = decodeText(codes.kind, 0).value
    const own: Figures = noFigures()
    own.count = 1n
    own.entityBytes = BigInt(row.length + cell.length)
    for (const { table, key: rowKey, value } of indexRowsOfCell(codes, cell, this.#rules)) {
      const bytes = BigInt(rowKey.length + value.length)
      if (table === 'EntitiesByCompositeProperty') {
        own.compositeBytes += bytes
        own.compositeCount++
        const id = parseCompositeHead(rowKey).indexId
        const properties: [string, Value][] = [named('kind_name', kind), ['index_id', { type: 'integer', value: id }]]
        const figures = { ...noFigures(), count: 1n, compositeBytes: bytes }
        this.#count(namespaceId, 'Kind_CompositeIndex', `${kind}_${id}`, properties, 'plain', figures)
      } else {
        own.builtinBytes += bytes
        own.builtinCount++
      }
    }
    this.#total(namespaceId, own)
    const name = [named('kind_name', kind)]
    this.#count(namespaceId, 'Kind', kind, name, 'ebc', own)
    const isRoot = pathLength(codes.path) === 1
    this.#count(namespaceId, isRoot ? 'Kind_IsRootEntity' : 'Kind_NotRootEntity', kind, name, 'e', own)
    this.#properties(namespaceId, kind, cell)
  }

  #properties(namespaceId: string, kind: string, cell: Uint8Array): void {
    const { properties } = decodeImage(cell)
    for (const [property, value] of decodeProperties(properties)) {
      for (const one of value.type === 'array' ? value.values : [value]) {
        const figures = { ...noFigures(), count: 1n, entityBytes: BigInt(property.length + encodeValue(one).length) }
        this.#property(namespaceId, kind, property, typeNameOf(one), figures)
      }
    }
    for (const { property, valueCode } of indexEntries(properties, this.#rules.indexOptions)) {
      const type = classNames.get(valueCode.charCodeAt(0)) ?? ''
      const figures = noFigures()
      figures.builtinBytes = 2n * BigInt(property.length + valueCode.length)
      figures.builtinCount = 2n
      this.#property(namespaceId, kind, property, type, figures)
    }
  }

  #property(namespaceId: string, kind: string, property: string, type: string, figures: Figures): void {
    const [ofType, ofKind, ofName] = [
      named('property_type', type),
      named('kind_name', kind),
      named('property_name', property),
    ]
    const count = (statistic: string, name: string, properties: [string, Value][]): void =>
      this.#count(namespaceId, statistic, name, properties, 'eb', figures)
    count('PropertyType', type, [ofType])
    count('PropertyType_Kind', `${type}_${kind}`, [ofType, ofKind])
    count('PropertyName_Kind', `${property}_${kind}`, [ofName, ofKind])
    count('PropertyType_PropertyName_Kind', `${type}_${property}_${kind}`, [ofType, ofName, ofKind])
  }

  #total(namespaceId: string, figures: Figures): void {
    const total = { kind: '', name: 'total_entity_usage' }
    if (namespaceId !== '') this.#hasNamespaces = true
    this.#add('', '__Stat_Total__', total, [], 'ebc', figures)
    this.#add(namespaceId, '__Stat_Ns_Total__', total, [], 'ebc', figures)
    const subject = namespaceId === '' ? { kind: '', id: 1n } : { kind: '', name: namespaceId }
    this.#add('', '__Stat_Namespace__', subject, [named('subject_namespace', namespaceId)], 'ebc', figures)
  }

  /** Counts for the whole database, and again for the namespace. */
  #count(
    namespaceId: string,
    statistic: string,
    name: string,
    properties: readonly (readonly [string, Value])[],
    shown: Shown,
    figures: Figures,
  ): void {
    const key = { kind: '', name: name === '' ? '_' : name }
    this.#add('', `__Stat_${statistic}__`, key, properties, shown, figures)
    this.#add(namespaceId, `__Stat_Ns_${statistic}__`, key, properties, shown, figures)
  }

  #add(
    namespaceId: string,
    kind: string,
    name: PathElement,
    properties: readonly (readonly [string, Value])[],
    shown: Shown,
    added: Figures,
  ): void {
    const id = `${namespaceId}\u0000${kind}\u0000${name.name ?? `#${name.id}`}`
    let statistic = this.#statistics.get(id)
    if (statistic === undefined) {
      statistic = { namespaceId, kind, name, properties, shown, figures: noFigures() }
      this.#statistics.set(id, statistic)
    }
    const { figures } = statistic
    figures.count += added.count
    figures.entityBytes += added.entityBytes
    figures.builtinBytes += added.builtinBytes
    figures.builtinCount += added.builtinCount
    figures.compositeBytes += added.compositeBytes
    figures.compositeCount += added.compositeCount
  }
}

function noFigures(): Figures {
  return {
    count: 0n,
    entityBytes: 0n,
    builtinBytes: 0n,
    builtinCount: 0n,
    compositeBytes: 0n,
    compositeCount: 0n,
  }
}

function named(property: string, value: string): [string, Value] {
  return [property, { type: 'string', value }]
}
