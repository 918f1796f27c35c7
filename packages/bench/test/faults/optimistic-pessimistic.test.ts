import { optimisticPessimistic } from '../../src/labs/optimistic-pessimistic.ts'
import { type Fault, faultsOf, off } from '../support/fault-suite.ts'

const mislabelled = (arm: string, other: string): Fault => ({
  fault: `${other} runs under the name of ${arm}`,
  as: { [arm]: other },
})
const noChecks: Fault = { fault: 'commits do not look for conflicts', engine: off('conflict-check') }

faultsOf(
  optimisticPessimistic,
  {
    'optimistic: transactions on one entity are aborted at their commit, where locks make them wait': mislabelled(
      'optimistic',
      'pessimistic',
    ),
    'optimistic-groups: writers of different entities abort each other, since they share a group': mislabelled(
      'optimistic-groups',
      'optimistic',
    ),
    'pessimistic: transfers in both directions deadlock, and the lock timeout is not needed to end them': {
      fault: 'waits end before a deadlock is looked for',
      settings: { 'lock.timeoutMs': 1 },
    },
    'optimistic: a long transaction starves among short writes, where locks let it through': {
      fault: 'one writer, without conflicts',
      settings: { 'load.writersMax': 1 },
    },
    'pessimistic: the short writes wait for the long transaction instead': {
      fault: 'the long transaction reads one entity and takes no time',
      settings: { 'transaction.reads': 1, 'transaction.thinkMs': 0 },
    },
    'optimistic: no update is lost': noChecks,
    'optimistic-groups: no update is lost': noChecks,
    'pessimistic: no update is lost': noChecks,
    'abandoned: the next transaction waits until the failed one expires': mislabelled('abandoned', 'rolled-back'),
    'rolled-back: a rollback releases at once': mislabelled('rolled-back', 'abandoned'),
    'abandoned-optimistic: without locks there is nothing to release': mislabelled('abandoned-optimistic', 'abandoned'),
  },
  { settings: { 'load.writersMax': 8, 'load.seconds': 10 }, isDear: true },
)
