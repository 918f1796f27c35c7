/** Before each test file of vitest: the worker's own project, empty. */
import { resetProject, useWorkerProject } from './worker.ts'

await resetProject(useWorkerProject())
