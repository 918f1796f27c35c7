/** Classes about queries: what may be asked, what is found, in which order. */
import { isDeepStrictEqual } from 'node:util'
import { type Answer, at, listOf } from '../case.ts'
import { keyText } from '../difference.ts'
import type { DifferenceClass } from './class.ts'
import {
  compositeOperators,
  distinct,
  filters,
  isAbout,
  isArray,
  isCode,
  isUnequal,
  orders,
  projected,
  query,
  stored,
} from './look.ts'

export const queryClasses: readonly DifferenceClass[] = [
  {
    name: 'entity-once',
    modes: ['firestore'],
    what: 'an entity that several elements of an array put into the results',
    ours: 'once, at the first of its places',
    firestore: 'once for each of these elements',
    why: 'a query finds entities (production); legacy does so',
    explains: (one) => {
      if (one.step.method !== 'RunQuery' || projected(query(one)).some((name) => name !== '__key__')) return false
      const all = keysFound(one.theirAnswers[one.step.base ?? one.index])
      if (new Set(all).size === all.length || !stored(one, isArray)) return false
      const isWhole = one.step.base === undefined
      return !isWhole || (isAbout(one, 'results') && isDeepStrictEqual([...new Set(all)], one.ours))
    },
  },
  {
    name: 'newer-operators',
    modes: ['legacy'],
    what: 'OR, `!=`, NOT_IN, IN with several values',
    ours: 'as in Firestore mode',
    legacy: 'INVALID_ARGUMENT',
    why: 'they are part of the API, and production has them in both',
    explains: (one) =>
      isCode(one, 'OK', 'INVALID_ARGUMENT') &&
      (compositeOperators(query(one)).includes('OR') ||
        filters(query(one)).some(
          ({ op, value }) =>
            ['NOT_EQUAL', 'NOT_IN'].includes(op) ||
            (op === 'IN' && listOf(at(value, ['arrayValue', 'values'])).length > 1),
        )),
  },
  {
    name: 'inequalities-of-several-properties',
    modes: ['legacy'],
    what: 'inequalities on several properties, or one that does not lead the orders',
    ours: 'as in Firestore mode',
    legacy: 'INVALID_ARGUMENT',
    why: 'they are part of the API, and production has them',
    explains: (one) => {
      const unequal = new Set(
        filters(query(one))
          .filter(isUnequal)
          .map(({ name }) => name),
      )
      const first = orders(query(one))[0]
      return (
        isCode(one, 'OK', 'INVALID_ARGUMENT') &&
        (unequal.size > 1 || (unequal.size === 1 && first !== undefined && !unequal.has(first)))
      )
    },
  },
  {
    name: 'order-behind-the-key',
    modes: ['legacy', 'firestore'],
    what: 'an order by `__key__`, before a property that the query projects or has an inequality on',
    ours: 'UNIMPLEMENTED',
    legacy: 'answered where there is a projection',
    firestore: 'answered',
    why: 'not built: order by the property first',
    explains: (one) =>
      one.aspect === 'code' &&
      one.ours === 'UNIMPLEMENTED' &&
      orders(query(one)).includes('__key__') &&
      (projected(query(one)).length > 0 || filters(query(one)).some(isUnequal)),
  },
  {
    name: 'distinct-behind-a-fixed-key',
    modes: ['legacy', 'firestore'],
    what: 'distinct properties behind an order that an equality leaves without effect',
    ours: 'answered: such an order is passed over',
    legacy: 'INVALID_ARGUMENT',
    firestore: 'INVALID_ARGUMENT',
    why: 'the orders that are left do begin with the distinct properties',
    explains: (one) =>
      isCode(one, 'OK', 'INVALID_ARGUMENT') &&
      distinct(query(one)).length > 0 &&
      filters(query(one)).some(({ name, op }) => op === 'EQUAL' && orders(query(one)).includes(name)),
  },
  {
    name: 'cursor-behind-the-key',
    modes: ['firestore'],
    what: 'a cursor of a query that orders by a property behind `__key__`',
    ours: 'accepted: nothing is ordered behind the key',
    firestore: 'its own cursor is INVALID_ARGUMENT',
    why: 'a cursor that was given out must be taken back',
    explains: (one) =>
      isCode(one, 'OK', 'INVALID_ARGUMENT') &&
      (query(one)['startCursor'] !== undefined || query(one)['endCursor'] !== undefined) &&
      orders(query(one)).indexOf('__key__') >= 0 &&
      orders(query(one)).at(-1) !== '__key__',
  },
]

const keysFound = (answer: Answer | undefined): readonly string[] =>
  listOf(at(answer?.body, ['batch', 'entityResults'])).map((one) => keyText(at(one, ['entity', 'key'])))
