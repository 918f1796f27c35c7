/**
 * Counts and sizes of a database's entities, from one walk over them: the figures for all statistics kinds, and the indexed
 * properties if index rows are not kept.
 *
 *   Entities rows ─▶ addEntity ─▶ a KindSurvey per namespace and kind: entities, index rows, values and entries by property
 *
 * A survey is of the moment of the view. It makes no index row: the size of a row is the sum of the lengths of its parts. A
 * survey is used again only by reads of now, and only until the next write. A walk takes some microseconds per entity.
 */

import type { RequestContext } from '../context.ts'
import { EntityWalk } from '../encoding/entity-walk.ts'
import { indexEntries } from '../encoding/index-entries.ts'
import { type KeyCodes, partitionOfCode, pathLength } from '../encoding/key-codec.ts'
import { decodeText, encodeText } from '../encoding/ordered.ts'
import { type ByteRange, eachElement, readerOf, readValue, ValueSlot } from '../encoding/value-slot.ts'
import { typeOfMember, valueClasses, valueField, valueTypes } from '../encoding/value-types.ts'
import { WireReader } from '../encoding/wire.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { type MaybePromise, runSteps, type Steps, waitFor } from '../maybe-promise.ts'
import { giveWay } from '../slices.ts'
import type { KvRow } from '../storage/kv.ts'
import { propertiesOfImage } from '../tables/entities.ts'
import { compositeRows } from '../tables/entities-by-composite-property.ts'
import { codesOfEntityRow, type IndexRules, scatterEntry } from '../tables/entity-rows.ts'
import { rowsOf } from '../tables/rows.ts'
import { scatterOf } from '../tables/scatter.ts'
import type { TableView } from '../tables/table.ts'

export interface Tally {
  count: number
  bytes: number
}

export interface EntityTallies {
  readonly entities: Tally
  /** Rows of EntitiesByKind and of both property tables. */
  readonly builtin: Tally
  readonly composite: Tally
}

/** The figures of a kind, which grow, and the common parts of its rows. */
export class KindSurvey {
  readonly namespaceId: string
  readonly kind: string
  /** Length of the row key of an index, without property, value and path. */
  readonly headBytes: number
  readonly roots: EntityTallies = noTallies()
  readonly others: EntityTallies = noTallies()
  /** Rows by the id of their composite index. */
  readonly composites: Map<bigint, Tally> = new Map()
  /** Values by property and name of type; each element of an array counts. */
  readonly values: Map<string, Map<string, Tally>> = new Map()
  /** Index entries by dotted property and first byte of the value code. */
  readonly entries: Map<string, Map<number, Tally>> = new Map()

  constructor(codes: KeyCodes) {
    this.namespaceId = partitionOfCode(codes.partition).namespaceId
    this.kind = decodeText(codes.kind, 0).value
    this.headBytes = 1 + codes.partition.length + codes.kind.length
  }
}

export type Survey = readonly KindSurvey[]

const rowsPerStep = 64
/** The cost of an entity in a slice, besides that of its bytes. */
const entityWork = 8
/** Bytes of an entity that cost as much as reading a row. */
const bytesOfWork = 32

export function surveyOf(
  context: RequestContext,
  view: TableView,
  database: string,
  rules: IndexRules,
): MaybePromise<Survey> {
  return runSteps(surveyed(context, view, database, rules))
}

function* surveyed(context: RequestContext, view: TableView, database: string, rules: IndexRules): Steps<Survey> {
  const kinds = new Map<string, KindSurvey>()
  const scan = view.scan(context, 'Entities', rowsOf('Entities', database), { expect: rowsPerStep })
  try {
    for (;;) {
      const rows = yield* waitFor(scan.next(rowsPerStep))
      if (rows.length === 0) return [...kinds.values()]
      for (const row of rows) {
        addEntity(kinds, row, rules)
        const way = giveWay(context, entityWork + row.value.length / bytesOfWork)
        if (way !== undefined) yield* waitFor(way)
      }
    }
  } finally {
    scan.close()
  }
}

function addEntity(
  kinds: Map<string, KindSurvey>,
  { key: row, value: cell }: KvRow,
  { indexes, indexOptions }: IndexRules,
): void {
  const codes = codesOfEntityRow(row)
  const kind = getOrInsert(kinds, codes.partition + codes.kind, () => new KindSurvey(codes))
  const { entities, builtin, composite } = pathLength(codes.path) === 1 ? kind.roots : kind.others
  tally(entities, row.length + cell.length)
  const properties = propertiesOfImage(cell)
  addValues(kind, properties)
  const entries = indexEntries(properties, indexOptions)
  const rowBytes = kind.headBytes + codes.path.length
  tally(builtin, rowBytes)
  for (const { property, valueCode } of entries) {
    // The value of the row is a type byte.
    tally(builtin, 2 * (rowBytes + encodeText(property).length + valueCode.length + 1), 2)
    const ofProperty = getOrInsert(kind.entries, property, () => new Map())
    tally(getOrInsert(ofProperty, valueCode.charCodeAt(0), noTally), 2 * (property.length + valueCode.length), 2)
  }
  const scatter = indexOptions.scatter === undefined ? undefined : scatterOf(codes.path, indexOptions.scatter)
  if (scatter !== undefined) {
    const { property, valueCode } = scatterEntry(scatter)
    tally(builtin, 2 * (rowBytes + encodeText(property).length + valueCode.length + 1), 2)
  }
  for (const index of indexes) {
    compositeRows(index, codes, entries, (key, value) => {
      tally(composite, key.length + value.length)
      tally(getOrInsert(kind.composites, index.id, noTally), key.length + value.length)
    })
  }
}

function noTally(): Tally {
  return { count: 0, bytes: 0 }
}

export function noTallies(): EntityTallies {
  return { entities: noTally(), builtin: noTally(), composite: noTally() }
}

export function tally(of: Tally, bytes: number, count = 1): void {
  of.count += count
  of.bytes += bytes
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

/** Counts the values of an entity's properties; an embedded value counts for its property. */
function addValues(kind: KindSurvey, properties: Uint8Array): void {
  const walk = new EntityWalk(new WireReader(properties))
  while (walk.nextProperty()) {
    const name = walk.name().text
    const tallies = getOrInsert(kind.values, name, () => new Map())
    addValue(tallies, name.length, walk.entry, walk.reader, false)
  }
}

function addValue(
  tallies: Map<string, Tally>,
  nameBytes: number,
  range: ByteRange,
  outer: WireReader,
  isElement: boolean,
): void {
  const reader = readerOf(range, outer)
  const slot = new ValueSlot(reader.bytes)
  readValue(reader, slot)
  if (slot.member !== valueField.array || isElement) {
    const { statistics = valueTypes.entity.statistics } = valueTypes[typeOfMember[slot.member] ?? 'entity']
    tally(
      getOrInsert(tallies, typeNamesByMeaning[slot.meaning] ?? statistics, noTally),
      nameBytes + range.end - range.start,
    )
    return
  }
  const elements = readerOf(slot, reader)
  eachElement(elements, (element) => addValue(tallies, nameBytes, element, elements, true))
}

/** Names of the value classes for counts and lists of index rows, by the first byte of a value code. */
export const classNames: ReadonlyMap<number, string> = new Map(
  Object.values(valueClasses).map(({ byte, index }) => [byte, index]),
)
