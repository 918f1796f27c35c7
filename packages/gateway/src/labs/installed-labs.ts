/**
 * The labs as they are installed. They are optional: `@sixtables/bench` is used if it is beside the gateway, or in the folder in which the server
 * runs. Its labs run in threads of their own (lab-task.ts).
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { notFound } from '@sixtables/engine'
import type { Router } from '../protocols/router.ts'
import { type InstalledLabs, installCommand } from './lab-routes.ts'
import { startLabTask } from './lab-task.ts'

const folder = '/emulator/labs/files'
const names = ['judge.js', 'program.js']

export const judgeFile: string = `${folder}/judge.js`

/**
 * The files of the workers in which a page judges a learner's program: one has the judge and its store, and starts the other one for each process of
 * the program. Their policy lets a program's text be executed there, and lets it reach nothing.
 */
export function addJudgeFiles(router: Router): void {
  router.add('GET', `${folder}/{name}`, async ({ parameters: { name = '' } }) => {
    const labs = installedLabs()
    if (labs === undefined || !names.includes(name))
      throw notFound(`there is no file ${name} of the labs; they come with ${installCommand}`)
    return {
      file: {
        body: await readFile(join(labs.files, name)),
        contentType: 'text/javascript; charset=utf-8',
        headers: {
          'Cache-Control': 'no-cache',
          'Content-Security-Policy': "default-src 'none'; script-src 'self' blob:; worker-src 'self'",
          'Cross-Origin-Resource-Policy': 'same-origin',
        },
      },
    }
  })
}

export function installedLabs(): InstalledLabs | undefined {
  const file = findLabWorker()
  if (file === undefined) return undefined
  return { start: (task, onProgress) => startLabTask(file, task, onProgress), files: join(dirname(file), '../web') }
}

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
