/** All classes, in the order in which they are asked and stand in the page. */
import type { DifferenceClass } from './class.ts'
import { commitClasses } from './commits.ts'
import { envelopeClasses } from './envelopes.ts'
import { queryClasses } from './queries.ts'
import { transactionClasses } from './transactions.ts'
import { valueClasses } from './values.ts'

export type { DifferenceClass } from './class.ts'

export const classes: readonly DifferenceClass[] = [
  ...envelopeClasses,
  ...commitClasses,
  ...valueClasses,
  ...transactionClasses,
  ...queryClasses,
]
