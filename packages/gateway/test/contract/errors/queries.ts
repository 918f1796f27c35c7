/** RunQuery with a query: its parts, how they go together, and its read options. */
import type { Plain } from '../../support/published-protos.ts'
import {
  type Answers,
  array,
  incomplete,
  integer,
  invalid,
  named,
  ok,
  type RequestOf,
  type Row,
  secondsFromNow,
  string,
  times,
  tooOld,
  unknownToLegacy,
} from './row.ts'

/** A query of kind K with more members. */
function query(number: number, input: string, members: Plain, answers: Answers): Row {
  return request(number, input, { query: { kind, ...members } }, answers)
}

function request(number: number, input: string, itsRequest: RequestOf, answers: Answers): Row {
  return { number, input, method: 'RunQuery', request: itsRequest, ...answers }
}

const kind = [{ name: 'K' }]
const kindless = { kind: [] }
const filter = (op: string, operand: Plain = integer(), property = 'v'): Plain => ({
  propertyFilter: { property: { name: property }, op, value: operand },
})
const keyFilter = (op: string, operand: Plain): Plain => filter(op, { keyValue: operand }, '__key__')
const composite = (op: string, ...filters: Plain[]): Plain => ({ compositeFilter: { op, filters } })
const and = (...filters: Plain[]): Plain => composite('AND', ...filters)
const or = (...filters: Plain[]): Plain => composite('OR', ...filters)
const order = (name: string, direction = 'ASCENDING'): Plain => ({ property: { name }, direction })
const projection = (...names: string[]): Plain[] => names.map((name) => ({ property: { name } }))
const properties = (...names: string[]): Plain[] => names.map((name) => ({ name }))
const integers = (count: number): Plain => array(...times(count, integer))
const vOrW = [filter('GREATER_THAN'), filter('GREATER_THAN', integer(), 'w')]
const otherNamespace = { partitionId: { namespaceId: 'elsewhere' }, ...named('n') }

const refusedByLegacy: Answers = { ...ok, legacy: 'INVALID_ARGUMENT' }
const takenByLegacy = (names: RegExp, more: Partial<Answers> = {}): Answers => invalid(names, { legacy: 'OK', ...more })

export const queryRows: readonly Row[] = [
  query(103, 'two kinds', { kind: properties('A', 'B') }, invalid(/"A", "B"/)),
  query(104, 'negative limit', { limit: { value: -1 } }, invalid(/limit.*-1/)),
  query(105, 'negative offset', { offset: -1 }, invalid(/offset.*-1/)),
  query(106, 'bad cursor', { startCursor: Buffer.from('garbage') }, invalid(/cursor/)),
  request(
    107,
    'cursor of another query',
    async (world) => {
      await world.put(named('n'))
      const { batch } = await world.ok('RunQuery', { query: { kind } })
      return { query: { kind, order: [order('v')], startCursor: (batch as Plain)['endCursor'] } }
    },
    {
      ...refusedByLegacy,
      ours: { code: 'INVALID_ARGUMENT', because: 'a place in one order is no place in another: as legacy does' },
      names: /cursor/,
    },
  ),
  query(108, 'filter without a kind', { ...kindless, filter: filter('EQUAL') }, invalid(/kind/)),
  query(109, 'order without a kind', { ...kindless, order: [order('v')] }, invalid(/kind/)),
  query(
    110,
    'descending keys without a kind',
    { ...kindless, order: [order('__key__', 'DESCENDING')] },
    invalid(/kind/),
  ),
  query(111, 'inequalities on two properties', { filter: and(...vOrW) }, refusedByLegacy),
  query(
    112,
    'inequality and another order first',
    { filter: filter('LESS_THAN'), order: [order('w')] },
    refusedByLegacy,
  ),
  query(113, 'projection of a reserved property', { projection: projection('__x__') }, takenByLegacy(/__x__/)),
  query(114, 'projection of a property twice', { projection: projection('v', 'v') }, invalid(/\bv\b/)),
  query(
    115,
    'projection of a property with an equality',
    { projection: projection('v'), filter: filter('EQUAL') },
    invalid(/\bv\b/),
  ),
  query(116, 'projection of key and property', { projection: projection('__key__', 'v') }, ok),
  query(117, 'distinct on, without a projection', { distinctOn: properties('v') }, ok),
  query(
    118,
    'distinct on what is not first in the orders',
    { projection: projection('v', 'w'), distinctOn: properties('v'), order: [order('w'), order('v')] },
    invalid(/distinct/i),
  ),
  query(119, 'distinct on what is not projected', { projection: projection('v'), distinctOn: properties('w') }, ok),
  query(120, 'filter without an operator', { filter: filter('OPERATOR_UNSPECIFIED') }, invalid(/"v".*operator/)),
  query(121, 'composite filter without filters', { filter: and() }, invalid(/composite/)),
  query(
    122,
    'composite filter without an operator',
    { filter: composite('OPERATOR_UNSPECIFIED', filter('EQUAL')) },
    invalid(/composite.*operator/),
  ),
  query(123, 'empty filter', { filter: {} }, invalid(/filter/)),
  query(
    124,
    'value unindexed',
    { filter: filter('EQUAL', { ...integer(), excludeFromIndexes: true }) },
    invalid(/\bv\b/),
  ),
  query(125, 'value without a type', { filter: filter('EQUAL', {}) }, invalid(/\bv\b/)),
  query(126, 'array to be equal to', { filter: filter('EQUAL', integers(2)) }, invalid(/\bv\b.*array|array.*\bv\b/)),
  query(127, '__key__ against no key', { filter: filter('EQUAL', integer(), '__key__') }, invalid(/__key__/)),
  query(128, 'key incomplete', { filter: keyFilter('EQUAL', incomplete) }, invalid(/neither id nor name|incomplete/)),
  query(129, 'key of another namespace', { filter: keyFilter('EQUAL', otherNamespace) }, invalid(/"elsewhere"/)),
  query(
    130,
    'ancestor on another property',
    { filter: filter('HAS_ANCESTOR', { keyValue: named('n') }) },
    invalid(/__key__/),
  ),
  query(131, 'ancestor that is no key', { filter: filter('HAS_ANCESTOR', integer(), '__key__') }, invalid(/key/)),
  query(
    132,
    'two ancestors',
    { filter: and(keyFilter('HAS_ANCESTOR', named('a')), keyFilter('HAS_ANCESTOR', named('b'))) },
    invalid(/ancestor/),
  ),
  query(133, 'IN nothing', { filter: filter('IN', array()) }, invalid(/\bv\b/)),
  query(134, 'IN what is no array', { filter: filter('IN') }, invalid(/\bv\b/)),
  query(135, 'IN 31 values', { filter: filter('IN', integers(31)) }, invalid(/31.*30/)),
  query(136, 'IN 30 values', { filter: filter('IN', integers(30)) }, refusedByLegacy),
  query(137, 'IN one value', { filter: filter('IN', integers(1)) }, ok),
  query(138, 'NOT_IN 11 values', { filter: filter('NOT_IN', integers(11)) }, invalid(/11.*10/)),
  query(139, 'NOT_IN two values', { filter: filter('NOT_IN', integers(2)) }, refusedByLegacy),
  query(
    140,
    'two NOT_EQUAL',
    { filter: and(filter('NOT_EQUAL', integer(1)), filter('NOT_EQUAL', integer(2))) },
    invalid(/NOT_EQUAL|!=|notEqual/),
  ),
  query(141, 'NOT_EQUAL', { filter: filter('NOT_EQUAL') }, { ...ok, legacy: 'UNKNOWN' }),
  query(142, 'OR', { filter: or(filter('EQUAL', integer(1)), filter('EQUAL', integer(2))) }, refusedByLegacy),
  query(
    143,
    'OR of two ancestors',
    { filter: or(keyFilter('HAS_ANCESTOR', named('a')), keyFilter('HAS_ANCESTOR', named('b'))) },
    invalid(/ancestor/),
  ),
  query(144, 'order without a direction', { order: [order('v', 'DIRECTION_UNSPECIFIED')] }, ok),
  query(145, 'order without a property', { order: [order('')] }, invalid(/order/)),
  query(
    146,
    'order by a property twice',
    { order: [order('v'), order('v')] },
    takenByLegacy(/\bv\b/, { ours: { code: 'OK', because: 'the second order changes nothing; legacy takes it too' } }),
  ),
  query(
    147,
    '101 filters',
    { filter: and(...times(101, (i) => filter('EQUAL', integer(), `p${i}`))) },
    takenByLegacy(/101.*100/),
  ),
  query(148, 'kind empty', { kind: properties('') }, invalid(/kind/)),
  query(149, 'kind reserved', { kind: properties('__foo__') }, ok),
  query(
    150,
    '__kind__ below an ancestor',
    { kind: properties('__kind__'), filter: keyFilter('HAS_ANCESTOR', named('n')) },
    invalid(/__kind__.*ancestor|ancestor.*__kind__/),
  ),
  query(151, '__kind__ by a property', { kind: properties('__kind__'), filter: filter('EQUAL') }, invalid(/__kind__/)),
  query(
    152,
    '__namespace__ in the order of a property',
    { kind: properties('__namespace__'), order: [order('v')] },
    invalid(/__namespace__/),
  ),
  query(153, 'kind __entity_group__', { kind: properties('__entity_group__') }, refusedByLegacy),
  request(154, 'read time two hours ago', () => at(-7200), tooOld),
  request(155, 'read time in the future', () => at(3600), takenByLegacy(/future/)),
  request(
    156,
    'read consistency not chosen',
    { query: { kind }, readOptions: { readConsistency: 'READ_CONSISTENCY_UNSPECIFIED' } },
    invalid(/read_consistency/),
  ),
  request(157, 'STRONG without an ancestor', { query: { kind }, readOptions: { readConsistency: 'STRONG' } }, ok),
  request(
    158,
    'garbage for a transaction',
    { query: { kind }, readOptions: { transaction: Buffer.from('garbage') } },
    invalid(/transaction/),
  ),
  request(
    159,
    'empty transaction',
    { query: { kind }, readOptions: { transaction: Buffer.alloc(0) } },
    invalid(/transaction is empty/),
  ),
  request(
    160,
    'partition of another project',
    { partitionId: { projectId: 'another' }, query: { kind } },
    invalid(/ vs\. another /),
  ),
  request(
    161,
    'namespace with bad letters',
    { partitionId: { namespaceId: 'a b' }, query: { kind } },
    invalid(/"a b"/),
  ),
  request(
    162,
    'property mask and a projection',
    { query: { kind, projection: projection('v') }, propertyMask: { paths: ['v'] } },
    takenByLegacy(/mask/),
  ),
  request(163, 'explain', { query: { kind }, explainOptions: { analyze: true } }, { ...ok, ...unknownToLegacy }),
  request(164, 'neither query nor GQL', {}, invalid(/neither/)),
  request(165, 'no partition', { query: { kind } }, ok),
  query(
    166,
    'nearest vectors of what is no vector',
    {
      findNearest: {
        vectorProperty: { name: 'v' },
        queryVector: array({ doubleValue: 1 }),
        distanceMeasure: 'EUCLIDEAN',
        limit: { value: 1 },
      },
    },
    takenByLegacy(/find_nearest/, unknownToLegacy),
  ),
]

function at(seconds: number): Plain {
  return { query: { kind }, readOptions: { readTime: secondsFromNow(seconds) } }
}

export const gqlRows: readonly Row[] = [
  gql(167, 'syntax error', { queryString: 'SELEC * FROM K' }, invalid(/SELEC/)),
  gql(168, 'literal that is not allowed', { queryString: 'SELECT * FROM K WHERE v = 17' }, invalid(/17/)),
  gql(169, 'named binding absent', { queryString: 'SELECT * FROM K WHERE v = @x' }, invalid(/@x/)),
  gql(170, 'positional binding absent', { queryString: 'SELECT * FROM K WHERE v = @1' }, invalid(/@1/)),
  gql(
    171,
    'positional binding not used',
    { queryString: 'SELECT * FROM K', positionalBindings: [{ value: integer() }] },
    invalid(/@1|binding/),
  ),
  gql(
    172,
    'binding @0',
    { queryString: 'SELECT * FROM K WHERE v = @0', positionalBindings: [{ value: integer() }] },
    invalid(/@0/),
  ),
  gql(
    173,
    'binding name reserved',
    { queryString: 'SELECT * FROM K WHERE v = @__x__', namedBindings: { __x__: { value: integer() } } },
    invalid(/__x__/),
  ),
  gql(
    174,
    'binding name that begins with a digit',
    { queryString: 'SELECT * FROM K WHERE v = @1x', namedBindings: { '1x': { value: integer() } } },
    invalid(/1x/),
  ),
  gql(175, 'empty string', { queryString: '' }, invalid(/empty|SELECT/)),
  gql(
    176,
    'aggregation',
    { queryString: 'SELECT COUNT(*) FROM K' },
    {
      firestore: 'UNKNOWN',
      legacy: 'UNKNOWN',
      ours: { code: 'INVALID_ARGUMENT', because: 'the emulators have an unhandled fault' },
      names: /RunAggregationQuery|aggregat/i,
    },
  ),
  gql(
    177,
    'inequalities on two properties',
    { queryString: 'SELECT * FROM K WHERE v > 1 AND w > 1', allowLiterals: true },
    refusedByLegacy,
  ),
  gql(
    178,
    'limit bound to a string',
    { queryString: 'SELECT * FROM K LIMIT @1', positionalBindings: [{ value: string('x') }] },
    invalid(/LIMIT|@1/i),
  ),
]

function gql(number: number, input: string, gqlQuery: Plain, answers: Answers): Row {
  return request(number, `GQL: ${input}`, { gqlQuery }, answers)
}
