/**
 * Where the labs are. The gateway does without them: `@sixtables/bench` is used if it is installed beside the gateway, or in the folder
 * in which the server runs, and runs in threads of its own (lab-task.ts).
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The command that makes the labs available. */
export const installCommand = 'npm install --save-dev @sixtables/bench'

/** @returns the file of the worker thread; `undefined` = not installed */
export function findLabWorker(): string | undefined {
  for (const place of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(place).resolve('@sixtables/bench/worker')
    } catch {
      // Not there, or of a version without a worker.
    }
  }
  return undefined
}
