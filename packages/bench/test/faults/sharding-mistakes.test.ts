import { shardingMistakes } from '../../src/labs/sharding-mistakes.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${other} runs under the name of ${arm}`,
  as: { [arm]: other },
})

faultsOf(
  shardingMistakes,
  {
    'time-prefix: a new period begins in one range that was never split, and is refused in part, each time':
      mislabelled('time-prefix', 'time-gradual'),
    'time-prefix: one tablet has several times the load of the hottest one before': mislabelled(
      'time-prefix',
      'all-sharded',
    ),
    'time-gradual: a period that takes over step by step is served': mislabelled('time-gradual', 'time-prefix'),
    'hot-only: its tablets are merged in the quiet time, and the next day begins with refusals': {
      fault: 'the quiet time is too short for merges',
      settings: { 'lull.minutes': 3 },
    },
    'all-sharded: its tablets stay apart, and the next day is served at once': mislabelled('all-sharded', 'hot-only'),
  },
  { settings: { 'load.slotMs': 30_000 }, isDear: true },
)
