import { entityGroupContention } from '../../src/labs/entity-group-contention.ts'
import { type Fault, faultsOf } from '../support/fault-suite.ts'

const ownGroups: Fault = { fault: 'each writer has a group of its own', as: { 'one-group': 'many-groups' } }

faultsOf(
  entityGroupContention,
  {
    'one group takes a few commits a second, however many writers': {
      fault: 'a log without latency',
      settings: { 'log.commitMs': 1 },
    },
    'more writers: aborts climb': ownGroups,
    'more writers: latency climbs, that of jobs given up counted': ownGroups,
    'a faster log takes more: the limit is the latency of its commits': {
      fault: 'the faster log is as slow',
      settings: { 'log.fastCommitMs': 150 },
    },
    'many groups take as many times more': {
      fault: 'all writers are in one group',
      as: { 'many-groups': 'one-group' },
    },
    'a batch counts as one commit, and brings all of its entities': {
      fault: 'a batch of one',
      settings: { 'batch.size': 1 },
    },
    'above one write a second eventual reads lag further and further behind': {
      fault: 'applying takes no time',
      settings: { 'apply.delayMs': 1 },
    },
    'above one write a second a strong read times out': {
      fault: 'applying takes no time',
      settings: { 'apply.delayMs': 1 },
    },
    'short-burst: every write gets through': { fault: 'it goes on for a minute', as: { 'short-burst': 'long-run' } },
    'long-run: at the same rate many are lost': { fault: 'it ends after seconds', as: { 'long-run': 'short-burst' } },
  },
  { settings: { 'load.seconds': 2, 'load.writersMax': 50 }, isDear: true },
)
