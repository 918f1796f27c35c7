/** All classes, in the order in which they are asked and stand in the page. */
import type { Difference } from '../difference.ts'
import { commitClasses } from './commits.ts'
import { envelopeClasses } from './envelopes.ts'
import { type DifferenceClass, lookAt } from './look.ts'
import { queryClasses } from './queries.ts'
import { transactionClasses } from './transactions.ts'
import { valueClasses } from './values.ts'

const tables = [envelopeClasses, commitClasses, valueClasses, transactionClasses, queryClasses]

export const classes: readonly DifferenceClass[] = tables.flatMap((table) =>
  Object.entries(table).map(([name, one]) => ({ name, ...one })),
)

export function classOf(difference: Difference): DifferenceClass | undefined {
  const look = lookAt(difference)
  return classes.find((one) => one[look.mode] !== undefined && one.explains(look))
}
