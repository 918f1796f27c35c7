/** The labs, in the order in which they are best worked through. */
import type { Lab } from '../lab.ts'
import { allocateIds } from './allocate-ids.ts'
import { keyRangeState } from './key-range-state.ts'
import { readYourWrites } from './read-your-writes.ts'
import { writePath } from './write-path.ts'

export const labs: readonly Lab[] = [writePath, readYourWrites, allocateIds, keyRangeState]
