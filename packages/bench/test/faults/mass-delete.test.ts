import { massDelete } from '../../src/labs/mass-delete.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })

const noCompaction: Fault = {
  fault: 'a compaction that is asked for does nothing',
  hook: ({ engine }) => spoil(engine.tablets, 'compact', () => () => undefined as never),
}

const unseen: Fault = {
  fault: 'tombstones are not reported, so that no arm waits for a compaction',
  hook: ({ engine }) =>
    spoil(engine.tablets, 'report', (sound) => (...asked) => {
      const report = sound(...asked)
      return { ...report, tables: report.tables.map((table) => ({ ...table, tombstones: 0 })) }
    }),
}

const tooSoon: Fault = {
  fault: 'tombstones rest for a minute, whatever is set',
  engine: { tablets: { simulate: true, compactRestMs: 60_000 } },
}

const loses: Fault = {
  fault: 'after a delete a query loses a result',
  hook: ({ database }) => {
    let queries = 0
    spoil(database, 'runQuery', (sound) => async (context, request) => {
      const answer = await sound(context, request)
      return queries++ === 1 ? { ...answer, results: answer.results.slice(1) } : answer
    })
  },
}

faultsOf(
  massDelete,
  {
    'narrow: the query goes over every deleted row, and is slow': is('narrow', 'start-behind'),
    'narrow: compacted, it is as quick as before': noCompaction,
    'left-alone: compacted, it is as quick as before': unseen,
    'left-alone: it is slow until the engine compacts, which it does when the deletes are tablet.compactRestMs old':
      tooSoon,
    'start-behind: a query that starts behind the deleted keys reads past none': is('start-behind', 'narrow'),
    'spread: the query meets few of as many deleted rows': is('spread', 'narrow'),
    'deadline: over deleted rows the query times out, and is answered before the delete and after the compaction': is(
      'deadline',
      'deadline-spread',
    ),
    'deadline-spread: with as many deletes all over the keys it is answered at any time': is(
      'deadline-spread',
      'deadline',
    ),
    'deadline-spread: the page is full all the time': loses,
    'narrow: the page is full all the time': loses,
    'left-alone: the page is full all the time': loses,
    'start-behind: the page is full all the time': loses,
    'spread: the page is full all the time': loses,
    'narrow: the engine warns of the one table that is read': is('narrow', 'start-behind'),
    'start-behind: there is nothing to warn of': is('start-behind', 'narrow'),
  },
  { settings: { 'work.records': 2500, 'tablet.compactRestMs': 180_000 }, isDear: true },
)
