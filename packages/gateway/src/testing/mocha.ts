/**
 * For mocha's `--require`, or `require` in its configuration: one emulator for the run, and a project for each worker.
 *
 *   mocha --require @sixtables/gateway/mocha [--parallel]
 *
 * Mocha loads this module before the test files, and waits until the emulator runs, so a client that a test file makes at once finds
 * it. Workers of a parallel run load it too, and use the emulator of the process that started them.
 */
import { startShared } from './shared.ts'
import { resetProject, useWorkerProject } from './worker.ts'

const isWorker = process.env['MOCHA_WORKER_ID'] !== undefined
const shared = isWorker ? undefined : await startShared()
useWorkerProject()

/** Root hooks. In a parallel run each test file begins with an empty project; in one process all files share it. */
export const mochaHooks: { beforeAll(): Promise<void> } = {
  async beforeAll() {
    await resetProject()
  },
}

export async function mochaGlobalTeardown(): Promise<void> {
  await shared?.stop()
}
