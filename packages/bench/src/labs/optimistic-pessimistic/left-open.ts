/**
 * A transaction that failed in its client, and what the next one on the same entity meets: the failed one was given back, or
 * left open.
 */
import { Histogram } from '../../measure/histogram.ts'
import type { ArmSession } from '../../session.ts'
import { type Client, succeeds } from '../../sim/client.ts'
import { timed } from '../../sim/open-loop.ts'
import type { WireSession } from '../../sim/wire.ts'
import { countUp } from '../../sim/writers.ts'
import type { Concurrency } from './workloads.ts'

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

export async function leftOpen(session: ArmSession, concurrency: Concurrency, isRolledBack: boolean): Promise<void> {
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
export async function leaveOpenOverWire(wire: WireSession, isRolledBack: boolean): Promise<void> {
  const { client, random, seconds } = wire
  const endMs = client.nowMs() + seconds * 1000
  while (client.nowMs() < endMs) {
    await timed(wire, async () => {
      await failThenAdd(client, `article-${random.integer(1_000_000)}`, isRolledBack)
    })
  }
}
