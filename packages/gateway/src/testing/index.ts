/** The exports for test suites, in addition to the emulator itself. */

export { startShared } from './shared.ts'
export { type Hooks, type UseEmulatorOptions, useEmulator } from './use-emulator.ts'
export { resetProject, useWorkerProject, workerProject } from './worker.ts'
