/**
 * Transactions that meet, in the three concurrency modes of a database; and a failed transaction that is left open.
 *
 * Known: the three modes (Datastore documentation): optimistic checks at the commit, optimistic with entity groups checks whole
 * groups, pessimistic locks what is read. Best practices, API calls: roll back what failed.
 */
import { arm, defineLab, expectFigure, expectFigures, type Lab, type Named, ofArm, ofArms } from '../lab.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import type { WireSession } from '../sim/wire.ts'
import { writeOverWire } from '../sim/writers.ts'
import { leaveOpenOverWire, leftOpen } from './optimistic-pessimistic/left-open.ts'
import { type Concurrency, underMode } from './optimistic-pessimistic/modes.ts'
import { transfers } from './optimistic-pessimistic/workloads.ts'

const modes: readonly (Named & { readonly concurrency: Concurrency })[] = [
  { name: 'optimistic', about: 'a commit fails if a row that was read has changed', concurrency: 'optimistic' },
  {
    name: 'optimistic-groups',
    about: 'a commit fails if an entity group that was read has changed',
    concurrency: 'optimisticWithEntityGroups',
  },
  { name: 'pessimistic', about: 'a read locks the row, a writer waits for readers', concurrency: 'pessimistic' },
]

const counterAborts = 'counter: aborts'

const drive = (wire: WireSession): Promise<void> => writeOverWire(wire, 8, transfers.job({ reads: 10, thinkMs: 100 }))

const arms = [
  // A server has the mode that it was started with; none starts a server with the optimistic one.
  ...modes.map(({ name, about, concurrency }) =>
    arm(name, about, (session) => underMode(session, concurrency), concurrency === 'optimistic' ? undefined : drive),
  ),
  arm(
    'abandoned',
    'pessimistic; a failed transaction is left open',
    (session) => leftOpen(session, 'pessimistic', false),
    (wire) => leaveOpenOverWire(wire, false),
  ),
  arm(
    'rolled-back',
    'pessimistic; a failed transaction is rolled back',
    (session) => leftOpen(session, 'pessimistic', true),
    (wire) => leaveOpenOverWire(wire, true),
  ),
  arm('abandoned-optimistic', 'optimistic; a failed transaction is left open', (session) =>
    leftOpen(session, 'optimistic', false),
  ),
]

export const optimisticPessimistic: Lab = defineLab({
  name: 'optimistic-pessimistic',
  idea:
    'Optimistic modes let all clients read, and check at the commit: the second one is aborted after its work. The mode with ' +
    'entity groups checks whole groups. The pessimistic mode locks what is read: writers wait, two that wait for each other ' +
    'are a deadlock, and a transaction that is not ended keeps its locks until it expires.',
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf('log.waitMsMax', 'lock.timeoutMs', 'load.writersMax'),
    ...defaultsOf('transaction.reads', 'transaction.thinkMs', 'transaction.abandoned'),
    'load.seconds': 20,
  },
  arms,
  expectations: [
    expectFigures(
      'optimistic: transactions on one entity are aborted at their commit, where locks make them wait',
      ofArms(counterAborts, 'optimistic', 'pessimistic'),
      (optimistic, locked) => optimistic > 1 && locked < 0.2,
      '{} aborts per commit, {} with locks',
    ),
    expectFigures(
      'optimistic-groups: writers of different entities abort each other, since they share a group',
      ofArms('siblings: aborts', ...modes.map(({ name }) => name)),
      (byRow, byGroup, locked) => byGroup > 1 && byRow === 0 && locked === 0,
      `aborts per commit: ${modes.map(({ name }) => `${name} {}`).join(', ')}`,
    ),
    expectFigures(
      'pessimistic: transfers in both directions deadlock, and the lock timeout is not needed to end them',
      ofArm('pessimistic', 'transfers: deadlocks', 'transfers: waits that timed out'),
      (deadlocks, timeouts) => deadlocks > 30 && timeouts * 20 < deadlocks,
      '{} deadlocks, {} waits timed out',
    ),
    expectFigures(
      'optimistic: a long transaction starves among short writes, where locks let it through',
      ofArms('report: long transactions committed', 'optimistic', 'pessimistic'),
      (optimistic, locked) => locked > 5 && optimistic * 3 < locked,
      '{} committed, {} with locks',
    ),
    expectFigures(
      'pessimistic: the short writes wait for the long transaction instead',
      ofArms('report: short writes, p99', 'optimistic', 'pessimistic'),
      (optimistic, locked) => locked > 2 * optimistic,
      'p99 {} ms, {} ms with locks',
    ),
    ...modes.map(({ name }) => expectFigure(`${name}: no update is lost`, 'updates lost', 0)),
    expectFigure(
      'abandoned: the next transaction waits until the failed one expires',
      'next transaction, p50',
      (ms) => ms > 50_000,
    ),
    ...['rolled-back', 'abandoned-optimistic'].map((name) =>
      expectFigure(
        name === 'rolled-back'
          ? `${name}: a rollback releases at once`
          : `${name}: without locks there is nothing to release`,
        'next transaction, p50',
        (ms) => ms < 1000,
        name,
      ),
    ),
  ],
})
