/**
 * Global set-up of vitest: one emulator for the whole run.
 *
 *   test: { globalSetup: '@sixtables/gateway/vitest', setupFiles: '@sixtables/gateway/vitest-worker' }
 */
import { startShared } from './shared.ts'

export default async function setup(): Promise<() => Promise<void>> {
  const { stop } = await startShared()
  return stop
}
