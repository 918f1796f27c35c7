import { queryShape } from '../../src/labs/query-shape.ts'
import { faultsOf } from '../support/fault-suite.ts'

const noEntities = { fault: 'a projection under the name of whole entities', as: { full: 'projection' } }

faultsOf(queryShape, {
  'all three find the same number of results': {
    fault: 'there is nothing that the query could find',
    settings: { 'work.records': 1 },
  },
  'only whole entities need rows of entities, one for each result': noEntities,
  'keys are shorter than a projection, and that is shorter than entities': {
    fault: 'arms mislabelled',
    swap: ['projection', 'keys-only'],
  },
  'whole entities read twice the rows': noEntities,
  'whole entities take longer': noEntities,
  'only whole entities are billed one by one': noEntities,
})
