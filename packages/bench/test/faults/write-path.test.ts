import { writePath } from '../../src/labs/write-path.ts'
import { upsert } from '../../src/sim/entities.ts'
import { LosingKv } from '../support/broken.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const atOnce: Fault = { fault: 'rows are written at the commit', engine: { apply: { type: 'immediate' } } }

const lossy: Fault = { fault: 'the store loses the rows of EntitiesByPropertyDesc', kv: () => new LosingKv('D') }

const again: Fault = {
  fault: 'an update is committed behind the put',
  hook: ({ database }) =>
    spoil(database, 'commit', (sound) => async (context, request) => {
      const answer = await sound(context, request)
      const mutations = answer.mutationResults.flatMap(({ key }) => (key === undefined ? [] : [upsert(key, {})]))
      await sound(context, { mode: 'nonTransactional', mutations })
      return answer
    }),
}

const inHand: Fault = {
  fault: 'a put before it has moved the counter',
  hook: (store) =>
    spoil(store.database, 'commit', (sound) => async (context, request) => {
      await sound(store.context(), request)
      return sound(context, request)
    }),
}

const faultsOfArm = (arm: string): Record<string, Fault> => ({
  [`${arm}: the commit writes one log record`]: again,
  [`${arm}: committed, and yet no row of the tables is there`]: atOnce,
  [`${arm}: milestone A writes the entity row alone`]: atOnce,
  [`${arm}: the id counter moves once`]: inHand,
  [`${arm}: the tables agree with the log`]: lossy,
  [`${arm}: milestone B writes one row by kind, and one each way for each indexed value`]: lossy,
})

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${arm} is ${other}`,
  as: { [arm]: other },
})

faultsOf(writePath, {
  ...faultsOfArm('built-in-indexes'),
  ...faultsOfArm('composite-index'),
  'servers: each phase finds the tablet server of each of its rows': {
    fault: 'all tablets are on one server',
    engine: { tablets: { simulate: true, servers: 1 } },
  },
  'index-numbers: composite indexes are numbered, and the number of a deleted one is not given again': {
    fault: 'each index has the number of the first one',
    hook: ({ engine }) =>
      spoil(engine, 'createIndex', (sound) => async (database, definition) => ({
        ...(await sound(database, definition)),
        id: 1n,
      })),
  },
  'without a composite index no composite row is written': mislabelled('built-in-indexes', 'composite-index'),
  'the matching composite index adds one row': mislabelled('composite-index', 'built-in-indexes'),
  'with it, one put makes the eleven rows of the storage article': mislabelled('composite-index', 'built-in-indexes'),
})
