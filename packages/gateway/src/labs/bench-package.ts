/**
 * The location of the labs. They are optional: `@sixtables/bench` is used if it is installed next to the gateway, or in the folder in which
 * the server runs, and runs in threads of its own (lab-task.ts).
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
export const installCommand = 'npm install --save-dev @sixtables/bench'

/** @returns the file of the worker thread; `undefined` = not installed */
export function findLabWorker(): string | undefined {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(place).resolve('@sixtables/bench/worker')
    } catch {
      // The package is missing, or of a version without a worker.
    }
  }
  return undefined
}
