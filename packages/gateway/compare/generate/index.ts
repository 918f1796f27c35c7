/** The areas from which cases come, and how a run is shared out among them. */
import type fc from 'fast-check'
import type { Area, Case, Mode } from '../case.ts'
import { commitCases, valueCases } from './commits.ts'
import { queryCases } from './queries.ts'

export interface AreaCases {
  readonly area: Area
  /** Part of the cases of a run. */
  readonly share: number
  readonly cases: fc.Arbitrary<Case>
}

export function areasOf(mode: Mode): readonly AreaCases[] {
  return [
    { area: 'values', share: 4, cases: valueCases },
    { area: 'commits', share: 5, cases: commitCases(mode) },
    { area: 'queries', share: 8, cases: queryCases(mode) },
  ]
}
