import { readYourWrites } from '../../src/labs/read-your-writes.ts'
import { faultsOf, off } from '../support/fault-suite.ts'

const stale = { fault: 'strong reads do not roll the log forward', engine: off('roll-forward') }
const noDelay = { fault: 'rows are applied at once', settings: { 'apply.delayMs': 0 } }
const strong = (arm: string, other: string) => ({
  fault: `a strong read under the name of ${arm}`,
  as: { [arm]: other },
})

faultsOf(
  readYourWrites,
  {
    'a lookup is never wrong': stale,
    'an ancestor query is never wrong': stale,
    'lookup: each read rolls the log of its group forward': stale,
    'lookup: a write is seen at once': { fault: 'a global query under its name', as: { lookup: 'global-query' } },
    'ancestor-query: each read rolls the log of its group forward': stale,
    'ancestor-query: a write is seen at once': stale,
    'global-query: wrong in every case before the index rows are written': strong('global-query', 'ancestor-query'),
    'global-query: a write is seen only when it is applied': noDelay,
    'keys-only-then-lookup: wrong in every case before the index rows are written': strong(
      'keys-only-then-lookup',
      'lookup',
    ),
    'keys-only-then-lookup: a write is seen only when it is applied': noDelay,
  },
  { settings: { 'probe.count': 6 } },
)
