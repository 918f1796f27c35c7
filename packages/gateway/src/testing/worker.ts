/**
 * A project for each test worker, in an emulator that all workers share.
 *
 *   worker 1 ─▶ project demo-worker-1 ─┐
 *   worker 2 ─▶ project demo-worker-2 ─┴─ one server, one store
 *
 * Projects need no creation, and a reset of one leaves the others alone, so workers never see each other's data.
 */

/** Variables with the number of a worker; workers that run at the same time have different numbers. */
const workerVariables = ['VITEST_POOL_ID', 'JEST_WORKER_ID', 'MOCHA_WORKER_ID']

/** The project of this worker, such as `demo-worker-1`; without a worker number, with the id of the process. */
export function workerProject(prefix = 'demo', env: NodeJS.ProcessEnv = process.env): string {
  const known = workerVariables.map((name) => env[name]).find((id) => id !== undefined && id !== '')
  return `${prefix}-worker-${known ?? `p${process.pid}`}`
}

/** Sets the worker's project for client libraries. @returns the project */
export function useWorkerProject(env: NodeJS.ProcessEnv = process.env): string {
  const project = workerProject('demo', env)
  env['DATASTORE_PROJECT_ID'] = project
  return project
}

/**
 * Deletes all data of a project in the emulator of DATASTORE_EMULATOR_HOST.
 *
 * @param project - default: that of DATASTORE_PROJECT_ID
 * @throws Error if there is no emulator, or it refuses
 */
export async function resetProject(project: string | undefined = process.env['DATASTORE_PROJECT_ID']): Promise<void> {
  const address = process.env['DATASTORE_EMULATOR_HOST']
  if (!address)
    throw new Error('DATASTORE_EMULATOR_HOST is not set: start an emulator in the global set-up of the tests')
  if (!project) throw new Error('DATASTORE_PROJECT_ID is not set: name the project to reset')
  const answer = await fetch(`http://${address}/reset?project=${encodeURIComponent(project)}`, { method: 'POST' })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the emulator at ${address} did not reset project ${project}: ${text.trim()}`)
}
