import { DatastoreError } from '@sixtables/engine'
import { batching } from '../../src/labs/batching.ts'
import { keyOf } from '../support/broken.ts'
import { type Fault, faultsOf, spoil } from '../support/fault-suite.ts'

const exchanged: Fault = { fault: 'the two arms mislabelled', swap: ['one-by-one', 'together'] }

const madeAgain: Fault = {
  fault: 'a commit of several entities is undone and made again',
  hook: ({ database }) =>
    spoil(database, 'commit', (sound) => async (context, request) => {
      const keys = request.mutations.flatMap((mutation) => keyOf(mutation) ?? [])
      if (keys.length < 2) return sound(context, request)
      await sound(context, request)
      await sound(context, { ...request, mutations: keys.map((key) => ({ operation: 'delete', key })) })
      return sound(context, request)
    }),
}

const busy: Fault = {
  fault: 'the first lookup is refused',
  hook: ({ database }) => {
    let calls = 0
    spoil(database, 'lookup', (sound) => (context, request) => {
      if (calls++ === 0) throw new DatastoreError('UNAVAILABLE', 'the server is busy; try again')
      return sound(context, request)
    })
  },
}

const lastWins: Fault = {
  fault: 'of what a commit names twice the last mutation is taken',
  hook: ({ database }) =>
    spoil(database, 'commit', (sound) => (context, request) => {
      const byKey = new Map(request.mutations.map((mutation) => [JSON.stringify(keyOf(mutation)), mutation]))
      return sound(context, { ...request, mutations: [...byKey.values()] })
    }),
}

faultsOf(batching, {
  'one commit takes a small part of the time of single ones': exchanged,
  'so does one lookup': exchanged,
  'calls at once hide their latency, but there are as many of them': {
    fault: 'its calls wait for each other',
    as: { 'side-by-side': 'one-by-one' },
  },
  'the store does the same work: a log record for each entity group': madeAgain,
  'one-by-one: no call fails': busy,
  'side-by-side: no call fails': busy,
  'together: no call fails': busy,
  'one-by-one: the engine warns of single calls': exchanged,
  'together: the engine has nothing to say': exchanged,
  'twice: refused where the commit is no transaction': lastWins,
  'twice: a transaction takes it where the verbs allow': lastWins,
  'twice: the engine warns of it': lastWins,
})
