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
import { getOrInsert } from '../get-or-insert.ts'
import { andThen, forEachInOrder, type MaybePromise } from '../maybe-promise.ts'
import type { DatabaseName, PathElement } from '../model/key.ts'
import type { Value } from '../model/value.ts'
import { forEachInSlices, giveWay } from '../slices.ts'
import { MemoryKv } from '../storage/memory-kv.ts'
import { KvTableView, type TableView } from '../tables/table.ts'
import { putSpecial, workOfEntity } from './metadata-kinds.ts'
import { classNames, type EntityTallies, type KindSurvey, noTallies, type Survey, tally } from './survey.ts'

export function isStatisticsKind(kind: string | undefined): boolean {
  return kind?.startsWith('__Stat_') === true && kind.endsWith('__')
}

export interface StatisticsSource extends DatabaseName {
  readonly survey: () => MaybePromise<Survey>
  /** Whether rows of all property indexes are kept. */
  readonly hasAllRows: boolean
  /** The moment of the figures, microseconds. */
  readonly at: bigint
}

/** The figures that a kind of statistic shows: `e` of entities, `b` of built-in indexes, `c` of composite indexes. */
type Shown = 'e' | 'eb' | 'ebc' | 'c'

interface Statistic {
  readonly namespaceId: string
  readonly kind: string
  readonly name: PathElement
  readonly properties: readonly (readonly [string, Value])[]
  readonly shown: Shown
  readonly figures: EntityTallies
}

/** The tables as a query of a statistics kind sees them: entities of that kind alone, as others may be thousands. */
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
    const { projectId, databaseId, at } = source
    const key = { partition: { projectId, databaseId, namespaceId }, path: [{ ...name, kind }] }
    putSpecial(store, key, propertiesOf(statistic, at), at)
  }
  return andThen(forEachInSlices(context, statistics, 2 * workOfEntity, put), () => new KvTableView(store))
}

function propertiesOf({ shown, figures, properties }: Statistic, at: bigint): ReadonlyMap<string, Value> {
  const integer = (value: number): Value => ({ type: 'integer', value: BigInt(value) })
  const { entities, builtin, composite } = figures
  const all = new Map<string, Value>(properties)
  all.set('count', integer(shown === 'c' ? composite.count : entities.count))
  all.set('timestamp', { type: 'timestamp', micros: at })
  let bytes = 0
  for (const [letter, name, sum] of [
    ['e', 'entity', entities],
    ['b', 'builtin_index', builtin],
    ['c', 'composite_index', composite],
  ] as const) {
    if (!shown.includes(letter)) continue
    bytes += sum.bytes
    if (shown === 'c') continue
    all.set(`${name}_bytes`, integer(sum.bytes))
    if (letter !== 'e') all.set(`${name}_count`, integer(sum.count))
  }
  all.set('bytes', integer(bytes))
  return all
}

/** Figures of each property of a kind, with the type that they count for. */
function propertyFigures({ values, entries }: KindSurvey): readonly (readonly [string, string, EntityTallies])[] {
  const figures: [string, string, EntityTallies][] = []
  for (const [property, types] of values) {
    for (const [type, entities] of types) figures.push([property, type, { ...noTallies(), entities }])
  }
  for (const [property, classes] of entries) {
    for (const [byte, builtin] of classes) {
      figures.push([property, classNames.get(byte) ?? '', { ...noTallies(), builtin }])
    }
  }
  return figures
}

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
    for (const tallies of [roots, others]) {
      if (tallies.entities.count === 0) continue
      this.#total(namespaceId, tallies)
      this.#count(namespaceId, 'Kind', kind, name, 'ebc', tallies)
      const statistic = tallies === roots ? 'Kind_IsRootEntity' : 'Kind_NotRootEntity'
      this.#count(namespaceId, statistic, kind, name, 'e', tallies)
    }
    for (const [id, composite] of composites) {
      const properties: [string, Value][] = [named('kind_name', kind), ['index_id', { type: 'integer', value: id }]]
      this.#count(namespaceId, 'Kind_CompositeIndex', `${kind}_${id}`, properties, 'c', { ...noTallies(), composite })
    }
  }

  property({ namespaceId, kind }: KindSurvey, property: string, type: string, figures: EntityTallies): void {
    const ofType = named('property_type', type)
    const ofKind = named('kind_name', kind)
    const ofName = named('property_name', property)
    const count = (statistic: string, name: string, properties: [string, Value][]): void =>
      this.#count(namespaceId, statistic, name, properties, 'eb', figures)
    count('PropertyType', type, [ofType])
    count('PropertyType_Kind', `${type}_${kind}`, [ofType, ofKind])
    count('PropertyName_Kind', `${property}_${kind}`, [ofName, ofKind])
    count('PropertyType_PropertyName_Kind', `${type}_${property}_${kind}`, [ofType, ofName, ofKind])
  }

  #total(namespaceId: string, figures: EntityTallies): void {
    if (namespaceId !== '') this.#hasNamespaces = true
    this.#count(namespaceId, 'Total', 'total_entity_usage', [], 'ebc', figures)
    const name = namespaceId === '' ? { kind: '', id: 1n } : { kind: '', name: namespaceId }
    const properties = [named('subject_namespace', namespaceId)]
    this.#add({ namespaceId: '', kind: '__Stat_Namespace__', name, properties, shown: 'ebc', figures })
  }

  /** Counts for the whole database, and again for the namespace. */
  #count(
    namespaceId: string,
    statistic: string,
    name: string,
    properties: Statistic['properties'],
    shown: Shown,
    figures: EntityTallies,
  ): void {
    const counted = { name: { kind: '', name: name === '' ? '_' : name }, properties, shown, figures }
    this.#add({ ...counted, namespaceId: '', kind: `__Stat_${statistic}__` })
    this.#add({ ...counted, namespaceId, kind: `__Stat_Ns_${statistic}__` })
  }

  #add(added: Statistic): void {
    const { namespaceId, kind, name } = added
    if (kind !== this.#wanted) return
    const id = `${namespaceId}\u0000${name.name ?? `#${name.id}`}`
    const { figures } = getOrInsert(this.#statistics, id, () => ({ ...added, figures: noTallies() }))
    for (const part of ['entities', 'builtin', 'composite'] as const) {
      tally(figures[part], added.figures[part].bytes, added.figures[part].count)
    }
  }
}

function named(property: string, value: string): [string, Value] {
  return [property, { type: 'string', value }]
}
