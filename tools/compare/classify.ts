/** Finds the class of a difference, and counts what was seen. */

import { classes, type DifferenceClass } from './classes/index.ts'
import type { Difference } from './difference.ts'

/** The first class that explains the difference. */
export function classOf(difference: Difference): DifferenceClass | undefined {
  return classes.find((one) => one[difference.mode] !== undefined && one.explains(difference))
}
