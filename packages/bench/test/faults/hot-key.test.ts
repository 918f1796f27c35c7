import { hotKey } from '../../src/labs/hot-key.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })

faultsOf(
  hotKey,
  {
    'read-one: a tablet is not split inside a row': is('read-one', 'read-replicas'),
    'read-one: most of what is asked for is refused': is('read-one', 'read-replicas'),
    'replicas multiply the reads by their number': is('read-replicas', 'read-one'),
    'write-one: a few writes a second, whatever the number of writers': is('write-one', 'write-shards'),
    'of as many keys reads scale far above writes, but reads of one key stop at one server': is(
      'read-replicas',
      'read-one',
    ),
    'read-one: instances that need the hot key at their start fail to start': is('read-one', 'read-replicas'),
    'read-replicas: with copies of it instances start': is('read-replicas', 'read-one'),
    'shards multiply the writes by their number': is('write-shards', 'write-one'),
  },
  {
    settings: { 'tablet.splitRestMs': 60_000, 'load.minutes': 8, 'load.seconds': 10, 'load.writersMax': 50 },
    isDear: true,
  },
)
