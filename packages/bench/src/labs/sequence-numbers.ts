/** Numbers for records: 1, 2, 3, … without two records having the same one. */
import { arm, armsOf, defineLab, type Expectation, expected, type Lab } from '../lab.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import {
  numberings,
  numberOverWire,
  queryInTransaction,
  runNumbering,
  runQuiet,
} from './sequence-numbers/numberings.ts'
import { type PageTurning, turnPages } from './sequence-numbers/pages.ts'
import { splitWork, type WorkSplit } from './sequence-numbers/work-split.ts'

const workArms = armsOf<WorkSplit>(
  {
    'split-by-number': { about: 'work divided into equal ranges of numbers, old ones thinned out', by: 'number' },
    'split-by-scatter': { about: 'the same work divided at keys of __scatter__', by: 'scatter' },
    'split-by-keys': { about: 'the same work divided at every n-th of the keys that occur', by: 'keys' },
    'dense-by-number': { about: 'equal ranges of numbers without a gap', by: 'number', isDense: true },
    'dense-by-scatter': {
      about: 'numbers without a gap, divided at keys of __scatter__',
      by: 'scatter',
      isDense: true,
    },
  },
  splitWork,
)

const pageArms = armsOf<PageTurning>(
  {
    'pages-by-number': { about: 'the total is the greatest number, a page is a range of numbers', by: 'number' },
    'pages-by-offset': { about: 'the total is counted, a page is an offset', by: 'offset' },
    'gaps-by-number': {
      about: 'total and pages by number, after one record in ten was deleted',
      by: 'number',
      hasGaps: true,
    },
  },
  turnPages,
)

/** An expectation on a count: there are none, or some. */
const counted =
  (holds: (count: number) => boolean) =>
  (arm: string, figure: string, says: string): Expectation =>
    expected(`${arm}: ${says}`).of(arm, figure).holds(holds, `{} ${figure}`)
const none = counted((count) => count === 0)
const some = counted((count) => count > 0)

function times(says: string, arms: readonly [string, string], figure: string, least: number): Expectation {
  return expected(says)
    .across(figure, ...arms)
    .holds((first, second) => second > least * first, `${figure}: ${arms[0]} {}, ${arms[1]} {}`)
}

export const sequenceNumbers: Lab = defineLab({
  name: 'sequence-numbers',
  idea:
    'A counter is one entity in one group: every number waits for its log. A number can also be taken by inserting an entity ' +
    'whose key is made of it: the first one wins, the others try the next number, and no group is shared. Allocated ids are ' +
    'unique and quick, and not in a row. The source of put-unique calls it faster than a counter; for numbers in a row it is not: ' +
    'each waits for the one before.',
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf('log.waitMsMax', 'apply.delayMs', 'copies.count', 'work.workers'),
    'load.writersMax': 256,
    'load.seconds': 3,
    'client.crashShare': 0.2,
    'work.records': 10_000,
  },
  arms: [
    ...armsOf(numberings, runNumbering, numberOverWire),
    arm('put-unique-quiet', 'put-unique at about one record a second', runQuiet),
    arm(
      'query-in-transaction',
      'the query for the greatest number, within the transaction that puts the next one',
      queryInTransaction,
    ),
    ...workArms,
    ...pageArms,
  ],
  expectations: [
    expected('counter-in-group: saturates at a few writes a second')
      .of('counter-in-group', 'best rate')
      .holds((best) => best >= 1 && best <= 8, '{}/s at best'),
    some('query-then-put', 'duplicates', 'numbers are given twice'),
    ...Object.keys(numberings)
      .filter((name) => name !== 'query-then-put')
      .map((name) => none(name, 'duplicates', 'no number is given twice')),
    none('counter-in-group', 'gaps', 'no number is left out'),
    none('put-unique', 'gaps', 'no number is left out'),
    none('newest-revision', 'gaps', 'no revision is left out'),
    none('newest-revision', 'miscounts', 'the count in the newest revision agrees with a full count'),
    some('counter-outside', 'gaps', 'a counter outside the transaction leaves gaps'),
    expected('put-unique: in a row, and so one at a time: with many writers most tries are for taken numbers')
      .of('put-unique', 'tries in vain, 1 writer', 'tries in vain, all writers')
      .holds((few, many) => few <= 2 && many > 20, '{} tries in vain a record with one writer, {} with all'),
    expected('put-unique is no faster than a counter in the group, contrary to its source')
      .across('best rate', 'counter-in-group', 'put-unique')
      .holds((counter, unique) => unique <= 1.2 * counter, '{2}/s, {1} with the counter'),
    expected('put-unique: a commit seldom loses while there are few writes, and most often when there are many')
      .across('commits that lost, all writers', 'put-unique-quiet', 'put-unique')
      .of('put-unique-quiet', 'numbers found taken by a get, all writers')
      .holds(
        (quietly, loaded, gets) => quietly < 0.5 && quietly < gets && loaded > 5,
        'per record: {1} commits lost and {3} numbers found taken by a get at one a second, {2} commits lost under load',
      ),
    expected(
      'query-in-transaction: a query without an ancestor cannot join a transaction in the legacy mode, and can today',
    )
      .of('query-in-transaction', 'refused, legacy', 'refused, firestore')
      .holds((legacy, today) => legacy === 1 && today === 0, 'refused: legacy {}, firestore {}'),
    times('put-unique-ahead scales, at the price of gaps', ['counter-in-group', 'put-unique-ahead'], 'best rate', 3),
    times('shards multiply the counter', ['counter-in-group', 'sharded-counter'], 'best rate', 3),
    times('allocated ids scale with the writers', ['counter-in-group', 'allocate-ids'], 'best rate', 20),
    expected('over thinned numbers __scatter__ divides the work evenly, and equal ranges do not')
      .across('busiest worker', 'split-by-number', 'split-by-scatter')
      .holds((bad, good) => good < 2 && bad > 2 * good, 'busiest to mean: {} against {}'),
    expected('over numbers without a gap it is the other way round: equal ranges are exactly even')
      .across('busiest worker', 'dense-by-number', 'dense-by-scatter')
      .holds((ranges, scatter) => ranges < 1.01 && scatter > ranges, 'busiest to mean: {} against {}'),
    expected('ranges between keys that occur are exactly even whatever the numbers are, once every key was read')
      .of('split-by-keys', 'busiest worker', 'read to divide', 'records')
      .of('split-by-scatter', 'read to divide')
      .holds(
        (busiest, read, records, sampled) => busiest < 1.01 && read >= records && 10 * sampled < read,
        'busiest to mean: {1}; {2} rows read to divide, {4} with __scatter__',
      ),
    expected(
      'over numbers without a gap the total and every page by number cost the same, however many records there are',
    )
      .of('pages-by-number', 'read for the total', 'read for page 1', 'read for the last page', 'never shown')
      .holds(
        (total, first, last, unseen) => total <= 4 && first === last && unseen === 0,
        '{} rows for the total, {} for page 1, {} for the last; {} records never shown',
      ),
    expected('by offset the total and the last page read a row for each record')
      .of('pages-by-offset', 'records', 'read for the total', 'read for the last page')
      .holds(
        (records, total, last) => total >= records && last >= records,
        '{} records: {} rows for the total, {} for the last page',
      ),
    expected('with gaps the greatest number is more than the total, and pages by number are short')
      .of('gaps-by-number', 'records', 'total as told', 'shortest page but the last')
      .holds(
        (records, told, shortest) => told > 1.05 * records && shortest < 20,
        '{2} told for {1} records; the shortest page has {3} of 20',
      ),
  ],
})
