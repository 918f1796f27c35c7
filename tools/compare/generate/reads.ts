/** Lookups, ids, aggregations and metadata: what else reads, or gives keys. */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import type { Case, Mode, Step } from '../case.ts'
import { queries, windows, worlds } from './queries.ts'
import { commitOf, propertyFilter, reference, runQuery } from './steps.ts'
import { anyKey, fewKeys, integer, keys, list, member, mixed, nothing, type Values } from './values.ts'

const masks = fc.array(
  fc.constantFrom('a', 'b', 'e', 'e.x', 'e.y', '__key__', 'zz', '', 'a..b', '`a`', 'a.x', '__x__'),
  { maxLength: 3 },
)

const readOptions: Values = fc.constantFrom<Plain>(
  { readConsistency: 'STRONG' },
  { readConsistency: 'EVENTUAL' },
  { readConsistency: 'READ_CONSISTENCY_UNSPECIFIED' },
  { newTransaction: {} },
  { newTransaction: { readOnly: {} } },
  { transaction: Buffer.from('nobody') },
  { transaction: Buffer.alloc(0) },
  { readTime: { seconds: '253402300800' } },
  { readTime: { seconds: '253402300799' } },
)

export const lookupCases: fc.Arbitrary<Case> = fc
  .tuple(worlds, fc.array(mixed([6, keys], [1, anyKey]), { maxLength: 5 }), fc.option(masks), fc.option(readOptions))
  .map(([world, asked, mask, options]) => {
    const request = {
      keys: asked,
      ...(mask === null ? {} : { propertyMask: { paths: mask } }),
      ...(options === null ? {} : { readOptions: options }),
    }
    return { steps: [world, { method: 'Lookup', request }] }
  })

const incomplete = (kind: string, ...parents: Plain[]): Plain => ({ path: [...parents, { kind }] })
const idKeys: Values = mixed(
  [6, fc.constantFrom(incomplete('K'), incomplete('L'), incomplete('L', { kind: 'K', id: '1' }))],
  [2, fewKeys],
  [1, anyKey],
)

const idMethods = fc.constantFrom<Step['method']>('AllocateIds', 'AllocateIds', 'ReserveIds')

export const idCases: fc.Arbitrary<Case> = fc
  .array(fc.tuple(idMethods, member('keys', fc.array(idKeys, { maxLength: 4 }))), { minLength: 1, maxLength: 3 })
  .map((asked) => ({ steps: asked.map(([method, request]): Step => ({ method, request })) }))

const properties = fc.constantFrom('a', 'b', 'c', 'e.x')
const aggregation: Values = fc
  .tuple(
    mixed(
      [3, fc.constant<Plain>({ count: {} })],
      [1, fc.constantFrom('0', '1', '3', '-1').map((value) => ({ count: { upTo: { value } } }))],
      [3, member('sum', properties.map(reference))],
      [3, member('avg', properties.map(reference))],
      [1, fc.constantFrom<Plain>({ sum: {} }, { avg: reference('__key__') }, {})],
    ),
    fc.constantFrom('', '', 'x', 'y', 'property_1', '__x__', '1'),
  )
  .map(([what, alias]) => ({ ...what, ...(alias === '' ? {} : { alias }) }))

export function aggregationCases(mode: Mode): fc.Arbitrary<Case> {
  return fc
    .tuple(
      worlds,
      queries(mode),
      mixed([3, fc.constant({})], [1, windows]),
      fc.array(aggregation, { minLength: 1, maxLength: 3 }),
    )
    .map(([world, { projection: _, distinctOn: __, ...query }, itsWindow, aggregations]) => {
      const request = { aggregationQuery: { nestedQuery: { ...query, ...itsWindow }, aggregations } }
      const step: Step = { method: 'RunAggregationQuery', request, base: 1 }
      return { steps: [world, runQuery(query), step] }
    })
}

/** Kinds and properties in two namespaces. */
const manyKinds: fc.Arbitrary<Step> = fc
  .uniqueArray(
    fc.tuple(
      fc.constantFrom('', 'n', 'm'),
      fc.constantFrom('K', 'L', 'M'),
      fc.constantFrom('1', '2'),
      fc.dictionary(
        fc.constantFrom('a', 'b'),
        fc.constantFrom(
          integer(1),
          list(integer(1), nothing),
          { stringValue: 'x' },
          { stringValue: 'x', excludeFromIndexes: true },
        ),
        { maxKeys: 2 },
      ),
    ),
    { minLength: 1, maxLength: 6, selector: ([namespaceId, kind, id]) => `${namespaceId}/${kind}/${id}` },
  )
  .map((all) =>
    commitOf(
      all.map(([namespaceId, kind, id, properties]) => {
        const partition = namespaceId === '' ? {} : { partitionId: { namespaceId } }
        return { upsert: { key: { ...partition, path: [{ kind, id }] }, properties } }
      }),
    ),
  )

const metadataKeys: Values = fc.constantFrom<Plain>(
  { path: [{ kind: '__namespace__', name: 'm' }] },
  { path: [{ kind: '__namespace__', id: '1' }] },
  { path: [{ kind: '__kind__', name: 'L' }] },
  {
    path: [
      { kind: '__kind__', name: 'K' },
      { kind: '__property__', name: 'b' },
    ],
  },
  { path: [{ kind: 'K', id: '1' }] },
)

export const metadataCases: fc.Arbitrary<Case> = fc
  .tuple(
    manyKinds,
    fc.constantFrom('__namespace__', '__kind__', '__property__', '__property__', '__Stat_Total__', '__entity_group__'),
    fc.option(fc.tuple(fc.constantFrom('LESS_THAN', 'GREATER_THAN_OR_EQUAL', 'EQUAL', 'HAS_ANCESTOR'), metadataKeys)),
    fc.constantFrom<Plain>(
      {},
      { projection: [reference('__key__')] },
      { order: [reference('__key__')] },
      { limit: { value: 1 } },
      { offset: 1 },
      { order: [{ property: { name: '__key__' }, direction: 'DESCENDING' }] },
      { projection: [reference('property_representation')] },
    ),
    fc.constantFrom('', '', 'n', 'none'),
  )
  .map(([world, name, filter, more, namespaceId]) => {
    const partitionId = namespaceId === '' ? {} : { partitionId: { namespaceId } }
    const key = filter === null ? {} : { ...partitionId, ...filter[1] }
    const query = {
      kind: [{ name }],
      ...(filter === null ? {} : { filter: propertyFilter('__key__', filter[0], { keyValue: key }) }),
      ...more,
    }
    const counted = { nestedQuery: query, aggregations: [{ count: {} }] }
    return {
      steps: [
        world,
        { method: 'RunQuery', request: { ...partitionId, query } },
        { method: 'RunAggregationQuery', request: { ...partitionId, aggregationQuery: counted }, base: 1 },
      ],
    }
  })
