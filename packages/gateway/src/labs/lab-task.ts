/**
 * One task of the labs in a thread of its own, so that the server answers calls meanwhile. Its messages are those of
 * `@sixtables/bench/worker`. cancel() terminates the thread, so that even an endless loop ends.
 */
import { Worker } from 'node:worker_threads'
import { DatastoreError, invalidArgument } from '@sixtables/engine'

export interface LabProgress {
  readonly arm: string
  /** The part of the arm that is done, 0 to 1. */
  readonly share: number
}

export type OnLabProgress = (progress: LabProgress) => void

export interface LabTask {
  /** @throws INVALID_ARGUMENT for an impossible task; CANCELLED; INTERNAL for a thread that crashed */
  readonly done: Promise<unknown>
  cancel(): Promise<void>
}

interface Message {
  readonly progress?: LabProgress
  readonly answer?: unknown
  readonly refused?: string
}

/** Labs need half of it. A task that needs more crashes its own thread only. */
const heapMegabytesMax = 1024

export function startLabTask(workerFile: string, task: unknown, onProgress?: OnLabProgress): LabTask {
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
