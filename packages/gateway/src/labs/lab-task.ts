/**
 * One task of the labs in a thread of its own, so that calls are served beside it; the messages are those of `@sixtables/bench/worker`.
 *
 * T1  After cancel() nothing of the task runs any more, whatever it does.                       test/contract/labs.test.ts
 */
import { Worker } from 'node:worker_threads'
import { DatastoreError, invalidArgument } from '@sixtables/engine'

export interface LabProgress {
  readonly arm: string
  /** Share of the arm that is done, 0 to 1. */
  readonly share: number
}

/** Told of a task while it runs. */
export interface LabListener {
  onProgress(progress: LabProgress): void
  /** The program of a learner has written this. */
  onOutput(text: string): void
}

export interface LabTask {
  /** @throws INVALID_ARGUMENT for a task that makes no sense; CANCELLED; INTERNAL for a thread that broke down */
  readonly done: Promise<unknown>
  cancel(): Promise<void>
}

interface Message {
  readonly progress?: LabProgress
  readonly answer?: unknown
  readonly refused?: string
}

/** Labs need half of it. A program of a learner that needs more ends alone. */
const heapMegabytesMax = 1024

export function startLabTask(workerFile: string, task: unknown, listener?: LabListener): LabTask {
  const worker = new Worker(workerFile, {
    workerData: task,
    // Flags of this process may not be for a thread.
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytesMax },
  })
  for (const stream of [worker.stdout, worker.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => listener?.onOutput(text))
  }
  const done = new Promise<unknown>((resolve, reject) => {
    worker.on('message', ({ progress, answer, refused }: Message) => {
      if (progress !== undefined) listener?.onProgress(progress)
      else if (refused !== undefined) reject(invalidArgument(refused))
      else resolve(answer)
    })
    worker.on('error', (error) => reject(new DatastoreError('INTERNAL', `the lab broke off: ${error}`)))
    worker.on('exit', () => reject(new DatastoreError('CANCELLED', 'the lab was cancelled')))
  })
  // A cancelled task may have no reader left.
  done.catch(() => {})
  return {
    done,
    async cancel() {
      await worker.terminate()
    },
  }
}
