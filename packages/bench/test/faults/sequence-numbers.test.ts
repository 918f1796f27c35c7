import { sequenceNumbers } from '../../src/labs/sequence-numbers.ts'
import { type Fault, faultsOf, off } from '../support/fault-suite.ts'

const unchecked = (arm: string): Fault => ({ fault: 'the number is not checked', as: { [arm]: 'query-then-put' } })
const gaps = (arm: string): Fault => ({ fault: 'clients go away with a number', as: { [arm]: 'counter-outside' } })
const as = (arm: string, other: string, fault: string): Fault => ({ fault, as: { [arm]: other } })

faultsOf(
  sequenceNumbers,
  {
    'counter-in-group: saturates at a few writes a second': {
      fault: 'a log without latency',
      settings: { 'log.commitMs': 1 },
    },
    'query-then-put: numbers are given twice': as('query-then-put', 'put-unique', 'the number is checked'),
    'counter-in-group: no number is given twice': unchecked('counter-in-group'),
    'counter-outside: no number is given twice': unchecked('counter-outside'),
    'put-unique: no number is given twice': unchecked('put-unique'),
    'put-unique-ahead: no number is given twice': unchecked('put-unique-ahead'),
    'sharded-counter: no number is given twice': unchecked('sharded-counter'),
    'allocate-ids: no number is given twice': unchecked('allocate-ids'),
    'newest-revision: no number is given twice': unchecked('newest-revision'),
    'counter-in-group: no number is left out': gaps('counter-in-group'),
    'put-unique: no number is left out': gaps('put-unique'),
    'newest-revision: no revision is left out': gaps('newest-revision'),
    'newest-revision: the count in the newest revision agrees with a full count': {
      fault: 'a commit does not notice another one of the same revision',
      engine: off('conflict-check'),
    },
    'counter-outside: a counter outside the transaction leaves gaps': {
      fault: 'no client goes away',
      settings: { 'client.crashShare': 0 },
    },
    'put-unique: in a row, and so one at a time: with many writers most tries are for taken numbers': as(
      'put-unique',
      'allocate-ids',
      'numbers are not in a row',
    ),
    'put-unique is no faster than a counter in the group, contrary to its source': as(
      'put-unique',
      'put-unique-ahead',
      'numbers are not in a row',
    ),
    'put-unique: a commit seldom loses while there are few writes, and most often when there are many': as(
      'put-unique-quiet',
      'put-unique',
      'there are as many writes at any time',
    ),
    'query-in-transaction: a query without an ancestor cannot join a transaction in the legacy mode, and can today': {
      fault: 'every database has the mode of today',
      engine: { mode: 'firestore' },
    },
    'put-unique-ahead scales, at the price of gaps': as('put-unique-ahead', 'put-unique', 'it leaves no gaps'),
    'shards multiply the counter': as('sharded-counter', 'counter-in-group', 'there is one shard'),
    'allocated ids scale with the writers': as('allocate-ids', 'counter-in-group', 'the ids come from a counter'),
    'over thinned numbers __scatter__ divides the work evenly, and equal ranges do not': as(
      'split-by-scatter',
      'split-by-number',
      'divided into equal ranges',
    ),
    'over numbers without a gap it is the other way round: equal ranges are exactly even': as(
      'dense-by-number',
      'split-by-number',
      'there are gaps',
    ),
    'ranges between keys that occur are exactly even whatever the numbers are, once every key was read': as(
      'split-by-keys',
      'split-by-number',
      'divided into equal ranges',
    ),
    'over numbers without a gap the total and every page by number cost the same, however many records there are': as(
      'pages-by-number',
      'pages-by-offset',
      'counted and stepped over',
    ),
    'by offset the total and the last page read a row for each record': as(
      'pages-by-offset',
      'pages-by-number',
      'looked up by number',
    ),
    'with gaps the greatest number is more than the total, and pages by number are short': as(
      'gaps-by-number',
      'pages-by-number',
      'nothing was deleted',
    ),
  },
  { settings: { 'load.writersMax': 32, 'work.records': 3000 }, isDear: true },
)
