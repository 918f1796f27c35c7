/**
 * Transactions that meet, in the three concurrency modes of a database; and a failed transaction that is left open.
 *
 * Known: the three modes (Datastore documentation): optimistic checks at the commit, optimistic with entity groups checks whole
 * groups, pessimistic locks what is read. Best practices, API calls: roll back what failed.
 */
import { type Arm, expectFigure, expectFigures, type Lab, ofArm, ofArms } from '../lab.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import { writeOverWire } from '../sim/writers.ts'
import { leaveOpenOverWire, leftOpen } from './optimistic-pessimistic/left-open.ts'
import { type Concurrency, underMode } from './optimistic-pessimistic/modes.ts'
import { transfer } from './optimistic-pessimistic/workloads.ts'

const modes: readonly { readonly name: string; readonly about: string; readonly concurrency: Concurrency }[] = [
  { name: 'optimistic', about: 'a commit fails if a row that was read has changed', concurrency: 'optimistic' },
  {
    name: 'optimistic-groups',
    about: 'a commit fails if an entity group that was read has changed',
    concurrency: 'optimisticWithEntityGroups',
  },
  { name: 'pessimistic', about: 'a read locks the row, a writer waits for readers', concurrency: 'pessimistic' },
]

const counterAborts = 'counter: aborts'

const modeArms: readonly Arm[] = modes.map(({ name, about, concurrency }) => ({
  name,
  about,
  run: (session) => underMode(session, concurrency),
  // A server has the mode that it was started with; none starts a server with the optimistic one.
  ...(concurrency === 'optimistic'
    ? {}
    : { drive: (wire) => writeOverWire(wire, 8, transfer.job({ reads: 10, thinkMs: 100 })) }),
}))

const openArms: readonly Arm[] = [
  {
    name: 'abandoned',
    about: 'pessimistic; a failed transaction is left open',
    run: (session) => leftOpen(session, 'pessimistic', false),
    drive: (wire) => leaveOpenOverWire(wire, false),
  },
  {
    name: 'rolled-back',
    about: 'pessimistic; a failed transaction is rolled back',
    run: (session) => leftOpen(session, 'pessimistic', true),
    drive: (wire) => leaveOpenOverWire(wire, true),
  },
  {
    name: 'abandoned-optimistic',
    about: 'optimistic; a failed transaction is left open',
    run: (session) => leftOpen(session, 'optimistic', false),
  },
]

export const optimisticPessimistic: Lab = {
  name: 'optimistic-pessimistic',
  title: 'transactions that meet',
  question:
    'Transactions of several clients read and write the same entities. What does each concurrency mode do when they meet, and ' +
    'what does a transaction cost that failed and was not rolled back?',
  predict:
    'Eight writers add to one counter; eight writers change their own entities of one group; money moves between four accounts ' +
    'in both directions; one transaction reads ten entities for a second while others write them. In which mode is each of ' +
    'these aborted, and in which does it wait?',
  idea:
    'Optimistic modes let all clients read, and check at the commit: the second one is aborted after its work. The mode with ' +
    'entity groups checks whole groups. The pessimistic mode locks what is read: writers wait, two that wait for each other ' +
    'are a deadlock, and a transaction that is not ended keeps its locks until it expires.',
  exercises: [
    {
      ask: '`--arm pessimistic --set lock.timeoutMs=500`: what do the short writes of `report` meet now, and what do the transfers?',
      answer:
        '83 waits time out in 20 s and end with ABORTED, 0.32 for each commit; before, every short write waited up to 2 s ' +
        'and none was aborted. Of the transfers 3 waits time out, beside 136 deadlocks: some that only queue for an account are ' +
        'now aborted as well, not only those that wait for each other.',
    },
    {
      ask: '`--arm optimistic --set transaction.thinkMs=0`: the long transaction does not pause any more. Does it get through?',
      answer:
        'No: none of its tries is committed in 20 s. Its ten reads and its turn at the log still take longer than the others leave its ten ' +
        'entities alone. With locks (`--arm pessimistic`) it commits 42 times.',
    },
    {
      ask: '`--set log.commitMs=0`: which failures come from the latency of the log, and which do not?',
      answer:
        'None of them comes from the log. Without its latency all is faster and aborts are rarer, but the counter still has ' +
        'aborts under both optimistic modes, transfers still deadlock, and the long transaction still starves.',
    },
  ],
  today:
    'Firestore in Datastore mode uses pessimistic locks by default, and optimistic concurrency can be chosen for a database; ' +
    'some databases that were upgraded from Datastore keep optimistic concurrency with entity groups. The failures of each ' +
    'mode remain. The log of 150 ms, which makes a group slow in all three, does not: groups have no such limit any more.',
  sources: [
    'The three modes, and which databases have them: the reference of the Firestore Admin API, concurrency mode.',
    'Roll back a transaction that failed: best practices, API calls.',
    'A transaction expires after 60 seconds without use: the documentation of Datastore mode, quotas and limits.',
    "A lock is waited for 2 s: measured with Google's Firestore emulator. That deadlocks are found at once, and that the " +
      'youngest transaction gives way: ours.',
  ],
  settings: {
    ...serverSettings,
    ...clientSettings,
    ...defaultsOf(
      'log.waitMsMax',
      'lock.timeoutMs',
      'load.writersMax',
      'transaction.reads',
      'transaction.thinkMs',
      'transaction.abandoned',
    ),
    'load.seconds': 20,
  },
  arms: [...modeArms, ...openArms],
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
    ...modes.map(({ name }) => expectFigure(`${name}: no update is lost`, name, 'updates lost', 0)),
    expectFigure(
      'abandoned: the next transaction waits until the failed one expires',
      'abandoned',
      'next transaction, p50',
      (ms) => ms > 50_000,
    ),
    ...['rolled-back', 'abandoned-optimistic'].map((name) =>
      expectFigure(
        name === 'rolled-back'
          ? `${name}: a rollback releases at once`
          : `${name}: without locks there is nothing to release`,
        name,
        'next transaction, p50',
        (ms) => ms < 1000,
      ),
    ),
  ],
}
