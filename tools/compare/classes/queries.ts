/** Classes about queries: what may be asked, what is found, in which order. */
import { isDeepStrictEqual } from 'node:util'
import { type Answer, at, listOf } from '../case.ts'
import { keyText } from '../difference.ts'
import { type ClassTable, isArray, isUnequal, type Look, type PropertyFilter } from './look.ts'

export const queryClasses: ClassTable = {
  'entity-once': {
    what: 'an entity that several elements of an array put into the results',
    ours: 'once, at the first of its places',
    firestore: 'once for each of these elements',
    why: 'a query finds entities (production); legacy does so',
    explains: (look) => {
      const { projected, theirAnswers, step, index, query, ours } = look
      if (projected.some((name) => name !== '__key__')) return false
      const all = keysFound(theirAnswers[step.base ?? index])
      const once = [...new Set(all)]
      if (once.length === all.length || !look.stored(isArray)) return false
      const isWhole = step.base === undefined && query['limit'] === undefined && look.offset === 0
      if (!isWhole) return true
      const mine = Array.isArray(ours) ? ours : []
      const isSame = hasFreeTies(look)
        ? isDeepStrictEqual(once.toSorted(), mine.toSorted())
        : isDeepStrictEqual(once, mine)
      return look.isAbout('results') && isSame
    },
  },
  'newer-operators': {
    what: 'OR, `!=`, NOT_IN, IN with several values',
    ours: 'as in Firestore mode',
    legacy: 'INVALID_ARGUMENT',
    why: 'they are part of the API, and production has them in both',
    explains: ({ theyRefuse, compositeOperators, filters }) =>
      theyRefuse &&
      (compositeOperators.includes('OR') ||
        filters.some(
          ({ op, value }) =>
            ['NOT_EQUAL', 'NOT_IN'].includes(op) ||
            (op === 'IN' && listOf(at(value, ['arrayValue', 'values'])).length > 1),
        )),
  },
  'inequalities-of-several-properties': {
    what: 'inequalities on several properties, or one that does not lead the orders',
    ours: 'as in Firestore mode',
    legacy: 'INVALID_ARGUMENT',
    why: 'they are part of the API, and production has them',
    explains: ({ theyRefuse, filters, orders: [first] }) => {
      const unequal = new Set(filters.filter(isUnequal).map(({ name }) => name))
      return theyRefuse && (unequal.size > 1 || (unequal.size === 1 && first !== undefined && !unequal.has(first)))
    },
  },
  'distinct-behind-a-fixed-order': {
    what: 'distinct properties behind an order that an equality leaves without effect',
    ours: 'answered: such an order is passed over',
    legacy: 'INVALID_ARGUMENT',
    firestore: 'INVALID_ARGUMENT',
    why: 'the orders that are left do begin with the distinct properties',
    explains: ({ theyRefuse, distinct, filters, orders }) =>
      theyRefuse &&
      distinct.length > 0 &&
      filters.some(({ name, op }) => ['EQUAL', 'IN'].includes(op) && (name === '__key__' || orders.includes(name))),
  },
  'distinct-beside-an-inequality': {
    what: 'distinct properties, and an inequality on another one',
    ours: 'answered',
    legacy: 'INVALID_ARGUMENT',
    why: 'the Firestore emulator answers it',
    explains: ({ theyRefuse, distinct, filters }) =>
      theyRefuse &&
      distinct.length > 0 &&
      filters.some((filter) => isUnequal(filter) && !distinct.includes(filter.name)),
  },
  'ties-by-key-ascending': {
    what: 'results that the orders do not tell apart, where the last order is descending',
    ours: 'by key, ascending',
    firestore: 'by key, descending: in the direction of the last order',
    why: 'the rows of the Datastore are so, and legacy; ask for an order by `__key__` where it matters',
    explains: (look) => hasFreeTies(look) && hasOtherOrder(look),
  },
  'free-order-of-projections': {
    what: 'the order of rows of a projection that the query does not ask for',
    ours: 'that of the index which serves it: by the names of the projected properties, ascending, where there is no other',
    firestore: 'by the properties as the query has them, in the direction of the last order',
    why: 'what no order tells apart has none; production reads it from the index',
    explains: (look) => (look.projected.length > 1 || look.orders.at(-1) === '__key__') && hasOtherOrder(look),
  },
  'cursor-of-another-query': {
    what: 'a cursor of a query that orders by other properties',
    ours: 'INVALID_ARGUMENT',
    firestore: 'accepted',
    why: 'a place among the values of one property is no place among those of another; legacy refuses it too',
    explains: ({ weRefuse, case: { row }, query }) =>
      weRefuse && (row?.number === 107 || query['startCursor'] !== undefined),
  },
  'cursor-before-all': {
    what: 'the end cursor of a page before whose end nothing was passed, in the reverse query',
    ours: 'nothing lies before it',
    legacy: 'the whole reverse query: such a cursor has no place',
    why: 'what lies behind a cursor and before it are together the whole',
    explains: ({ query, ourAnswers, isAbout, case: { steps }, step }) => {
      const passed = ourAnswers[Number(at(query['startCursor'], ['$answer', 'from']))]
      return (
        isAbout('results', 'more results', 'skipped results', 'skipped cursor') &&
        keysFound(passed).length === 0 &&
        at(passed?.body, ['batch', 'skippedCursor']) === undefined &&
        !isDeepStrictEqual(steps[step.base ?? 0], steps[1])
      )
    },
  },
  'order-twice': {
    what: 'a property that is ordered by twice',
    ours: 'accepted: the second order changes nothing',
    firestore: 'INVALID_ARGUMENT',
    why: 'legacy accepts it too',
    explains: ({ theyRefuse, orders }) => theyRefuse && new Set(orders).size < orders.length,
  },
  'projection-of-reserved-names': {
    what: 'a projection of a reserved name',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted',
    why: 'there are no such properties; the Firestore emulator refuses it',
    explains: ({ weRefuse, projected }) => weRefuse && projected.some(isReserved),
  },
  'nearest-unknown': {
    what: '`find_nearest`',
    ours: 'honoured in both modes, and checked',
    legacy: 'passed over',
    why: 'the API has it; the emulator is older',
    explains: ({ weRefuse, query }) => weRefuse && query['findNearest'] !== undefined,
  },
  'metadata-in-firestore-mode': {
    what: 'queries of `__namespace__`, `__kind__` and `__property__`',
    ours: 'answered in both modes',
    firestore: 'INVALID_ARGUMENT, and no results of `__property__`',
    why: 'production has them',
    explains: ({ kinds, isCode, isAbout }) =>
      kinds.some(isMetadata) &&
      (isCode(['OK', 'INVALID_ARGUMENT'], ['INVALID_ARGUMENT', 'OK']) ||
        isAbout('results', 'more results', 'result type', 'end cursor', 'skipped results')),
  },
  'entity-group-kind': {
    what: 'a query of the kind `__entity_group__`',
    ours: 'answered: nothing',
    legacy: 'INVALID_ARGUMENT',
    why: 'the Firestore emulator answers so',
    explains: ({ theyRefuse, kinds }) => theyRefuse && kinds.includes('__entity_group__'),
  },
  'aggregations-in-both-modes': {
    what: 'RunAggregationQuery',
    ours: 'in both modes',
    legacy: 'UNIMPLEMENTED',
    why: 'it is part of the API',
    explains: ({ method, theirs }) => method === 'RunAggregationQuery' && theirs === 'UNIMPLEMENTED',
  },
  'aggregation-more-results': {
    what: '`more_results` of an aggregation',
    ours: 'NO_MORE_RESULTS',
    firestore: 'unset',
    why: 'the API has it',
    explains: ({ method, isAbout, theirs }) =>
      method === 'RunAggregationQuery' && isAbout('more results') && theirs === undefined,
  },
  'not-in-beside-or': {
    what: 'NOT_IN in one query with IN or OR',
    ours: 'INVALID_ARGUMENT',
    firestore: 'answered',
    why: 'production’s page of query limits forbids it',
    explains: ({ weRefuse, filters, compositeOperators }) =>
      weRefuse &&
      filters.some(({ op }) => op === 'NOT_IN') &&
      (compositeOperators.includes('OR') || filters.some(({ op }) => op === 'IN')),
  },
  'metadata-versions': {
    what: 'versions of what metadata queries find',
    ours: 'those of the read',
    legacy: 'unset',
    why: 'every full result has one (API)',
    explains: ({ kinds, isAbout, isUnset }) => kinds.some(isMetadata) && isAbout('version of results') && isUnset,
  },
  'metadata-descending': {
    what: 'a descending order of a metadata query',
    ours: 'INVALID_ARGUMENT',
    legacy: 'accepted beside an equality, where it orders nothing',
    why: 'such queries are ordered by ascending keys only',
    explains: ({ kinds, weRefuse, ourMessage }) =>
      kinds.some(isMetadata) && weRefuse && /ascending only/.test(ourMessage),
  },
  'aggregation-without-a-kind': {
    what: 'SUM and AVG without a kind',
    ours: 'INVALID_ARGUMENT',
    firestore: 'answered',
    why: 'rows of a property stand under a kind: as a projection, it needs one',
    explains: ({ method, weRefuse, kinds }) => method === 'RunAggregationQuery' && weRefuse && kinds.length === 0,
  },
  'aggregations-of-reserved-kinds': {
    what: 'an aggregation over metadata, statistics or another reserved kind',
    ours: 'over what the query finds',
    firestore: 'INVALID_ARGUMENT',
    why: 'production has these kinds, and aggregations are of queries',
    explains: ({ method, theyRefuse, kinds }) =>
      method === 'RunAggregationQuery' && theyRefuse && kinds.some(isReserved),
  },
  'aggregations-unchecked': {
    what: 'an aggregation over a query that both refuse as such',
    ours: 'INVALID_ARGUMENT, as the query',
    firestore: 'answered',
    why: 'what is no query has no results to add up',
    explains: ({ method, weRefuse, step, index, ourAnswers, theirAnswers }) =>
      method === 'RunAggregationQuery' &&
      weRefuse &&
      [ourAnswers, theirAnswers].every((answers) => answers[step.base ?? index]?.code === 'INVALID_ARGUMENT'),
  },
  'pages-of-arrays': {
    what: 'pages of a query that is ordered by a property with arrays',
    ours: 'each entity once, and nothing beyond the end cursor',
    legacy: 'entities are passed over in a descending order; an end cursor is run past',
    why: 'the pages of a query hold what the whole of it holds',
    explains: ({ step, isAbout, stored, query: { endCursor, startCursor, order } }) =>
      step.base !== undefined &&
      isAbout('results', 'skipped results', 'more results') &&
      stored(isArray) &&
      (endCursor !== undefined ||
        (startCursor !== undefined && listOf(order).some((one) => one['direction'] === 'DESCENDING'))),
  },
  'cursor-behind-the-key': {
    what: 'a cursor of a query by `__key__` that has an order, an inequality or a projection of a property besides',
    ours: 'accepted',
    firestore: 'its own cursor is INVALID_ARGUMENT: it should not include the primary key',
    why: 'a cursor that was given out must be taken back',
    explains: ({ theyRefuse, query: { startCursor, endCursor }, theirMessage }) =>
      theyRefuse && (startCursor ?? endCursor) !== undefined && /primary key/.test(theirMessage),
  },
  'orders-behind-the-key': {
    what: 'an order by a property behind `__key__`, or beside an equality on it',
    ours: 'entities without the property are left out',
    legacy: 'passed over: they are found',
    why: 'an order asks for the property, wherever it stands; the Firestore emulator does so',
    explains: ({ isAbout, orders, filters }) =>
      isAbout('results', 'more results', 'skipped results', 'skipped cursor', 'end cursor') &&
      (orders.includes('__key__') || filters.some(isKeyEquality)) &&
      orders.at(-1) !== '__key__',
  },
  'distinct-on-arrays': {
    what: 'DISTINCT ON a property with arrays, of whole entities',
    ours: 'each entity at the first of its places, then the first entity of each value',
    legacy: 'the first row of each value',
    firestore: 'the first row of each value',
    why: 'not documented; an entity has one place in the results',
    explains: ({ distinct, projected, stored, isAbout }) =>
      distinct.length > 0 && projected.length === 0 && stored(isArray) && isAbout('results'),
  },
  statistics: {
    what: 'queries of statistics, `__Stat_…`',
    ours: 'answered, computed for the query; while nothing is stored, `__Stat_Total__` has no row',
    legacy: 'no results',
    firestore: 'no results',
    why: 'production has them',
    explains: ({ isAbout, kinds }) =>
      isAbout('results', 'end cursor', 'more results', 'skipped results', 'skipped cursor', 'result type') &&
      kinds.some((name) => name.startsWith('__Stat_')),
  },
  'metadata-projections': {
    what: 'a projection of metadata, or a filter by a key that none of its results has',
    ours: 'answered',
    legacy: 'INVALID_ARGUMENT',
    why: 'production’s page has such projections; such keys have their place in the order',
    explains: ({ kinds, theyRefuse, filters, projected }) =>
      kinds.some(isMetadata) && theyRefuse && (filters.length > 0 || projected.length > 0),
  },
  'reserved-kinds-without-indexes': {
    what: 'a query of another reserved kind that needs a composite index',
    ours: 'FAILED_PRECONDITION',
    legacy: 'INVALID_ARGUMENT, or nothing found',
    firestore: 'nothing found',
    why: 'no client can define an index of a reserved kind',
    explains: ({ isCode, kinds }) =>
      isCode('FAILED_PRECONDITION', ['OK', 'INVALID_ARGUMENT']) && kinds.some(isReserved),
  },
}

const keysFound = (answer: Answer | undefined): readonly string[] =>
  listOf(at(answer?.body, ['batch', 'entityResults'])).map((one) => keyText(at(one, ['entity', 'key'])))

/** Whether both found the same in another order; or, of a page, whether both did so in the whole query. */
function hasOtherOrder({ step, index, ourAnswers, theirAnswers, aspect, ours, theirs }: Look): boolean {
  const whole = step.base ?? index
  const [mine, other] = [ourAnswers[whole], theirAnswers[whole]].map(rowsFound)
  if (isDeepStrictEqual(mine, other) || !isDeepStrictEqual(mine?.toSorted(), other?.toSorted())) return false
  return (
    step.base !== undefined ||
    aspect === 'entity' ||
    (aspect === 'results' && Array.isArray(ours) && Array.isArray(theirs))
  )
}

/** Key and properties of each result. */
const rowsFound = (answer: Answer | undefined): readonly string[] =>
  listOf(at(answer?.body, ['batch', 'entityResults'])).map((one) => canonical(at(one, ['entity'])))

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, one) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

const isReserved = (name: string): boolean => /^__.*__$/.test(name)
const isMetadata = (kind: string): boolean => ['__namespace__', '__kind__', '__property__'].includes(kind)

/** Whether results that the orders do not tell apart stand otherwise in Firestore's emulator: see ties-by-key-ascending. */
function hasFreeTies({ isLastDescending, orders }: Look): boolean {
  return isLastDescending && orders.at(-1) !== '__key__'
}

const isKeyEquality = ({ name, op }: PropertyFilter): boolean => name === '__key__' && op === 'EQUAL'
