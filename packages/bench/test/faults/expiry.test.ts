import { expiry } from '../../src/labs/expiry.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${other} runs under the name of ${arm}`,
  as: { [arm]: other },
})

faultsOf(expiry, {
  'indexed: a sweep goes over more deleted rows than it finds rows': mislabelled('indexed', 'remembered'),
  'indexed: the engine warns of it': {
    fault: 'hardly anything expires, so that there are few deleted rows',
    settings: { 'expiry.afterMinutes': 100 },
  },
  'sharded: there are as many deleted rows, but each query meets a small part of them': {
    fault: 'there is one shard',
    settings: { 'expiry.shards': 1 },
  },
  'remembered: a sweep meets hardly any deleted rows': mislabelled('remembered', 'indexed'),
  'generations: a sweep meets hardly any deleted rows': mislabelled('generations', 'sharded'),
  'remembered: what is moved to a time in the past is never found': {
    fault: 'no expiry time is ever moved',
    settings: { 'expiry.endedShare': 0 },
  },
  'generations: what is alive is written again, and what has expired is kept longer': mislabelled(
    'generations',
    'sharded',
  ),
  'generations: nothing is kept for longer than three generations': mislabelled('generations', 'remembered'),
})
