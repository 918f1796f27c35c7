/** Every workload under one concurrency mode, with more and more writers. */
import type { DatabaseSettings } from '@sixtables/engine'
import type { Line } from '../../measure/recorder.ts'
import type { ArmSession } from '../../session.ts'
import { write } from '../../sim/writers.ts'
import { counted, type Met, nothingMet, optionsOf, reporter, type Workload, workloads } from './workloads.ts'

export type Concurrency = DatabaseSettings['concurrency']

/** The figures are those of so many writers: few enough that each can get through. */
const writersOfFigures = 8

interface Run {
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
  const committed: Line[] = []
  const aborts: Line[] = []
  let lost = 0
  for (const [i, workload] of workloads.entries()) {
    const runs = new Map<number, Run>()
    for (const writers of levels) runs.set(writers, await runWith(session, { concurrency, workload, writers }))
    const all = [...runs.values()]
    committed.push({ name: workload.name, values: all.map((run) => run.committed / seconds) })
    aborts.push({ name: workload.name, values: all.map(abortsOf) })
    lost += all.reduce((sum, run) => sum + run.lost, 0)
    const run = runs.get(shown)
    if (run !== undefined) recordRun(session, workload, run)
    session.progress((i + 1) / workloads.length)
  }
  record.figure('updates lost', lost, '')
  const x = { name: 'writers', values: levels }
  record.chart({ title: 'committed', unit: '/s', x, lines: committed })
  record.chart({ title: 'aborts', unit: 'per commit', x, lines: aborts })
}

async function runWith(
  session: ArmSession,
  options: { readonly concurrency: Concurrency; readonly workload: Workload; readonly writers: number },
): Promise<Run> {
  const { concurrency, workload, writers } = options
  const store = await session.open({ simulate: true })
  store.engine.configure({ concurrency, lockTimeoutMs: session.setting('lock.timeoutMs') })
  const client = session.client(store)
  await store.alone(async () => await workload.prepare?.(client))
  const met = nothingMet()
  const job = counted(workload.job(optionsOf(session)), met)
  const { latency } = await write(session, store, { writers, seconds: session.setting('load.seconds'), job })
  const committed = [...met.committed.values()].reduce((sum, count) => sum + count, 0)
  const lost = await store.alone(async () => (await workload.lost?.(client, committed)) ?? 0)
  await session.closeStore(store)
  return { met, committed, p99Ms: latency.quantile(0.99), lost }
}

function abortsOf({ met, committed }: Run): number {
  return met.aborts / Math.max(1, committed)
}

function recordRun(session: ArmSession, { name }: Workload, run: Run): void {
  const { record } = session
  const { met, committed, p99Ms } = run
  record.figure(`${name}: committed`, committed / session.setting('load.seconds'), '/s')
  record.figure(`${name}: aborts`, abortsOf(run), 'per commit')
  record.figure(`${name}: p99`, p99Ms, 'ms')
  if (name === 'transfers') {
    record.figure(`${name}: deadlocks`, met.deadlocks, '')
    record.figure(`${name}: waits that timed out`, met.lockTimeouts, '')
  }
  if (name === 'report') {
    record.figure(`${name}: long transactions committed`, met.committed.get(reporter) ?? 0, '')
    record.figure(`${name}: short writes, p99`, met.shortJobs.quantile(0.99), 'ms')
    record.figure(`${name}: waits that timed out`, met.lockTimeouts, '')
  }
}
