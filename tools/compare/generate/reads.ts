/** Lookups, ids, aggregations and metadata: what else reads, or gives keys. */
import fc from 'fast-check'
import type { Plain } from '../../../packages/gateway/test/support/published-protos.ts'
import type { Case, Mode, Step } from '../case.ts'
import { queries, worlds } from './queries.ts'
import { anyKey, fewKeys, integer, keys, list, nothing, type Values } from './values.ts'

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
  .tuple(
    worlds,
    fc.array(fc.oneof({ weight: 6, arbitrary: keys }, { weight: 1, arbitrary: anyKey }), { maxLength: 5 }),
    fc.option(masks),
    fc.option(readOptions),
  )
  .map(([world, asked, mask, options]) => {
    const request = {
      keys: asked,
      ...(mask === null ? {} : { propertyMask: { paths: mask } }),
      ...(options === null ? {} : { readOptions: options }),
    }
    return { area: 'lookups', steps: [world, { method: 'Lookup', request }] }
  })

const incomplete = (kind: string, ...parents: Plain[]): Plain => ({ path: [...parents, { kind }] })
const idKeys: Values = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(incomplete('K'), incomplete('L'), incomplete('L', { kind: 'K', id: '1' })) },
  { weight: 2, arbitrary: fewKeys },
  { weight: 1, arbitrary: anyKey },
)

export const idCases: fc.Arbitrary<Case> = fc
  .array(fc.tuple(fc.constantFrom('AllocateIds', 'AllocateIds', 'ReserveIds'), fc.array(idKeys, { maxLength: 4 })), {
    minLength: 1,
    maxLength: 3,
  })
  .map((asked) => ({
    area: 'ids',
    steps: asked.map(
      ([method, itsKeys]): Step => ({
        method: method === 'ReserveIds' ? 'ReserveIds' : 'AllocateIds',
        request: { keys: itsKeys },
      }),
    ),
  }))

const properties = fc.constantFrom('a', 'b', 'c', 'e.x')
const aggregation: Values = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant<Plain>({ count: {} }) },
      { weight: 1, arbitrary: fc.constantFrom('0', '1', '3', '-1').map((value) => ({ count: { upTo: { value } } })) },
      { weight: 3, arbitrary: properties.map((name) => ({ sum: { property: { name } } })) },
      { weight: 3, arbitrary: properties.map((name) => ({ avg: { property: { name } } })) },
      { weight: 1, arbitrary: fc.constantFrom<Plain>({ sum: {} }, { avg: { property: { name: '__key__' } } }, {}) },
    ),
    fc.constantFrom('', '', 'x', 'y', 'property_1', '__x__', '1'),
  )
  .map(([what, alias]) => ({ ...what, ...(alias === '' ? {} : { alias }) }))

export function aggregationCases(mode: Mode): fc.Arbitrary<Case> {
  const window: Values = fc.record(
    { limit: fc.nat({ max: 4 }).map((value) => ({ value })), offset: fc.nat({ max: 3 }) },
    { requiredKeys: [] },
  )
  return fc
    .tuple(
      worlds,
      queries(mode),
      fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: window }),
      fc.array(aggregation, { minLength: 1, maxLength: 3 }),
    )
    .map(([world, { projection: _, distinctOn: __, ...query }, itsWindow, aggregations]) => {
      const nestedQuery = { ...query, ...itsWindow }
      const plain: Step = { method: 'RunQuery', request: { query } }
      const step: Step = {
        method: 'RunAggregationQuery',
        request: { aggregationQuery: { nestedQuery, aggregations } },
        base: 1,
      }
      return { area: 'aggregations', steps: [world, plain, step] }
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
  .map((all) => ({
    method: 'Commit',
    request: {
      mode: 'NON_TRANSACTIONAL',
      mutations: all.map(([namespaceId, kind, id, itsProperties]) => ({
        upsert: {
          key: { ...(namespaceId === '' ? {} : { partitionId: { namespaceId } }), path: [{ kind, id }] },
          properties: itsProperties,
        },
      })),
    },
  }))

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
      { projection: [{ property: { name: '__key__' } }] },
      { order: [{ property: { name: '__key__' } }] },
      { limit: { value: 1 } },
      { offset: 1 },
      { order: [{ property: { name: '__key__' }, direction: 'DESCENDING' }] },
      { projection: [{ property: { name: 'property_representation' } }] },
    ),
    fc.constantFrom('', '', 'n', 'none'),
  )
  .map(([world, name, filter, more, namespaceId]) => {
    const partitionId = namespaceId === '' ? {} : { partitionId: { namespaceId } }
    const key = filter === null ? {} : { ...partitionId, ...filter[1] }
    const query = {
      kind: [{ name }],
      ...(filter === null
        ? {}
        : { filter: { propertyFilter: { property: { name: '__key__' }, op: filter[0], value: { keyValue: key } } } }),
      ...more,
    }
    const counted = { nestedQuery: query, aggregations: [{ count: {} }] }
    return {
      area: 'metadata',
      steps: [
        world,
        { method: 'RunQuery', request: { ...partitionId, query } },
        { method: 'RunAggregationQuery', request: { ...partitionId, aggregationQuery: counted }, base: 1 },
      ],
    }
  })
