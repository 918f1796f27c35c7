/**
 * A worker thread that runs one task of the labs and ends, for a program that does other work at the same time, such as the
 * console of the emulator. Terminating the thread cancels the task.
 *
 *   new Worker(this file, { workerData: task })  ──▶  {progress} … {progress}  ──▶  {answer} or {refused}
 *
 * Tasks and answers are plain JSON, so that both sides may be of slightly different versions.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { doTask, type PlainTask, type Progress, refusalOf, seldom } from './tasks.ts'

export type WorkerMessage =
  | { readonly progress: Progress }
  | { readonly answer: unknown }
  /** The task is impossible, with the reason. */
  | { readonly refused: string }

function post(message: WorkerMessage): void {
  parentPort?.postMessage(message)
}

try {
  post({
    answer: await doTask(
      workerData as PlainTask,
      seldom((progress) => post({ progress })),
    ),
  })
} catch (error) {
  const refused = refusalOf(error)
  if (refused === undefined) throw error
  post({ refused })
}
