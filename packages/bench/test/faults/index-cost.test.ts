import { indexCost } from '../../src/labs/index-cost.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const neverBuilt: Fault = {
  fault: 'composite indexes are declared and never built',
  hook: ({ engine }) =>
    spoil(engine, 'createIndex', () => async (_database, definition) => ({ definition, state: 'creating' }) as never),
}

const exchanged: Fault = { fault: 'the two arms mislabelled', swap: ['excluded', 'indexed'] }

faultsOf(
  indexCost,
  {
    'excluding a property saves its two rows': exchanged,
    'a changed value deletes two rows and writes two; an excluded one does neither': exchanged,
    'each composite index adds a row': {
      fault: 'two arrays under the name of composite indexes',
      as: { composite: 'multi-valued' },
    },
    'without a composite index rows grow as the values do': {
      fault: 'an index over both arrays',
      as: { 'multi-valued': 'exploding' },
    },
    'an index over two arrays multiplies: rows grow as the square of the values': {
      fault: 'no index over them',
      as: { exploding: 'multi-valued' },
    },
    'apply takes longer with every index, longest with the exploding one': exchanged,
    'an index that explodes too far refuses the put': neverBuilt,
  },
  { settings: { 'index.values': 16 } },
)
