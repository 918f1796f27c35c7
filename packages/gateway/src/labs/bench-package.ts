/**
 * The location of the labs. They are optional: `@sixtables/bench` is used if it is installed next to the gateway, or in the folder in which
 * the server runs, and runs in threads of its own (lab-task.ts).
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ChallengesFolder, LabStarter } from './lab-routes.ts'
import { startLabTask } from './lab-task.ts'

/** @returns `undefined` = not installed */
export function installedLabs(): LabStarter | undefined {
  const file = findLabWorker()
  return file === undefined ? undefined : (task, listener) => startLabTask(file, task, listener)
}

export function challengesIn(path: string): ChallengesFolder {
  const folderOf = (challenge: string): string => join(path, challenge)
  return { path, folderOf, isBegun: (challenge) => existsSync(join(folderOf(challenge), 'solution.mjs')) }
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
