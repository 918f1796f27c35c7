/**
 * How long tests wait for what must happen: a server that starts, an answer, a connection that ends. Only a test that fails waits
 * to the end, so it is generous: the machine may have much else to do. It is shorter than the time limit of a test
 * (vitest.config.ts), so that a failure says what did not happen.
 */
import { vi } from 'vitest'

export const patienceMs = 120_000

/** Waits until the assertions of `check` hold; fails as they did last. */
export async function eventually(check: () => void | Promise<void>, intervalMs = 20): Promise<void> {
  await vi.waitFor(check, { timeout: patienceMs, interval: intervalMs })
}
