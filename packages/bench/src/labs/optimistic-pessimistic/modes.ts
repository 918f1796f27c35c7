/** Every workload under one concurrency mode, with more and more writers. */
import type { DatabaseSettings } from '@sixtables/engine'
import { sum } from '../../measure/sums.ts'
import type { ArmSession } from '../../session.ts'
import { write } from '../../sim/writers.ts'
import { counted, type Met, nothingMet, reporter, type Workload, workloads } from './workloads.ts'

export type Concurrency = DatabaseSettings['concurrency']

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

export async function underMode(session: ArmSession, concurrency: Concurrency): Promise<void> {
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
