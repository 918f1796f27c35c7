import { counting } from '../../src/labs/counting.ts'
import { faultsOf } from '../support/fault-suite.ts'

const stored = (arm: string) => ({ fault: `a stored count under the name of ${arm}`, as: { [arm]: 'newest-revision' } })
const scanned = (arm: string) => ({ fault: `a scan under the name of ${arm}`, as: { [arm]: 'count' } })
const atOnce = { fault: 'rows are applied at once', settings: { 'apply.delayMs': 0 } }

faultsOf(
  counting,
  {
    'keys-only: reads a row for each record': stored('keys-only'),
    'count: reads a row for each record': stored('count'),
    'statistics: reads the same, however many there are': scanned('statistics'),
    'newest-revision: reads the same, however many there are': scanned('newest-revision'),
    'count: the server counts in less time than the client needs to fetch the keys': {
      fault: 'arms mislabelled',
      swap: ['count', 'keys-only'],
    },
    'request-limit: a kind takes more than half of what a request may, so that two do not end': {
      fault: 'calls are as quick as today',
      settings: { 'request.callMs': 4 },
    },
    'the stored counts answer in a small part of the time': scanned('newest-revision'),
    'statistics: what was written since the last ones is not counted, for hours': {
      fault: 'statistics are taken at each query',
      engine: { statisticsEveryMs: 0 },
    },
    'count: a write is counted when its index rows are written': atOnce,
    'newest-revision: a write is counted when its index rows are written': atOnce,
  },
  { settings: { 'work.records': 4000, 'request.limitMs': 1200 }, isDear: true },
)
