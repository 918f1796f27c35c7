/** Classes about values: what may be written, and how it comes back. */
import type { DifferenceClass } from './class.ts'
import { isAbout, isArray, stored } from './look.ts'

export const valueClasses: readonly DifferenceClass[] = [
  {
    name: 'array-order-kept',
    modes: ['legacy'],
    what: 'an array with elements that are excluded from indexes, read again',
    ours: 'in its order',
    legacy: 'the excluded elements after the others',
    why: 'an array has an order',
    explains: (one) =>
      isAbout(one, 'entity') &&
      one.path.includes('arrayValue') &&
      stored(one, (v) => isArray(v) && JSON.stringify(v).includes('excludeFromIndexes')),
  },
]
