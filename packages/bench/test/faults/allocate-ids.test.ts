import { allocateIds } from '../../src/labs/allocate-ids.ts'
import { type Fault, faultsOf, off } from '../support/fault-suite.ts'

const notReserved: Fault = { fault: 'reserving does not move the counter', engine: off('id-reservation') }
const notCounted: Fault = { fault: 'ids are given and not counted', engine: off('id-counter') }
const scattered = (arm: string): Fault => ({ fault: 'its ids are scattered', as: { [arm]: 'partial-key' } })

faultsOf(allocateIds, {
  'hand-made: no automatic id falls on a held one': notReserved,
  'partial-key: no automatic id falls on a held one': notCounted,
  'existing-key: no automatic id falls on a held one': {
    fault: 'its range was written down, not allocated',
    as: { 'existing-key': 'unreserved' },
  },
  'unreserved: automatic ids fall on ids that were only written down': {
    fault: 'they were reserved',
    as: { unreserved: 'hand-made' },
  },
  'hand-made: no id is given twice': notCounted,
  'unreserved: no id is given twice': notCounted,
  'partial-key: no id is given twice': notCounted,
  'existing-key: no id is given twice': notCounted,
  'partial-key: scattered ids spread evenly': {
    fault: 'its ids are sequential',
    as: { 'partial-key': 'existing-key' },
  },
  'hand-made: sequential ids stay in one corner of their space': scattered('hand-made'),
  'existing-key: sequential ids stay in one corner of their space': scattered('existing-key'),
})
