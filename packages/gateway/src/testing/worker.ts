/**
 * One test worker's share of an emulator that all workers use: a project of its own.
 *
 *   worker 1 ─▶ project demo-worker-1 ─┐
 *   worker 2 ─▶ project demo-worker-2 ─┴─ one server, one store
 *
 * A project needs no creation, and a reset of one touches no other, so that workers never meet each other's data.
 */

/** Numbers of workers, as runners tell them: of those that run at the same time no two are the same. */
const workerVariables = ['VITEST_POOL_ID', 'JEST_WORKER_ID', 'MOCHA_WORKER_ID']

/** The project of this worker: `demo-worker-1` and so on; the process's own number where no runner tells one. */
export function workerProject(prefix = 'demo', env: NodeJS.ProcessEnv = process.env): string {
  const known = workerVariables.map((name) => env[name]).find((id) => id !== undefined && id !== '')
  return `${prefix}-worker-${known ?? `p${process.pid}`}`
}

/** Makes the worker's project the one that client libraries find. @returns the project */
export function useWorkerProject(env: NodeJS.ProcessEnv = process.env): string {
  const project = workerProject('demo', env)
  env['DATASTORE_PROJECT_ID'] = project
  return project
}

/**
 * Deletes what a project holds in the emulator that DATASTORE_EMULATOR_HOST names.
 *
 * @param project - default: that of DATASTORE_PROJECT_ID
 * @throws Error when there is no emulator, or it refuses
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
