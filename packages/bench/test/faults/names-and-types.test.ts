import { invalidArgument, type Mutation, type PathElement } from '@sixtables/engine'
import { namesAndTypes } from '../../src/labs/names-and-types.ts'
import { upsert } from '../../src/sim/entities.ts'
import { keyOf, silent } from '../support/broken.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

/** Commits of mutations as `change` makes them; one of which nothing is left is acknowledged. */
function commits(fault: string, change: (mutation: Mutation, last: PathElement) => Mutation | undefined): Fault {
  const changed = (mutation: Mutation): readonly Mutation[] => {
    const last = keyOf(mutation)?.path.at(-1)
    const left = last === undefined ? mutation : change(mutation, last)
    return left === undefined ? [] : [left]
  }
  return {
    fault,
    hook: ({ database }) =>
      spoil(
        database,
        'commit',
        (sound) => (context, request) => sound(context, { ...request, mutations: request.mutations.flatMap(changed) }),
      ),
  }
}

const accepting: Fault = {
  fault: 'what is to be refused is acknowledged',
  hook: ({ database }) =>
    spoil(
      database,
      'commit',
      (sound) => (context, request) =>
        sound(context, { ...request, mutations: request.mutations.filter((one) => keyOf(one) !== undefined) }),
    ),
}

const without = (fault: string, isLeftOut: (last: PathElement) => boolean): Fault => ({
  fault,
  hook: ({ database }) =>
    spoil(database, 'runQuery', (sound) => async (context, request) => {
      const answer = await sound(context, request)
      const isKept = ({ path }: { path: readonly PathElement[] }) => path.every((last) => !isLeftOut(last))
      return { ...answer, results: answer.results.filter(({ key }) => isKept(key)) }
    }),
})

const backwards: Fault = {
  fault: 'results come in descending order',
  hook: ({ database }) =>
    spoil(database, 'runQuery', (sound) => async (context, request) => {
      const answer = await sound(context, request)
      return { ...answer, results: answer.results.toReversed() }
    }),
}

let puts = 0

faultsOf(namesAndTypes, {
  'slash: different keys are the same path': without('a name with a slash is not found', ({ name }) =>
    Boolean(name?.includes('/')),
  ),
  'slash: what seems to be in the folder is not found by a query for it': without(
    'a query by ancestor finds no descendants',
    ({ kind }) => kind === 'File',
  ),
  'dot: a filter finds the nested property as well': without(
    'a filter passes over nested properties',
    ({ name }) => name === 'deep',
  ),
  'dot: a mask takes it for the nested one, and writes nothing': commits('a mask is ignored', (mutation) => {
    const { propertyMask: _, ...whole } = mutation
    return whole as Mutation
  }),
  'dot: with the dot escaped it is written': commits('a mask with an escaped dot writes nothing', (mutation) =>
    mutation.propertyMask?.some((path) => path.includes('\\')) ? undefined : mutation,
  ),
  'ids: zero is refused': accepting,
  'ids: a negative one stands before all others': backwards,
  'ids: a query from id 1 on misses the negative one': without('negative ids are not found', ({ id = 1n }) => id < 0n),
  'ids: a number and its digits are two keys': without('names of digits are not found', ({ name }) =>
    /^\d+$/.test(name ?? ''),
  ),
  'ids: digits sort as texts do': backwards,
  'utf-8: other bytes are refused': accepting,
  'utf-8: a blob takes them': {
    fault: 'blobs are refused',
    hook: ({ database }) =>
      spoil(database, 'commit', (sound) => (context, request) => {
        if (request.mutations.some((one) => keyOf(one)?.path[0]?.name === 'blob')) throw invalidArgument('no blobs')
        return sound(context, request)
      }),
  },
  'utf-8: names that were cut within a letter become one, and the last put wins': commits(
    'half letters are kept apart',
    (mutation, { name = '' }) =>
      name.startsWith('best of') ? upsert(renamed(mutation, `${name} ${puts++}`), {}) : mutation,
  ),
  'slash: the engine warns of it': silent,
  'dot: the engine warns of it': silent,
  'ids: the engine warns of it': silent,
})

function renamed(mutation: Mutation, name: string): NonNullable<ReturnType<typeof keyOf>> {
  const key = keyOf(mutation)
  if (key === undefined) throw new Error('the mutation has no key')
  return { ...key, path: [{ kind: key.path[0]?.kind ?? '', name }] }
}
