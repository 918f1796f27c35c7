import { gatewaysLab } from '../../src/labs/gateways.ts'
import { type Fault, faultsOf, off, spoil } from '../support/fault-suite.ts'

const oneGroup = (arm: string): Fault => ({ fault: 'all calls are puts to one group', as: { [arm]: 'one-group' } })
const manyGroups: Fault = { fault: 'each put has a group of its own', as: { 'one-group': 'puts' } }
const oneRow = (arm: string): Fault => ({ fault: 'the database has one clock row', as: { [`${arm}-rows`]: arm } })
const fewer = { 'gateways.killedOf': 2 }
const freeClock: Fault = {
  fault: 'conditional writes take no time',
  settings: { 'rows.conditionalMs': 0.01, 'gateways.seconds': 0.1 },
}

faultsOf(gatewaysLab, {
  'lookups: as many times more as there are gateways': oneGroup('lookups'),
  'queries: as many times more as there are gateways': oneGroup('queries'),
  'puts to many groups: two gateways take nearly twice as many': oneGroup('puts'),
  'puts to many groups: half of the gateways take nearly as many': freeClock,
  'more gateways: each put waits longer for the clock row': freeClock,
  'puts with several clock rows: more than five times as many at eight gateways': oneRow('puts'),
  'several clock rows: a put waits half as long at eight gateways': oneRow('puts'),
  'several clock rows: a query beside puts waits less at eight gateways': oneRow('beside'),
  'the same clients at more gateways write less': freeClock,
  'puts to one group: those that wait in a gateway share an append': manyGroups,
  'puts to one group: about every second append of several gateways succeeds': manyGroups,
  'killed: a strong query waits for a quarter of a second or so': {
    fault: 'strong reads do not look at commits under way',
    settings: fewer,
    engine: off('resolve-in-read'),
  },
  'killed: a lookup in one group does not wait': {
    fault: 'lookups wait as queries do',
    settings: fewer,
    hook: ({ database }) =>
      spoil(database, 'lookup', (lookup) => async (context, request) => {
        const { partition } = request.keys[0] ?? {}
        if (partition !== undefined) {
          const query = { partition, kind: 'Task', projection: [], order: [], distinctOn: [], offset: 0, limit: 1 }
          await database.runQuery(context, { query })
        }
        return await lookup(context, request)
      }),
  },
  'killed: every acknowledged put is there': {
    fault: 'one put of ten is acknowledged and not made',
    settings: fewer,
    hook: ({ database }) => {
      let n = 0
      spoil(database, 'commit', (commit) => (context, request) => {
        const { mutations } = request
        return commit(context, ++n % 10 === 0 ? { ...request, mutations: [] } : { ...request, mutations })
      })
    },
  },
})
