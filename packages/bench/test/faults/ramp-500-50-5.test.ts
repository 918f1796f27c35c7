import { ramp500505 } from '../../src/labs/ramp-500-50-5.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })

faultsOf(
  ramp500505,
  {
    'the ramp reaches about 740,000 operations a second after 90 minutes': is('ramp', 'at-once'),
    'without hot tablets: less than a tenth of the load is on tablets with more than three quarters of what a server can':
      is('ramp', 'doubling'),
    'and almost nothing is refused on the way': is('ramp', 'doubling'),
    'at once, most of the first five minutes is refused': is('at-once', 'ramp'),
    'doubled every five minutes, the full traffic is refused in part': is('doubling', 'ramp'),
    'tripled every five minutes, most of it is refused': is('tripling', 'ramp'),
  },
  { settings: { 'load.samples': 400, 'load.slotMs': 10_000, 'tablet.samplesMin': 12 }, isDear: true },
)
