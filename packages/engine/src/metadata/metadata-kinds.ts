/**
 * The kinds `__namespace__`, `__kind__` and `__property__`, which list what a database contains, from the row keys of the tables.
 *
 *   __namespace__    one entity per namespace that has entities: its name, or id 1 for the default namespace
 *   __kind__         one per kind of the query's namespace: the kind as name
 *   __property__     one per indexed property: __kind__/ToDo/__property__/done, nested ones by their dotted path;
 *                    property_representation lists the classes of its values, sorted: ["BOOLEAN"]
 *
 * Such a query runs like any other, over a small store made for it, so key ranges, limits, cursors and projections work. The cost
 * grows with the number of namespaces, kinds and properties, not with that of entities (tables/skip-scan.ts); a store without all index
 * rows, such as one in memory, answers `__property__` from a survey of the entities (survey.ts).
 *
 * Measured on the legacy emulator: names, keys and classes.
 */
import type { RequestContext } from '../context.ts'
import { prefixEnd } from '../encoding/bytes.ts'
import { encodeProperties } from '../encoding/entity-codec.ts'
import { databaseCode, keyCodes, partitionCode } from '../encoding/key-codec.ts'
import { invalidArgument } from '../errors.ts'
import { andThen, forEachInOrder, type MaybePromise, runSteps, type Steps } from '../maybe-promise.ts'
import type { CompositeIndex } from '../model/index-definition.ts'
import type { Key, PartitionId, PathElement } from '../model/key.ts'
import type { Query } from '../model/query.ts'
import type { Value } from '../model/value.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import type { KeyRange, RowKey } from '../storage/kv.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { encodeImage, parseEntityRowKey } from '../tables/entities.ts'
import { kindOfRow, kindPrefix } from '../tables/entities-by-kind.ts'
import { parsePropertyCode, propertyPrefix, splitPropertyAscRow } from '../tables/entities-by-property.ts'
import { handRows, scatterProperty } from '../tables/entity-rows.ts'
import { prefixRange, rowsOf } from '../tables/rows.ts'
import { skipScan } from '../tables/skip-scan.ts'
import { KvTableView, type TableId, type TableView } from '../tables/table.ts'
import { classNames, type Survey } from './survey.ts'

export type MetadataKind = '__namespace__' | '__kind__' | '__property__'

export function isMetadataKind(kind: string | undefined): kind is MetadataKind {
  return kind === '__namespace__' || kind === '__kind__' || kind === '__property__'
}

/** Throws INVALID_ARGUMENT for a query that a metadata kind does not support. */
export function checkMetadataQuery({ kind, filter, order }: Query): void {
  if (!isMetadataKind(kind)) return
  const walk = (part: typeof filter): void => {
    if (part === undefined) return
    if (part.type === 'composite') {
      for (const inner of part.filters) walk(inner)
      return
    }
    if (part.property !== '__key__') {
      throw invalidArgument(
        `a query of ${kind} may filter on __key__ only, not on ${part.property}`,
        'Only comparison filters on __key__ supported',
      )
    }
    if (part.operator === 'hasAncestor' && kind !== '__property__') {
      throw invalidArgument(
        `a query of ${kind} has no ancestor: filter on __key__`,
        `ancestor queries on ${kind} not allowed`,
      )
    }
  }
  walk(filter)
  for (const { property, direction } of order) {
    if (property === '__key__' && direction === 'ascending') continue
    throw invalidArgument(
      `a query of ${kind} may be ordered by __key__ ascending only, not by ${property} ${direction}`,
      'Only ascending order on __key__ supported',
    )
  }
}

/** The tables as seen by a query of a metadata kind. @param survey - given to take properties from it, not from rows */
export function metadataView(
  context: RequestContext,
  view: TableView,
  kind: MetadataKind,
  partition: PartitionId,
  indexes: readonly CompositeIndex[] = [],
  survey?: () => MaybePromise<Survey>,
): MaybePromise<TableView> {
  const store = new MemoryKv()
  const put = (path: readonly PathElement[], properties: ReadonlyMap<string, Value> = new Map()): void => {
    putSpecial(store, { partition, path }, properties, 0n, indexes)
  }
  const done =
    kind === '__property__' && survey !== undefined
      ? andThen(survey(), (kinds) => putSurveyed(context, kinds, partition, put))
      : runSteps(readMetadata({ context, view, partition, put }, kind))
  return andThen(done, () => new KvTableView(store))
}

/** Adds an entity to the store that is made for a query of a special kind. @param at - its time, microseconds */
export function putSpecial(
  store: MemoryKv,
  key: Key,
  values: ReadonlyMap<string, Value>,
  at: bigint,
  indexes: readonly CompositeIndex[] = [],
): void {
  const properties = encodeProperties(values)
  const after = encodeImage({ version: 1n, createTime: at, updateTime: at, properties })
  handRows({ codes: keyCodes(key), before: undefined, after }, { indexes, indexOptions: {} }, store)
}

/** The cost of an entity of a special kind in a slice, in rows of a walk. */
export const workOfEntity = 16

type Put = (path: readonly PathElement[], properties?: ReadonlyMap<string, Value>) => void

interface Reading {
  readonly context: RequestContext
  readonly view: TableView
  readonly partition: PartitionId
  readonly put: Put
}

function* readMetadata(reading: Reading, kind: MetadataKind): Steps<void> {
  const { partition, put } = reading
  switch (kind) {
    case '__namespace__': {
      const database = databaseCode(partition.projectId, partition.databaseId)
      yield* leap(reading, 'Entities', rowsOf('Entities', database), (row) => {
        const found = parseEntityRowKey(row).partition
        const { namespaceId } = found
        put([namespaceId === '' ? { kind: '__namespace__', id: 1n } : { kind: '__namespace__', name: namespaceId }])
        return rowsOf('Entities', partitionCode(found)).end
      })
      return
    }
    case '__kind__': {
      const code = partitionCode(partition)
      yield* leap(reading, 'EntitiesByKind', rowsOf('EntitiesByKind', code), (row) => {
        const name = kindOfRow(row)
        put([{ kind: '__kind__', name }])
        return prefixEnd(kindPrefix(code, name))
      })
      return
    }
    case '__property__':
      yield* readProperties(reading)
  }
}

function* readProperties(reading: Reading): Steps<void> {
  const code = partitionCode(reading.partition)
  // With the prefix of its rows.
  const found: { kind: string; name: string; prefix: string }[] = []
  yield* leap(reading, 'EntitiesByPropertyAsc', rowsOf('EntitiesByPropertyAsc', code), (row) => {
    const { kind, property } = parsePropertyCode(splitPropertyAscRow(row).property)
    const own = propertyPrefix('EntitiesByPropertyAsc', code, kind, property)
    if (property !== scatterProperty) found.push({ kind, name: property, prefix: own })
    return prefixEnd(own)
  })
  for (const { kind, name, prefix } of found) {
    // The first bytes of the value codes in the index.
    const classes: number[] = []
    yield* leap(reading, 'EntitiesByPropertyAsc', prefixRange(prefix), (row) => {
      const byte = splitPropertyAscRow(row).valueCode.charCodeAt(0)
      classes.push(byte)
      return prefix + String.fromCharCode(byte + 1)
    })
    putProperty(kind, name, classes, reading.put)
  }
}

function putSurveyed(
  context: RequestContext,
  kinds: Survey,
  { namespaceId }: PartitionId,
  put: Put,
): MaybePromise<void> {
  const here = kinds.filter((one) => one.namespaceId === namespaceId)
  return forEachInOrder(here, ({ kind, entries }) =>
    forEachInSlices(context, [...entries], workOfEntity, ([property, classes]) =>
      putProperty(kind, property, classes.keys(), put),
    ),
  )
}

/** @param classes - first bytes of its value codes */
function putProperty(kind: string, name: string, classes: Iterable<number>, put: Put): void {
  const names = new Set([...classes].flatMap((byte) => classNames.get(byte) ?? []))
  const values = [...names].sort().map((value): Value => ({ type: 'string', value }))
  const path = [
    { kind: '__kind__', name: kind },
    { kind: '__property__', name },
  ]
  put(path, new Map([['property_representation', { type: 'array', values }]]))
}

function* leap(
  { context, view }: Reading,
  table: TableId,
  range: KeyRange,
  jump: (row: RowKey) => RowKey,
): Steps<void> {
  const scan = view.scan(context, table, range, { expect: 1 })
  yield* skipScan(scan, jump, () => giveWay(context, workOfEntity))
}
