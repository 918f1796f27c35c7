/**
 * For mocha's `--require`, or `require` in its configuration: one emulator for the run, and a project for each worker.
 *
 *   mocha --require @sixtables/gateway/mocha [--parallel]
 *
 * The emulator is started while mocha reads this module, which is before it reads test files: a client that they make at once
 * finds it. Workers of a parallel run read it too, and find the one of the process that started them.
 */
import { startShared } from './shared.ts'
import { resetProject, useWorkerProject } from './worker.ts'

const isWorker = process.env['MOCHA_WORKER_ID'] !== undefined
const shared = isWorker ? undefined : await startShared()
useWorkerProject()

/** Root hooks. Each test file of a parallel run begins with an empty project; in one process all files share it. */
export const mochaHooks: { beforeAll(): Promise<void> } = {
  async beforeAll() {
    await resetProject()
  },
}

export async function mochaGlobalTeardown(): Promise<void> {
  await shared?.stop()
}
