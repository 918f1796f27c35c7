/** Transactions that meet, in the three concurrency modes of a database; and a failed transaction that is left open. */
import { arm, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import type { WireSession } from '../sim/wire.ts'
import { write, writeOverWire } from '../sim/writers.ts'
import { leaveOpenOverWire, leftOpen } from './optimistic-pessimistic/left-open.ts'
import {
  type Concurrency,
  counted,
  type Met,
  nothingMet,
  reporter,
  transfers,
  type Workload,
  workloads,
} from './optimistic-pessimistic/workloads.ts'

/** The figures are those of so many writers: few enough that each can get through. */
const writersOfFigures = 8

interface Run {
  readonly workload: Workload
  readonly writers: number
  readonly met: Met
  readonly committed: number
  readonly p99Ms: number
  readonly lost: number
}

/** Every workload under one concurrency mode, with more and more writers. */
async function underMode(session: ArmSession, concurrency: Concurrency): Promise<void> {
  const { record } = session
  const seconds = session.setting('load.seconds')
  const most = Math.min(16, session.setting('load.writersMax'))
  const levels = [1, 2, 4, writersOfFigures, 16].filter((writers) => writers <= most)
  const shown = Math.min(writersOfFigures, most)
  const runs = workloads.flatMap((workload) => levels.map((writers) => [workload, writers] as const))
  const { all } = await session.atEach(runs, (run) => runWith(session, concurrency, ...run))
  for (const run of all) if (run.writers === shown) recordRun(session, run)
  record.figure('updates lost', sum(all.map(({ lost }) => lost)))
  const x = { name: 'writers', values: levels }
  const lines = (value: (run: Run) => number): Record<string, number[]> =>
    Object.fromEntries(workloads.map((one) => [one.name, all.filter((run) => run.workload === one).map(value)]))
  const committed = lines((run) => run.committed / seconds)
  record.chart('committed', '/s', x, committed)
  record.chart('aborts', 'per commit', x, lines(abortsOf))
}

async function runWith(
  session: ArmSession,
  concurrency: Concurrency,
  workload: Workload,
  writers: number,
): Promise<Run> {
  const store = await session.open({ simulate: true })
  store.engine.configure({ concurrency, lockTimeoutMs: session.setting('lock.timeoutMs') })
  const client = session.client(store)
  await store.alone(async () => await workload.prepare?.(client))
  const met = nothingMet()
  const options = { reads: session.setting('transaction.reads'), thinkMs: session.setting('transaction.thinkMs') }
  const job = counted(workload.job(options), met)
  const { latency } = await write(session, store, { writers, seconds: session.setting('load.seconds'), job })
  const committed = sum(met.committed.values())
  const lost = await store.alone(async () => (await workload.lost?.(client, committed)) ?? 0)
  return { workload, writers, met, committed, p99Ms: latency.quantile(0.99), lost }
}

function abortsOf({ met, committed }: Run): number {
  return met.aborts / Math.max(1, committed)
}

function recordRun(session: ArmSession, run: Run): void {
  const { record } = session
  const { met, committed, p99Ms, workload } = run
  const { name } = workload
  record.figure(`${name}: committed`, committed / session.setting('load.seconds'), '/s')
  record.figure(`${name}: aborts`, abortsOf(run), 'per commit')
  record.figure(`${name}: p99`, p99Ms, 'ms')
  if (name === 'transfers') {
    record.figure(`${name}: deadlocks`, met.deadlocks)
    record.figure(`${name}: waits that timed out`, met.lockTimeouts)
  }
  if (name === 'report') {
    record.figure(`${name}: long transactions committed`, met.committed.get(reporter) ?? 0)
    record.figure(`${name}: short writes, p99`, met.shortJobs.quantile(0.99), 'ms')
    record.figure(`${name}: waits that timed out`, met.lockTimeouts)
  }
}

const modes: Ways<{ readonly concurrency: Concurrency }> = {
  optimistic: { about: 'a commit fails if a row that was read has changed', concurrency: 'optimistic' },
  'optimistic-groups': {
    about: 'a commit fails if an entity group that was read has changed',
    concurrency: 'optimisticWithEntityGroups',
  },
  pessimistic: { about: 'a read locks the row, a writer waits for readers', concurrency: 'pessimistic' },
}

const drive = (wire: WireSession): Promise<void> => writeOverWire(wire, 8, transfers.job({ reads: 10, thinkMs: 100 }))

const arms = [
  // A server has the mode that it was started with; none starts a server with the optimistic one.
  ...Object.entries(modes).map(([name, { about, concurrency }]) =>
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
    expected('optimistic: transactions on one entity are aborted at their commit, where locks make them wait')
      .across('counter: aborts', 'optimistic', 'pessimistic')
      .holds((optimistic, locked) => optimistic > 1 && locked < 0.2, '{} aborts per commit, {} with locks'),
    expected('optimistic-groups: writers of different entities abort each other, since they share a group')
      .across('siblings: aborts', ...Object.keys(modes))
      .holds(
        (byRow, byGroup, locked) => byGroup > 1 && byRow === 0 && locked === 0,
        'aborts per commit: optimistic {}, optimistic-groups {}, pessimistic {}',
      ),
    expected('pessimistic: transfers in both directions deadlock, and the lock timeout is not needed to end them')
      .of('pessimistic', 'transfers: deadlocks', 'transfers: waits that timed out')
      .holds((deadlocks, timeouts) => deadlocks > 30 && timeouts * 20 < deadlocks, '{} deadlocks, {} waits timed out'),
    expected('optimistic: a long transaction starves among short writes, where locks let it through')
      .across('report: long transactions committed', 'optimistic', 'pessimistic')
      .holds((optimistic, locked) => locked > 5 && optimistic * 3 < locked, '{} committed, {} with locks'),
    expected('pessimistic: the short writes wait for the long transaction instead')
      .across('report: short writes, p99', 'optimistic', 'pessimistic')
      .holds((optimistic, locked) => locked > 2 * optimistic, 'p99 {} ms, {} ms with locks'),
    ...Object.keys(modes).map((name) => expected(`${name}: no update is lost`).figure('updates lost').is(0)),
    expected('abandoned: the next transaction waits until the failed one expires')
      .figure('next transaction, p50')
      .above(50_000),
    expected('rolled-back: a rollback releases at once').figure('next transaction, p50').below(1000),
    expected('abandoned-optimistic: without locks there is nothing to release')
      .figure('next transaction, p50')
      .below(1000),
  ],
})
