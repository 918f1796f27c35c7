/**
 * The labs as they are installed. They are optional: `@sixtables/bench` is used if it is beside the gateway, or in the folder in which the server
 * runs. Its labs run in threads of their own.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { DatastoreError, invalidArgument, notFound } from '@sixtables/engine'
import type { Router } from '../protocols/router.ts'
import { type InstalledLabs, installCommand, type LabProgress, type LabTask, type OnLabProgress } from './lab-routes.ts'

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

interface Message {
  readonly progress?: LabProgress
  readonly answer?: unknown
  readonly refused?: string
}

/** Labs need half of it. A task that needs more crashes its own thread only. */
const heapMegabytesMax = 1024

/**
 * Starts a task in a thread of its own, so that the server answers calls meanwhile. Its messages are those of `@sixtables/bench/worker`.
 * cancel() terminates the thread, so that even an endless loop ends.
 */
function startLabTask(workerFile: string, task: unknown, onProgress?: OnLabProgress): LabTask {
  const worker = new Worker(workerFile, {
    workerData: task,
    // Some flags of this process are not allowed in a thread.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  })
  for (const stream of [worker.stdout, worker.stderr]) stream.resume()
  const done = new Promise<unknown>((resolve, reject) => {
    worker.on('message', ({ progress, answer, refused }: Message) => {
      if (progress !== undefined) onProgress?.(progress)
      else if (refused !== undefined) reject(invalidArgument(refused))
      else resolve(answer)
    })
    worker.on('error', (error) => reject(new DatastoreError('INTERNAL', `the lab broke off: ${error}`)))
    worker.on('exit', () => reject(new DatastoreError('CANCELLED', 'the lab was cancelled')))
  })
  // Nothing may await a cancelled task.
  done.catch(() => {})
  return {
    done,
    async cancel() {
      await worker.terminate()
    },
  }
}
