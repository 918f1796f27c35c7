/** Open-loop load over HTTP, in real time: operations at a fixed rate, without waiting for their outcomes. */
import type { Key } from '@sixtables/engine'
import type { Put } from './entities.ts'
import type { WireSession } from './wire.ts'

/** Longest pause between two bursts, so that the load is even at any rate. */
const burstMs = 20

/**
 * Sends puts, or lookups of keys, made by `next`.
 *
 * @param shareAt - the share of the full rate after a share of the time; both 0 to 1
 */
export async function openLoop(
  wire: WireSession,
  next: (n: number) => Promise<Put | Key> | Put | Key,
  shareAt: (share: number) => number = () => 1,
): Promise<void> {
  const { client, seconds, opsPerSecond } = wire
  const begun = client.nowMs()
  const running = new Set<Promise<void>>()
  let [sent, due, lastMs] = [0, 0, 0]
  for (;;) {
    const elapsed = client.nowMs() - begun
    if (elapsed >= seconds * 1000) break
    due += ((elapsed - lastMs) / 1000) * opsPerSecond * shareAt(elapsed / (seconds * 1000))
    lastMs = elapsed
    while (sent < due && running.size < runningMax) {
      const n = sent++
      const one = timed(wire, async () => {
        const operation = await next(n)
        if ('entity' in operation) await client.commit([operation])
        else await client.lookup(operation)
      }).finally(() => running.delete(one))
      running.add(one)
    }
    await client.sleep(burstMs)
  }
  await Promise.all(running)
}

/** Maximum number of calls without an answer; a server that is behind gets no more. */
const runningMax = 256

/** Runs one job and reports its duration or its failure to the session. */
export async function timed({ client, done, failed }: WireSession, job: () => Promise<void>): Promise<void> {
  const begun = client.nowMs()
  try {
    await job()
    done(client.nowMs() - begun)
  } catch (error) {
    failed(error)
  }
}
