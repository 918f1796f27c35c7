/** Vitest's `setupFiles`: an empty project of the worker before each test file. */
import { resetProject, useWorkerProject } from './worker.ts'

await resetProject(useWorkerProject())
