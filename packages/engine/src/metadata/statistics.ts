/**
 * The statistics kinds, `__Stat_…__`: how many entities, rows and bytes a database has, in total and by namespace, kind and
 * property type. A query makes its entities from one survey (survey.ts) of its moment, and runs over a small store of them.
 *
 *   entity_bytes            the row of Entities
 *   builtin_index_…         rows of EntitiesByKind and of both property tables
 *   composite_index_…       rows of EntitiesByCompositeProperty
 *   bytes                   the sum of those of the three that a kind of statistic has
 *
 * The kinds' figures add up to the total of their namespace, and the namespaces' to that of the database. `__Stat_Ns_…__` exist only if
 * there is an entity outside of the default namespace (documented).
 *
 * Known: names, keys and properties (App Engine SDK and documentation). Ours: sizes are those of the rows in this store.
 */

import type { RequestContext } from '../context.ts'
import { encodeProperties } from '../encoding/entity-codec.ts'
import { keyCodes } from '../encoding/key-codec.ts'
import { getOrInsert } from '../get-or-insert.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { PathElement } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { encodeImage } from '../tables/entities.ts'
import { handRows } from '../tables/entity-rows.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { workOfEntity } from './metadata-kinds.ts'
import { classNames, type EntityTallies, type KindSurvey, type Survey } from './survey.ts'

export function isStatisticsKind(kind: string | undefined): boolean {
  return kind?.startsWith('__Stat_') === true && kind.endsWith('__')
}

export interface StatisticsSource {
  readonly projectId: string
  readonly databaseId: string
  readonly survey: () => MaybePromise<Survey>
  /** Whether rows of all property indexes are kept. */
  readonly hasAllRows: boolean
  /** The moment of the figures, microseconds. */
  readonly at: bigint
}

/** The figures of one statistic entity; each kind of statistic shows some of them. */
interface Figures {
  count: number
  entityBytes: number
  builtinBytes: number
  builtinCount: number
  compositeBytes: number
  compositeCount: number
}

type Shown = 'e' | 'eb' | 'ebc' | 'plain'

interface Statistic {
  readonly namespaceId: string
  readonly kind: string
  readonly name: PathElement
  readonly properties: readonly (readonly [string, Value])[]
  readonly shown: Shown
  readonly figures: Figures
}

/**
 * The tables as seen by a query of a statistics kind. They contain only statistic entities of that kind, because others may
 * be thousands: one for each property of a kind.
 */
export function statisticsView(
  context: RequestContext,
  source: StatisticsSource,
  kind: string | undefined,
): MaybePromise<TableView> {
  return andThen(source.survey(), (survey) => {
    const collector = new Collector(kind)
    const collected = forEachInOrder(survey, (one) => {
      collector.add(one)
      const properties = (): MaybePromise<void> =>
        forEachInSlices(context, propertyFigures(one), workOfEntity, ([property, type, figures]) =>
          collector.property(one, property, type, figures),
        )
      return andThen(giveWay(context, workOfEntity), properties)
    })
    return andThen(collected, () => storeOf(context, source, collector.statistics()))
  })
}

function storeOf(
  context: RequestContext,
  source: StatisticsSource,
  statistics: readonly Statistic[],
): MaybePromise<TableView> {
  const store = new MemoryKv()
  const put = (statistic: Statistic): void => {
    const { namespaceId, kind, name } = statistic
    const { projectId, databaseId } = source
    const codes = keyCodes({ partition: { projectId, databaseId, namespaceId }, path: [{ ...name, kind }] })
    const properties = encodeProperties(propertiesOf(statistic, source.at))
    const after = encodeImage({ version: 1n, createTime: source.at, updateTime: source.at, properties })
    handRows({ codes, before: undefined, after }, { indexes: [], indexOptions: {} }, store)
  }
  return andThen(forEachInSlices(context, statistics, 2 * workOfEntity, put), () => new KvTableView(store))
}

function propertiesOf({ shown, figures, properties }: Statistic, at: bigint): ReadonlyMap<string, Value> {
  const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })
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

/** Figures of each property of a kind, with the type that they count for. */
function propertyFigures({ values, entries }: KindSurvey): readonly (readonly [string, string, Figures])[] {
  const ofValues = [...values].flatMap(([property, types]) =>
    [...types].map(([type, { count, bytes }]) => {
      return [property, type, { ...noFigures(), count, entityBytes: bytes }] as const
    }),
  )
  const ofEntries = [...entries].flatMap(([property, classes]) =>
    [...classes].map(([byte, { count, bytes }]) => {
      const figures = { ...noFigures(), builtinCount: count, builtinBytes: bytes }
      return [property, classNames.get(byte) ?? '', figures] as const
    }),
  )
  return [...ofValues, ...ofEntries]
}

/** Adds up the figures of the statistic entities of one kind. */
class Collector {
  readonly #wanted: string | undefined
  readonly #statistics = new Map<string, Statistic>()
  #hasNamespaces = false

  constructor(wanted: string | undefined) {
    this.#wanted = wanted
  }

  statistics(): readonly Statistic[] {
    if (!this.#hasNamespaces && this.#wanted?.startsWith('__Stat_Ns_')) return []
    return [...this.#statistics.values()]
  }

  /** All but the properties. */
  add({ namespaceId, kind, roots, others, composites }: KindSurvey): void {
    const name = [named('kind_name', kind)]
    for (const [isRoot, tallies] of [
      [true, roots],
      [false, others],
    ] as const) {
      if (tallies.entities.count === 0) continue
      const own = figuresOf(tallies)
      this.#total(namespaceId, own)
      this.#count(namespaceId, 'Kind', kind, name, 'ebc', own)
      this.#count(namespaceId, isRoot ? 'Kind_IsRootEntity' : 'Kind_NotRootEntity', kind, name, 'e', own)
    }
    for (const [id, { count, bytes }] of composites) {
      const properties: [string, Value][] = [named('kind_name', kind), ['index_id', { type: 'integer', value: id }]]
      const figures = { ...noFigures(), count, compositeBytes: bytes }
      this.#count(namespaceId, 'Kind_CompositeIndex', `${kind}_${id}`, properties, 'plain', figures)
    }
  }

  property({ namespaceId, kind }: KindSurvey, property: string, type: string, figures: Figures): void {
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
    if (kind !== this.#wanted) return
    const id = `${namespaceId}\u0000${name.name ?? `#${name.id}`}`
    const { figures } = getOrInsert(this.#statistics, id, () => ({
      namespaceId,
      kind,
      name,
      properties,
      shown,
      figures: noFigures(),
    }))
    figures.count += added.count
    figures.entityBytes += added.entityBytes
    figures.builtinBytes += added.builtinBytes
    figures.builtinCount += added.builtinCount
    figures.compositeBytes += added.compositeBytes
    figures.compositeCount += added.compositeCount
  }
}

function noFigures(): Figures {
  return { count: 0, entityBytes: 0, builtinBytes: 0, builtinCount: 0, compositeBytes: 0, compositeCount: 0 }
}

function figuresOf({ entities, builtin, composite }: EntityTallies): Figures {
  return {
    count: entities.count,
    entityBytes: entities.bytes,
    builtinBytes: builtin.bytes,
    builtinCount: builtin.count,
    compositeBytes: composite.bytes,
    compositeCount: composite.count,
  }
}

function named(property: string, value: string): [string, Value] {
  return [property, { type: 'string', value }]
}
