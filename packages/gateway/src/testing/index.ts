/** The exports for test suites, in addition to the emulator itself. */

export { type Hooks, startShared, type UseEmulatorOptions, useEmulator } from './shared.ts'
export { resetProject, useWorkerProject, workerProject } from './worker.ts'
