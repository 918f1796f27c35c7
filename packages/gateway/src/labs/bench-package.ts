/**
 * The location of the labs. They are optional: `@sixtables/bench` is used if it is installed next to the gateway, or in the folder in which
 * the server runs, and runs in threads of its own (lab-task.ts).
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { InstalledLabs } from './lab-routes.ts'
import { startLabTask } from './lab-task.ts'

/** @returns `undefined` = not installed */
export function installedLabs(): InstalledLabs | undefined {
  const file = findLabWorker()
  if (file === undefined) return undefined
  return { start: (task, onProgress) => startLabTask(file, task, onProgress), files: join(dirname(file), '../web') }
}

/** @returns the file of the worker thread */
function findLabWorker(): string | undefined {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(place).resolve('@sixtables/bench/worker')
    } catch {
      // The package is missing, or of a version without a worker.
    }
  }
  return undefined
}
