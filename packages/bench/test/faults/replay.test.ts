import { replayLab } from '../../src/labs/replay.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })

faultsOf(
  replayLab,
  {
    'hot-key: most of what is offered at the full rate is refused': is('hot-key', 'cured'),
    'cured: nearly nothing is refused, over the whole ramp': is('cured', 'hot-key'),
    'cured: nearly all that is offered is served in the end': is('cured', 'hot-key'),
    'the keys alone decide: the same calls at the same rate lie on several times as many tablets after the cure': is(
      'cured',
      'hot-key',
    ),
  },
  { settings: { 'load.minutes': 2 }, isDear: true },
)
