/** The tables of the page, in the order in which a commit reaches them. */
import type { StepName } from './steps.ts'

export interface TableDefinition {
  readonly name: string
  /** The step of a commit that writes its rows; absent = no commit does. */
  readonly step: StepName | undefined
  readonly about: string
}

export const tables: readonly TableDefinition[] = [
  { name: 'Log', step: 'log', about: 'The record of each commit.' },
  { name: 'Entities', step: 'A', about: 'Each entity, by its key.' },
  { name: 'EntitiesByKind', step: 'B', about: 'Each entity, by kind and key.' },
  { name: 'EntitiesByPropertyAsc', step: 'B', about: 'Each indexed value, smallest first.' },
  { name: 'EntitiesByPropertyDesc', step: 'B', about: 'Each indexed value, largest first.' },
  { name: 'EntitiesByCompositeProperty', step: 'B', about: 'The rows of composite indexes.' },
  { name: 'IdSequences', step: undefined, about: 'Counters of ids.' },
]
