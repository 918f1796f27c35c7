import { keyRangeState } from '../../src/labs/key-range-state.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const twice: Fault = {
  fault: 'each range is asked for twice, and the second answer is told',
  hook: ({ database }) =>
    spoil(database, 'allocateIdRange', (sound) => async (context, of, range) => {
      await sound(context, of, range)
      return sound(context, of, range)
    }),
}

const noMark: Fault = {
  fault: 'the counter is not looked at',
  hook: ({ database }) =>
    spoil(database, 'allocateIdRange', (sound) => async (context, of, range) => {
      const answer = await sound(context, of, range)
      return answer.state === 'COLLISION' ? answer : { ...answer, state: 'EMPTY' }
    }),
}

const noEntities: Fault = {
  fault: 'entities are not looked for',
  hook: ({ database }) =>
    spoil(database, 'allocateIdRange', (sound) => async (context, of, range) => {
      const answer = await sound(context, of, range)
      return { ...answer, state: answer.nextBefore > range.start ? 'CONTENTION' : 'EMPTY' }
    }),
}

const is = (arm: string, other: string): Fault => ({ fault: `${arm} is ${other}`, as: { [arm]: other } })

const givenAgain: Fault = {
  fault: 'the allocator begins anew with each call',
  hook: ({ database }) =>
    spoil(database, 'allocateIdsBySize', (sound) => async (context, of, size) => ({
      ...(await sound(context, of, size)),
      start: 1n,
    })),
}

const noParent: Fault = {
  fault: 'a kind has one counter, whatever the parent',
  hook: ({ database }) =>
    spoil(
      database,
      'allocateIdRange',
      (sound) => (context, of, range) => sound(context, { ...of, path: of.path.slice(-1) }, range),
    ),
}

faultsOf(
  keyRangeState,
  {
    'empty: each range answers EMPTY': twice,
    'contention: each range answers CONTENTION': noMark,
    'collision: each range answers COLLISION': noEntities,
    'ids that were passed over count as given': noMark,
    'no range is EMPTY twice': noMark,
    'late-contention: rows in a CONTENTION range are overwritten by the one who was given its ids': is(
      'late-contention',
      'late-empty',
    ),
    'late-empty: rows in an EMPTY range stay as they are': is('late-empty', 'late-contention'),
    'late-contention: no id that is given later falls inside': givenAgain,
    'late-empty: no id that is given later falls inside': givenAgain,
    'a child kind has its own sequence under every parent': noParent,
    'random ranges answer by the rules': noEntities,
    'random ranges meet EMPTY': twice,
    'random ranges meet CONTENTION': noMark,
    'random ranges meet COLLISION': noEntities,
  },
  { settings: { 'ranges.count': 60 } },
)
