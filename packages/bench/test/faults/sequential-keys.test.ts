import { sequentialKeys } from '../../src/labs/sequential-keys.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const scattered = (arm: string): Fault => ({ fault: 'its keys are scattered', as: { [arm]: 'hashed-names' } })
const neverSplit: Fault = { fault: 'no tablet is ever split', settings: { 'tablet.splitOpsPerSecond': 1e9 } }

faultsOf(
  sequentialKeys,
  {
    'sequential-ids: the busiest tablet carries over 90 % of the load, however many splits':
      scattered('sequential-ids'),
    'numbered-names: the busiest tablet carries over 90 % of the load, however many splits':
      scattered('numbered-names'),
    'allocated-ids: the load is on several tablets, and none has more than three quarters of what a server can':
      neverSplit,
    'hashed-names: the load is on several tablets, and none has more than three quarters of what a server can': {
      fault: 'its names rise',
      as: { 'hashed-names': 'numbered-names' },
    },
  },
  {
    settings: {
      'ramp.startOpsPerSecond': 8000,
      'ramp.growthPercent': 20,
      'ramp.minutes': 24,
      'load.slotMs': 20_000,
      // This ramp is a few minutes long: in so many, tablets split as often as in the whole one.
      'tablet.splitRestMs': 60_000,
    },
    isDear: true,
  },
)
