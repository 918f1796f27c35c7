/** Open-loop load over the wire, in real time: operations at a fixed rate, without waiting for their outcomes. */
import type { Key } from '@sixtables/engine'
import type { Put } from './client.ts'
import type { WireSession } from './wire.ts'

/** The longest pause between two bursts, so that the load is even at any rate. */
const burstMs = 20

/**
 * Puts, or lookups of keys; the n-th of either by `next`.
 *
 * @param shareAt - the share of the full rate when a share of the time is over; both from 0 to 1
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
        if ('fields' in operation) await client.commit([operation])
        else await client.lookup(operation)
      }).finally(() => running.delete(one))
      running.add(one)
    }
    await client.sleep(burstMs)
  }
  await Promise.all(running)
}

/** Calls that may wait for their answer at once; a server that is behind is not sent more. */
const runningMax = 256

/** Runs one job and tells the session how it went. */
export async function timed({ client, done, failed }: WireSession, job: () => Promise<void>): Promise<void> {
  const begun = client.nowMs()
  try {
    await job()
    done(client.nowMs() - begun)
  } catch (error) {
    failed(error)
  }
}
