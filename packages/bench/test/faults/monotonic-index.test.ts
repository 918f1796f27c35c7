import { monotonicIndex } from '../../src/labs/monotonic-index.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })
const neverSplit: Fault = {
  fault: 'no tablet is ever split',
  settings: { 'tablet.splitOpsPerSecond': 1e9, 'ramp.minutes': 3 },
}

faultsOf(
  monotonicIndex,
  {
    'indexed: the entity rows are spread, the busiest tablet below three quarters of what a server can': neverSplit,
    'excluded: the entity rows are spread, the busiest tablet below three quarters of what a server can': neverSplit,
    'hash-prefixed: the entity rows are spread, the busiest tablet below three quarters of what a server can':
      neverSplit,
    'user-prefixed: the entity rows are spread, the busiest tablet below three quarters of what a server can':
      neverSplit,
    'indexed: one tablet carries over 90 % of each property table, and more than it would be split at': is(
      'indexed',
      'excluded',
    ),
    'excluded: hardly anything is written to the property tables (only what __scatter__ has)': is(
      'excluded',
      'indexed',
    ),
    'hash-prefixed: the index rows are spread as well': is('hash-prefixed', 'indexed'),
    'user-prefixed: the index rows are spread as well': is('user-prefixed', 'indexed'),
    'the indexed timestamp is refused where the prefixed one is served': is('indexed', 'user-prefixed'),
    "user-prefixed: one user's events come in order": is('user-prefixed', 'hash-prefixed'),
  },
  {
    settings: {
      'ramp.startOpsPerSecond': 8000,
      'ramp.growthPercent': 50,
      'ramp.minutes': 15,
      'tablet.splitRestMs': 60_000,
      'load.samples': 12,
    },
    isDear: true,
  },
)
