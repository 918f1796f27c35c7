/**
 * Transactions that meet, in the three concurrency modes of a database; and a failed transaction that is left open.
 *
 *   counter     all read and write one entity
 *   siblings    all in one entity group, each with an entity of its own
 *   transfers   each reads two accounts, in any order, and moves money from one to the other
 *   report      one long transaction reads entities one by one, while others write them
 */
import type { DatabaseSettings, Key } from '@sixtables/engine'
import { arm, defineLab, expected, type Lab, type Ways } from '../lab.ts'
import { Histogram } from '../measure/histogram.ts'
import { sum } from '../measure/sums.ts'
import type { ArmSession } from '../session.ts'
import { clientSettings, defaultsOf, serverSettings } from '../settings.ts'
import { type Client, hasCode, integerOf, succeeds } from '../sim/client.ts'
import { integer, upsert } from '../sim/entities.ts'
import { timed } from '../sim/open-loop.ts'
import type { WireSession } from '../sim/wire.ts'
import { countUp, inTransaction, type Job, write, writeOverWire } from '../sim/writers.ts'

type Concurrency = DatabaseSettings['concurrency']

/** Conflicts and errors of the writers of a run, by their own count. */
function nothingMet() {
  return {
    /** Jobs of each writer that were committed. */
    committed: new Map<number, number>(),
    aborts: 0,
    /** Those that name a deadlock in their message: one of two transactions that wait for each other, or a wait that took too long. */
    deadlocks: 0,
    lockTimeouts: 0,
    /** Attempts that were committed, of all writers but the {@link reporter}. */
    shortJobs: new Histogram(),
  }
}

type Met = ReturnType<typeof nothingMet>

interface Workload {
  readonly name: string
  /** Entities that are there before it begins. */
  prepare?(client: Client): Promise<void>
  job(options: { readonly reads: number; readonly thinkMs: number }): Job
  /** How far the stored entities are from what was committed: 0 if no update was lost. */
  lost?(client: Client, committed: number): Promise<number>
}

function counted(job: Job, met: Met): Job {
  return async (attempt) => {
    const begun = attempt.client.nowMs()
    try {
      await job(attempt)
      if (attempt.writer !== reporter) met.shortJobs.add(attempt.client.nowMs() - begun)
      met.committed.set(attempt.writer, (met.committed.get(attempt.writer) ?? 0) + 1)
    } catch (error) {
      if (hasCode(error, 'ABORTED')) {
        met.aborts++
        const words = error instanceof Error ? error.message : ''
        if (words.includes('deadlock over')) met.deadlocks++
        else if (words.includes('is locked by')) met.lockTimeouts++
      }
      throw error
    }
  }
}

const counterName = { kind: 'Counter', name: 'visits' }

const counter: Workload = {
  name: 'counter',
  job:
    () =>
    ({ client }) =>
      countUp(client, client.key(counterName)),
  async lost(client, committed) {
    return committed - integerOf(await client.lookup(client.key(counterName)), 'count')
  },
}

const siblings: Workload = {
  name: 'siblings',
  job:
    () =>
    ({ client, writer }) =>
      countUp(client, client.key({ kind: 'Forum', name: 'general' }, { kind: 'Post', name: `writer-${writer}` })),
}

const accounts = 4
const startBalance = 1000

const account = (client: Client, i: number): Key => client.key({ kind: 'Account', name: `${i}` })

const transfers: Workload = {
  name: 'transfers',
  async prepare(client) {
    for (let i = 0; i < accounts; i++) {
      await client.commit([upsert(account(client, i), { balance: integer(startBalance) })])
    }
  },
  job:
    () =>
    ({ client, random }) => {
      const from = random.integer(accounts)
      const to = (from + 1 + random.integer(accounts - 1)) % accounts
      return inTransaction(client, async (transaction) => {
        const [source, target] = [account(client, from), account(client, to)]
        const had = integerOf(await client.lookup(source, transaction), 'balance')
        const has = integerOf(await client.lookup(target, transaction), 'balance')
        return [upsert(source, { balance: integer(had - 1) }), upsert(target, { balance: integer(has + 1) })]
      })
    },
  async lost(client) {
    let sum = 0
    for (let i = 0; i < accounts; i++) sum += integerOf(await client.lookup(account(client, i)), 'balance')
    return Math.abs(sum - accounts * startBalance)
  },
}

/** Writer 0 is the long transaction; the others change what it reads, without transactions. */
const reporter = 0

const report: Workload = {
  name: 'report',
  job:
    ({ reads, thinkMs }) =>
    async ({ client, writer, random }) => {
      const order = (i: number): Key => client.key({ kind: 'Order', name: `${i}` })
      if (writer !== reporter) {
        const fields = { amount: integer(1 + random.integer(100)) }
        await client.commit([upsert(order(random.integer(reads)), fields)])
        return
      }
      await inTransaction(client, async (transaction) => {
        let sum = 0
        for (let i = 0; i < reads; i++) {
          sum += integerOf(await client.lookup(order(i), transaction), 'amount')
          await client.sleep(thinkMs)
        }
        return [upsert(client.key({ kind: 'Report', name: 'orders' }), { sum: integer(sum) })]
      })
    },
}

const workloads: readonly Workload[] = [counter, siblings, transfers, report]

/** Two clients at one entity: the first reads it and fails, the second adds to it until it has. */
async function failThenAdd(client: Client, name: string, isRolledBack: boolean) {
  const key = client.key({ kind: 'Stock', name })
  const failed = await client.begin()
  await client.lookup(key, failed)
  // Here the client finds that it cannot go on: the article is sold out.
  if (isRolledBack) await client.rollback(failed)
  const begun = client.nowMs()
  let aborts = 0
  while (!(await succeeds(() => countUp(client, key)))) aborts++
  return { ms: client.nowMs() - begun, aborts }
}

async function leftOpen(session: ArmSession, concurrency: Concurrency, isRolledBack: boolean): Promise<void> {
  const { record } = session
  const count = session.setting('transaction.abandoned')
  const store = await session.open({ simulate: true })
  store.engine.configure({ concurrency, lockTimeoutMs: session.setting('lock.timeoutMs') })
  const latency = new Histogram()
  const waits: number[] = []
  let aborts = 0
  await store.alone(async () => {
    for (let i = 0; i < count; i++) {
      // The failures come at any time, not one as the other ends.
      await store.sleep(session.random.next() * 1000)
      const took = await failThenAdd(session.client(store), `article-${i}`, isRolledBack)
      latency.add(took.ms)
      waits.push(took.ms / 1000)
      aborts += took.aborts
      session.progress((i + 1) / count)
    }
  })
  record.figure('next transaction, p50', latency.quantile(0.5), 'ms')
  record.figure('next transaction, p99', latency.quantile(0.99), 'ms')
  record.figure('aborts of the next transaction', aborts / count, 'per job')
  const x = { name: 'failed transaction', values: waits.map((_, i) => i + 1) }
  record.chart('until the next transaction is committed', 's', x, { next: waits })
}

/** The same against a server, as often as the time allows. */
async function leaveOpenOverWire(wire: WireSession, isRolledBack: boolean): Promise<void> {
  const { client, random, seconds } = wire
  const endMs = client.nowMs() + seconds * 1000
  while (client.nowMs() < endMs) {
    await timed(wire, async () => {
      await failThenAdd(client, `article-${random.integer(1_000_000)}`, isRolledBack)
    })
  }
}

/** The figures are those of so many writers: few enough that each can get through. */
const writersOfFigures = 8

type Run = Awaited<ReturnType<typeof runWith>>

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

async function runWith(session: ArmSession, concurrency: Concurrency, workload: Workload, writers: number) {
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
  arms: [
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
  ],
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
